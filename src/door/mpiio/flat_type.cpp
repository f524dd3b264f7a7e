#include "door/mpiio/flat_type.hpp"

#include <cstddef>
#include <numeric>
#include <span>

namespace forebay::mpiio {
namespace {

using Numbers = std::span<const std::int64_t>;

// What a type was made of. Small and large counts alike: the numbers in the order in which the constructor
// takes them (counts, lengths, then displacements), for the two kinds of arrays as array_numbers() has them.
struct Contents {
  int combiner = MPI_COMBINER_NAMED;
  std::vector<std::int64_t> numbers{};
  std::vector<MPI_Datatype> types{};
};

bool predefined(int combiner) {
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
         combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

#if MPI_VERSION >= 4
// The constructors of arrays take some of their numbers as counts and others as plain integers.
std::vector<std::int64_t> array_numbers(int combiner, std::span<const int> integers,
                                        std::span<const MPI_Count> counts) {
  const auto before = combiner == MPI_COMBINER_SUBARRAY ? 1 : 3;
  std::vector<std::int64_t> all(integers.begin(), integers.begin() + before);
  all.insert(all.end(), counts.begin(), counts.end());
  all.insert(all.end(), integers.begin() + before, integers.end());
  return all;
}

Contents contents_of(MPI_Datatype type) {
  Contents result;
  MPI_Count integers = 0;
  MPI_Count addresses = 0;
  MPI_Count counts = 0;
  MPI_Count types = 0;
  PMPI_Type_get_envelope_c(type, &integers, &addresses, &counts, &types, &result.combiner);
  if (predefined(result.combiner)) return result;
  std::vector<int> i(static_cast<std::size_t>(integers));
  std::vector<MPI_Aint> a(static_cast<std::size_t>(addresses));
  std::vector<MPI_Count> c(static_cast<std::size_t>(counts));
  result.types.resize(static_cast<std::size_t>(types));
  PMPI_Type_get_contents_c(type, integers, addresses, counts, types, i.data(), a.data(), c.data(),
                           result.types.data());
  const bool array = result.combiner == MPI_COMBINER_SUBARRAY || result.combiner == MPI_COMBINER_DARRAY;
  if (array && !c.empty()) {
    result.numbers = array_numbers(result.combiner, i, c);
    return result;
  }
  result.numbers.assign(i.begin(), i.end());
  result.numbers.insert(result.numbers.end(), a.begin(), a.end());
  result.numbers.insert(result.numbers.end(), c.begin(), c.end());
  return result;
}
#else
Contents contents_of(MPI_Datatype type) {
  Contents result;
  int integers = 0;
  int addresses = 0;
  int types = 0;
  PMPI_Type_get_envelope(type, &integers, &addresses, &types, &result.combiner);
  if (predefined(result.combiner)) return result;
  std::vector<int> i(static_cast<std::size_t>(integers));
  std::vector<MPI_Aint> a(static_cast<std::size_t>(addresses));
  result.types.resize(static_cast<std::size_t>(types));
  PMPI_Type_get_contents(type, integers, addresses, types, i.data(), a.data(), result.types.data());
  result.numbers.assign(i.begin(), i.end());
  result.numbers.insert(result.numbers.end(), a.begin(), a.end());
  return result;
}
#endif

// get_contents gives handles of its own for types that were made, and the predefined ones as they are.
void release(Contents& contents) {
  for (auto& type : contents.types) {
    int integers = 0;
    int addresses = 0;
    int types = 0;
    int combiner = MPI_COMBINER_NAMED;
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    if (!predefined(combiner)) PMPI_Type_free(&type);
  }
}

void measure(MPI_Datatype type, FlatType& flat) {
  MPI_Count size = 0;
  PMPI_Type_size_x(type, &size);
  MPI_Count lower = 0;
  MPI_Count extent = 0;
  PMPI_Type_get_extent_x(type, &lower, &extent);
  flat.size = size;
  flat.extent = extent;
}

// Gathers runs; `full` once there are too many.
class Gatherer {
 public:
  void add(std::int64_t offset, std::int64_t length) {
    if (length == 0 || full_) return;
    if (!runs_.empty() && runs_.back().offset + runs_.back().length == offset) {
      runs_.back().length += length;
    } else if (runs_.size() == kMaxRuns) {
      full_ = true;
    } else {
      runs_.push_back({offset, length});
    }
  }
  // `count` elements in a row.
  void add(const FlatType& element, std::int64_t at, std::int64_t count) {
    if (count > 0 && element.contiguous(count)) {
      add(at + element.runs.front().offset, count * element.runs.front().length);
      return;
    }
    for (std::int64_t i = 0; i < count && !full_; ++i) {
      for (const auto& run : element.runs) add(at + i * element.extent + run.offset, run.length);
    }
  }
  [[nodiscard]] bool full() const { return full_; }
  std::vector<Run> take() { return std::move(runs_); }

 private:
  std::vector<Run> runs_;
  bool full_ = false;
};

// An array of which one process has some of the places in each dimension.
struct Array {
  std::vector<std::int64_t> sizes{};
  std::vector<std::vector<Run>> owned{};  // of each dimension, in places
  bool fortran = false;                   // the first dimension is the fastest
};

void gather(const Array& array, const FlatType& element, Gatherer& out) {
  const auto dims = array.sizes.size();
  // From slowest to fastest.
  const auto nth = [&](std::size_t i) { return array.fortran ? dims - 1 - i : i; };
  const auto visit = [&](const auto& self, std::size_t i, std::int64_t base) -> void {
    const auto dim = nth(i);
    base *= array.sizes[dim];
    for (const auto& run : array.owned[dim]) {
      if (out.full()) return;
      if (i + 1 == dims) {
        out.add(element, (base + run.offset) * element.extent, run.length);
        continue;
      }
      for (std::int64_t place = 0; place < run.length; ++place) self(self, i + 1, base + run.offset + place);
    }
  };
  visit(visit, 0, 0);
}

Array subarray(Numbers numbers) {
  const auto dims = static_cast<std::size_t>(numbers[0]);
  const auto sizes = numbers.subspan(1, dims);
  const auto parts = numbers.subspan(1 + dims, dims);
  const auto starts = numbers.subspan(1 + 2 * dims, dims);
  Array array{.sizes{sizes.begin(), sizes.end()}, .fortran = numbers[1 + 3 * dims] == MPI_ORDER_FORTRAN};
  for (std::size_t i = 0; i < dims; ++i) array.owned.push_back({{starts[i], parts[i]}});
  return array;
}

// The places of a dimension of `size` that process `mine` of `processes` has.
std::vector<Run> distributed(std::int64_t size, std::int64_t how, std::int64_t argument,
                             std::int64_t processes, std::int64_t mine) {
  if (how == MPI_DISTRIBUTE_NONE) return {{0, size}};
  std::int64_t block = argument;
  if (argument == MPI_DISTRIBUTE_DFLT_DARG)
    block = how == MPI_DISTRIBUTE_BLOCK ? (size + processes - 1) / processes : 1;
  std::vector<Run> runs;
  for (auto at = mine * block; at < size; at += block * processes) {
    runs.push_back({at, std::min(block, size - at)});
    if (how == MPI_DISTRIBUTE_BLOCK) break;
  }
  return runs;
}

Array distributed_array(Numbers numbers) {
  const auto dims = static_cast<std::size_t>(numbers[2]);
  const auto sizes = numbers.subspan(3, dims);
  const auto ways = numbers.subspan(3 + dims, dims);
  const auto arguments = numbers.subspan(3 + 2 * dims, dims);
  const auto grid = numbers.subspan(3 + 3 * dims, dims);
  Array array{.sizes{sizes.begin(), sizes.end()}, .fortran = numbers[3 + 4 * dims] == MPI_ORDER_FORTRAN};
  // Processes are numbered in C's order, whatever that of the array is.
  auto left = std::accumulate(grid.begin(), grid.end(), std::int64_t{1}, std::multiplies<>{});
  auto rank = numbers[1];
  for (std::size_t i = 0; i < dims; ++i) {
    left /= grid[i];
    array.owned.push_back(distributed(sizes[i], ways[i], arguments[i], grid[i], rank / left));
    rank %= left;
  }
  return array;
}

using Elements = std::span<const FlatType>;

void vector(Numbers n, std::int64_t stride, Elements elements, Gatherer& out) {
  for (std::int64_t i = 0; i < n[0]; ++i) out.add(elements[0], i * stride, n[1]);
}

// Blocks of `lengths[i]`, or all of `lengths[0]`, at `places[i] * unit`.
void blocks(Numbers lengths, Numbers places, std::int64_t unit, Elements elements, Gatherer& out) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    out.add(elements[elements.size() == 1 ? 0 : i], places[i] * unit, lengths[lengths.size() == 1 ? 0 : i]);
  }
}

// False for a kind that is not known.
bool build(int combiner, Numbers n, Elements elements, Gatherer& out) {
  const auto count = n.empty() ? 0 : static_cast<std::size_t>(n[0]);
  switch (combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      out.add(elements[0], 0, 1);
      return true;
    case MPI_COMBINER_CONTIGUOUS:
      out.add(elements[0], 0, n[0]);
      return true;
    case MPI_COMBINER_VECTOR:
      vector(n, n[2] * elements[0].extent, elements, out);
      return true;
    case MPI_COMBINER_HVECTOR:
      vector(n, n[2], elements, out);
      return true;
    case MPI_COMBINER_INDEXED:
      blocks(n.subspan(1, count), n.subspan(1 + count, count), elements[0].extent, elements, out);
      return true;
    case MPI_COMBINER_HINDEXED:
      blocks(n.subspan(1, count), n.subspan(1 + count, count), 1, elements, out);
      return true;
    case MPI_COMBINER_INDEXED_BLOCK:
      blocks(n.subspan(1, 1), n.subspan(2, count), elements[0].extent, elements, out);
      return true;
    case MPI_COMBINER_HINDEXED_BLOCK:
      blocks(n.subspan(1, 1), n.subspan(2, count), 1, elements, out);
      return true;
    case MPI_COMBINER_STRUCT:
      blocks(n.subspan(1, count), n.subspan(1 + count, count), 1, elements, out);
      return true;
    case MPI_COMBINER_SUBARRAY:
      gather(subarray(n), elements[0], out);
      return true;
    case MPI_COMBINER_DARRAY:
      gather(distributed_array(n), elements[0], out);
      return true;
    default:
      return false;
  }
}

FlatType flatten_predefined(MPI_Datatype type) {
  FlatType flat;
  measure(type, flat);
  if (type == MPI_SHORT_INT) {
    struct Pair {
      short value;
      int index;
    };
    flat.runs = {{0, sizeof(short)}, {offsetof(Pair, index), sizeof(int)}};
  } else if (flat.size != 0) {
    flat.runs = {{0, flat.size}};
  }
  return flat;
}

}  // namespace

