#include "types.hpp"

#include <algorithm>
#include <vector>

namespace {

Type own(MPI_Datatype type) {
  MPI_Type_commit(&type);
  return {new MPI_Datatype(type), [](MPI_Datatype* held) {
            MPI_Type_free(held);
            delete held;
          }};
}

Type predefined(MPI_Datatype type) { return std::make_shared<MPI_Datatype>(type); }

// `count` blocks with their places, none upon another.
struct Blocks {
  std::vector<int> lengths;
  std::vector<int> places;
};

Blocks random_blocks(Dice& dice, bool ordered, int fixed_length) {
  Blocks blocks;
  const auto count = dice.pick(1, 4);
  int at = static_cast<int>(dice.pick(0, 2));
  for (std::int64_t i = 0; i < count; ++i) {
    const int length = fixed_length != 0 ? fixed_length : static_cast<int>(dice.pick(ordered ? 1 : 0, 3));
    blocks.lengths.push_back(length);
    blocks.places.push_back(at);
    at += length + static_cast<int>(dice.pick(0, 3));
  }
  if (!ordered && dice.chance(50)) {
    std::reverse(blocks.lengths.begin(), blocks.lengths.end());
    std::reverse(blocks.places.begin(), blocks.places.end());
  }
  return blocks;
}

std::vector<MPI_Aint> bytes(const std::vector<int>& places, MPI_Aint unit) {
  std::vector<MPI_Aint> all;
  for (const int place : places) all.push_back(place * unit);
  return all;
}

MPI_Datatype make_array(Dice& dice, MPI_Datatype element) {
  const int dims = static_cast<int>(dice.pick(1, 3));
  std::vector<int> sizes;
  std::vector<int> parts;
  std::vector<int> starts;
  for (int i = 0; i < dims; ++i) {
    sizes.push_back(static_cast<int>(dice.pick(1, 4)));
    parts.push_back(static_cast<int>(dice.pick(1, sizes.back())));
    starts.push_back(static_cast<int>(dice.pick(0, sizes.back() - parts.back())));
  }
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(dims, sizes.data(), parts.data(), starts.data(),
                           dice.chance(50) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, element, &made);
  return made;
}

MPI_Datatype make_distributed(Dice& dice, MPI_Datatype element) {
  const int dims = static_cast<int>(dice.pick(1, 2));
  std::vector<int> sizes;
  std::vector<int> ways;
  std::vector<int> arguments;
  std::vector<int> grid;
  int processes = 1;
  for (int i = 0; i < dims; ++i) {
    grid.push_back(static_cast<int>(dice.pick(1, 2)));
    processes *= grid.back();
    sizes.push_back(static_cast<int>(dice.pick(2, 6)));
    const bool whole = grid.back() == 1 && dice.chance(30);
    ways.push_back(whole             ? MPI_DISTRIBUTE_NONE
                   : dice.chance(50) ? MPI_DISTRIBUTE_BLOCK
                                     : MPI_DISTRIBUTE_CYCLIC);
    const bool cyclic = ways.back() == MPI_DISTRIBUTE_CYCLIC && dice.chance(50);
    arguments.push_back(cyclic ? static_cast<int>(dice.pick(1, 3)) : MPI_DISTRIBUTE_DFLT_DARG);
  }
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_create_darray(processes, static_cast<int>(dice.pick(0, processes - 1)), dims, sizes.data(),
                         ways.data(), arguments.data(), grid.data(),
                         dice.chance(50) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, element, &made);
  return made;
}

MPI_Datatype make(Dice& dice, const Type& element, bool ordered) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  const auto unit = extent_of(element);
  const auto kind = dice.pick(0, 10);
  const int fixed = kind == 5 || kind == 6 ? static_cast<int>(dice.pick(1, 3)) : 0;
  auto blocks = random_blocks(dice, ordered, fixed);
  const int count = static_cast<int>(blocks.lengths.size());
  switch (kind) {
    case 0:
      MPI_Type_contiguous(static_cast<int>(dice.pick(1, 4)), *element, &made);
      return made;
    case 1: {
      const int length = static_cast<int>(dice.pick(1, 3));
      MPI_Type_vector(static_cast<int>(dice.pick(1, 4)), length, length + static_cast<int>(dice.pick(0, 3)),
                      *element, &made);
      return made;
    }
    case 2: {
      const int length = static_cast<int>(dice.pick(1, 3));
      MPI_Type_create_hvector(static_cast<int>(dice.pick(1, 4)), length, (length + dice.pick(0, 3)) * unit,
                              *element, &made);
      return made;
    }
    case 3:
      MPI_Type_indexed(count, blocks.lengths.data(), blocks.places.data(), *element, &made);
      return made;
    case 4:
      MPI_Type_create_hindexed(count, blocks.lengths.data(), bytes(blocks.places, unit).data(), *element,
                               &made);
      return made;
    case 5:
      MPI_Type_create_indexed_block(count, fixed, blocks.places.data(), *element, &made);
      return made;
    case 6:
      MPI_Type_create_hindexed_block(count, fixed, bytes(blocks.places, unit).data(), *element, &made);
      return made;
    case 7: {
      const std::vector<MPI_Datatype> all(blocks.lengths.size(), *element);
      MPI_Type_create_struct(count, blocks.lengths.data(), bytes(blocks.places, unit).data(), all.data(),
                             &made);
      return made;
    }
    case 8:
      return make_array(dice, *element);
    case 9:
      return make_distributed(dice, *element);
    default:
      MPI_Type_dup(*element, &made);
      return made;
  }
}

}  // namespace

MPI_Aint extent_of(const Type& type) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  MPI_Type_get_extent(*type, &lower, &extent);
  return lower + extent;
}

MPI_Aint size_of(const Type& type) {
  int size = 0;
  MPI_Type_size(*type, &size);
  return size;
}

Type resized(const Type& type, MPI_Aint extent) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(*type, 0, extent, &made);
  return own(made);
}

Type by_address(void* place, int count, const Type& type) {
  MPI_Aint address = 0;
  MPI_Get_address(place, &address);
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed(1, &count, &address, *type, &made);
  return own(made);
}

Type random_etype(Dice& dice) {
  switch (dice.pick(0, 6)) {
    case 0:
      return predefined(MPI_INT);
    case 1:
      return predefined(MPI_DOUBLE);
    case 2:
      return predefined(MPI_SHORT);
    case 3: {
      MPI_Datatype made = MPI_DATATYPE_NULL;
      MPI_Type_contiguous(static_cast<int>(dice.pick(2, 5)), MPI_BYTE, &made);
      return own(made);
    }
    case 4:  // with a gap behind it
      return resized(predefined(MPI_SHORT), dice.pick(3, 6));
    default:
      return predefined(MPI_BYTE);
  }
}

Type random_type(Dice& dice, const Type& element, int depth, bool ordered) {
  auto inner = depth > 0 && dice.chance(60) ? random_type(dice, element, depth - 1, ordered) : element;
  // What comes after lies behind it in any case.
  if (inner != element) inner = resized(inner, extent_of(inner) + dice.pick(0, 2) * extent_of(element));
  auto made = own(make(dice, inner, ordered));
  if (size_of(made) == 0) return inner;
  return dice.chance(30) ? resized(made, extent_of(made) + dice.pick(0, 3) * extent_of(element)) : made;
}