bool FlatType::monotonic() const {
  if (size <= 0 || runs.empty() || runs.front().offset < 0 || extent <= 0) return false;
  for (std::size_t i = 1; i < runs.size(); ++i) {
    if (runs[i].offset < runs[i - 1].offset + runs[i - 1].length) return false;
  }
  // Nor may the next tile begin inside of this one.
  return runs.front().offset + extent >= runs.back().offset + runs.back().length;
}

std::optional<FlatType> flatten(MPI_Datatype type) {
  auto contents = contents_of(type);
  if (predefined(contents.combiner)) return flatten_predefined(type);
  std::vector<FlatType> elements;
  bool known = true;
  for (const auto& one : contents.types) {
    auto element = flatten(one);
    known = known && element.has_value();
    elements.push_back(element ? std::move(*element) : FlatType{});
  }
  Gatherer gatherer;
  known = known && build(contents.combiner, contents.numbers, elements, gatherer) && !gatherer.full();
  release(contents);
  if (!known) return std::nullopt;
  FlatType flat;
  measure(type, flat);
  flat.runs = gatherer.take();
  const auto bytes = std::accumulate(flat.runs.begin(), flat.runs.end(), std::int64_t{0},
                                     [](std::int64_t sum, const Run& run) { return sum + run.length; });
  if (bytes != flat.size) return std::nullopt;
  return flat;
}

}  // namespace forebay::mpiio
