// What Transfer moves is compared with what HDF5 itself moves for the same call, over random datasets, types
// and selections. A failure prints its seed.
#include "door/hdf5/transfer.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <filesystem>
#include <random>

#include "base/format.hpp"
#include "door/hdf5/test_dataset.hpp"

namespace forebay::hdf5 {
namespace {

using Random = std::mt19937;

std::uint64_t pick(Random& random, std::uint64_t low, std::uint64_t high) {
  return std::uniform_int_distribution<std::uint64_t>(low, high)(random);
}
bool chance(Random& random, unsigned percent) { return pick(random, 1, 100) <= percent; }

struct Types {
  std::string name;
  hid_t file;
  hid_t memory;
};
const std::vector<Types>& types() {
  static const auto* const all = [] {
    const auto both = [](std::string name, hid_t type) { return Types{std::move(name), type, type}; };
    const hid_t record =
        compound({{"a", H5T_STD_I32LE}, {"b", H5T_IEEE_F64LE}, {"c", text(5, H5T_STR_NULLPAD)}});
    const hid_t inner = compound({{"x", H5T_STD_U8LE}, {"y", H5T_STD_I16BE}});
    const hid_t nested = compound({{"in", inner}, {"v", array(H5T_STD_I16LE, 3)}, {"z", H5T_STD_I64LE}}, 4);
    return new std::vector<Types>{
        both("u8", H5T_STD_U8LE),
        both("i32", H5T_STD_I32LE),
        both("f64be", H5T_IEEE_F64BE),
        both("record", record),
        both("text", text(7, H5T_STR_NULLTERM)),
        both("array", array(H5T_IEEE_F32LE, 4)),
        both("enum", colours(H5T_STD_I16LE, 3)),
        both("opaque", opaque(11)),
        both("bits", H5T_STD_B16LE),
        both("big", array(H5T_STD_I32LE, 3000)),
        {"i32 from i64be", H5T_STD_I32LE, H5T_STD_I64BE},
        {"i64 from u8", H5T_STD_I64LE, H5T_STD_U8LE},
        {"f32 from i16", H5T_IEEE_F32BE, H5T_STD_I16LE},
        {"f64 from f32", H5T_IEEE_F64LE, H5T_IEEE_F32LE},
        {"i16 from f64", H5T_STD_I16BE, H5T_IEEE_F64LE},
        {"text 5 from 9", text(5, H5T_STR_NULLPAD), text(9, H5T_STR_SPACEPAD)},
        {"array i16 from i32", array(H5T_STD_I16LE, 3), array(H5T_STD_I32LE, 3)},
        {"enum i16 from i32", colours(H5T_STD_I16LE, 0), colours(H5T_STD_I32LE, 5)},
        {"bits 16 from 32", H5T_STD_B16LE, H5T_STD_B32LE},
        {"record from b", record, compound({{"b", H5T_IEEE_F64LE}})},
        {"record from c, a", record, compound({{"c", text(8, H5T_STR_NULLTERM)}, {"a", H5T_STD_I16BE}})},
        {"record from a, more", record, compound({{"more", H5T_STD_I64LE}, {"a", H5T_STD_I32LE}}, 3)},
        {"nested from z", nested, compound({{"z", H5T_STD_I32LE}})},
        {"nested from in.y", nested, compound({{"in", compound({{"y", H5T_STD_I16LE}})}})},
        {"nested from packed", nested,
         compound({{"in", inner}, {"v", array(H5T_STD_I16LE, 3)}, {"z", H5T_STD_I64LE}})},
    };
  }();
  return *all;
}

struct Shape {
  std::vector<hsize_t> dims;
  std::vector<hsize_t> chunk;  // empty: contiguous
  [[nodiscard]] int rank() const { return static_cast<int>(dims.size()); }
};
Shape random_shape(Random& random, std::size_t element) {
  Shape shape;
  const bool few = element > 1000;
  const bool many = element < 20 && chance(random, 4);
  const auto rank = chance(random, 5) ? 0 : pick(random, 1, few ? 2 : 4);
  const hsize_t widest[] = {0, 400, 40, 16, 8};
  const hsize_t wide[] = {0, 400000, 600, 70, 25};
  for (std::uint64_t d = 0; d < rank; ++d)
    shape.dims.push_back(few    ? pick(random, 1, 12)
                         : many ? pick(random, wide[rank] / 2, wide[rank])
                                : pick(random, 1, widest[rank]));
  if (rank == 0 || chance(random, 35)) return shape;
  for (const auto size : shape.dims) shape.chunk.push_back(chance(random, 30) ? size : pick(random, 1, size));
  return shape;
}

Hid make_space(const Shape& shape) {
  return Hid(shape.dims.empty() ? H5Screate(H5S_SCALAR)
                                : H5Screate_simple(shape.rank(), shape.dims.data(), nullptr));
}

void select_slab(Random& random, hid_t space, H5S_seloper_t how) {
  std::vector<hsize_t> dims(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
  H5Sget_simple_extent_dims(space, dims.data(), nullptr);
  std::vector<hsize_t> start, stride, count, block;
  for (const auto size : dims) {
    const auto from = pick(random, 0, size - 1);
    const auto wide = pick(random, 1, std::min<hsize_t>(size - from, size > 400 ? 900 : 4));
    const auto step = pick(random, wide, wide + 3);
    start.push_back(from);
    block.push_back(chance(random, 30) ? size - from : wide);
    stride.push_back(std::max<hsize_t>(step, block.back()));
    count.push_back(pick(random, 1, (size - from - block.back()) / stride.back() + 1));
  }
  H5Sselect_hyperslab(space, how, start.data(), stride.data(), count.data(), block.data());
}

void select_points(Random& random, hid_t space, std::uint64_t count, bool repeat) {
  std::vector<hsize_t> dims(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
  H5Sget_simple_extent_dims(space, dims.data(), nullptr);
  std::uint64_t total = 1;
  for (const auto size : dims) total *= size;
  std::vector<std::uint64_t> order(total);
  for (std::uint64_t i = 0; i < total; ++i) order[i] = i;
  std::ranges::shuffle(order, random);
  if (repeat && count > 1) order[0] = order[count - 1];
  std::vector<hsize_t> points;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::vector<hsize_t> at(dims.size());
    for (auto [d, rest] = std::pair(dims.size(), order[i]); d-- > 0; rest /= dims[d]) at[d] = rest % dims[d];
    points.insert(points.end(), at.begin(), at.end());
  }
  H5Sselect_elements(space, H5S_SELECT_SET, count, points.data());
}

// Moves a selection as far as it may go.
void shift(Random& random, hid_t space) {
  const auto rank = static_cast<std::size_t>(H5Sget_simple_extent_ndims(space));
  std::vector<hsize_t> dims(rank), low(rank), high(rank);
  H5Sget_simple_extent_dims(space, dims.data(), nullptr);
  H5Sget_select_bounds(space, low.data(), high.data());
  std::vector<hssize_t> by;
  for (std::size_t d = 0; d < rank; ++d)
    by.push_back(static_cast<hssize_t>(pick(random, 0, low[d] + dims[d] - 1 - high[d])) -
                 static_cast<hssize_t>(low[d]));
  H5Soffset_simple(space, by.data());
}

// Of the dataset's space; what it is, for messages.
std::string select_in_file(Random& random, hid_t space) {
  if (H5Sget_simple_extent_ndims(space) == 0) return "scalar";
  switch (pick(random, 0, 6)) {
    case 0:
      return "all";
    case 1:
      H5Sselect_none(space);
      return "none";
    case 2: {
      const auto total = static_cast<std::uint64_t>(H5Sget_simple_extent_npoints(space));
      select_points(random, space, pick(random, 1, std::min<std::uint64_t>(total, 60)), chance(random, 20));
      return "points";
    }
    case 3:
    case 4:
      select_slab(random, space, H5S_SELECT_SET);
      for (auto more = pick(random, 1, 4); more > 0; --more)
        select_slab(random, space, chance(random, 70) ? H5S_SELECT_OR : H5S_SELECT_XOR);
      return "union";
    default:
      select_slab(random, space, H5S_SELECT_SET);
      return "slab";
  }
}

// A space of memory with as many elements selected; elements it spans.
std::pair<Hid, std::uint64_t> memory_space(Random& random, std::uint64_t count, bool repeat) {
  const auto simple = [](std::vector<hsize_t> dims) {
    return Hid(H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr));
  };
  if (count == 0) {
    Hid space = simple({5});
    H5Sselect_none(space.get());
    return {std::move(space), 5};
  }
  switch (pick(random, 0, 4)) {
    case 0: {  // in the middle of a line
      Hid space = simple({count + 7});
      const hsize_t start = 3;
      H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &start, nullptr, &count, nullptr);
      return {std::move(space), count + 7};
    }
    case 1: {  // every other one
      Hid space = simple({2 * count});
      const hsize_t start = 1, stride = 2;
      H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &start, &stride, &count, nullptr);
      return {std::move(space), 2 * count};
    }
    case 2: {  // a column of another rank
      Hid space = simple({count, 1, 3});
      const hsize_t start[] = {0, 0, 1};
      const hsize_t counts[] = {count, 1, 1};
      H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start, nullptr, counts, nullptr);
      return {std::move(space), 3 * count};
    }
    case 3: {  // any order
      Hid space = simple({count + 1, 2});
      select_points(random, space.get(), count, repeat);
      return {std::move(space), 2 * (count + 1)};
    }
    default:
      return {simple({count}), count};
  }
}

std::vector<std::byte> random_bytes(Random& random, std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (auto& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

struct Case {
  Types type;
  Shape shape;
  std::string selection;
  Hid file_space;
  Hid memory_space;
  hid_t file_argument = H5S_ALL;
  hid_t memory_argument = H5S_ALL;
  std::uint64_t memory_elements = 0;
  hsize_t user_block = 0;
  bool latest = false;
};

Case random_case(Random& random, bool writes) {
  Case c;
  c.type = types()[pick(random, 0, types().size() - 1)];
  c.shape = random_shape(random, H5Tget_size(c.type.file));
  c.user_block = chance(random, 20) ? 1024 : 0;
  c.latest = chance(random, 50);
  c.file_space = make_space(c.shape);
  c.selection = select_in_file(random, c.file_space.get());
  if (c.selection == "slab" && chance(random, 20)) shift(random, c.file_space.get());
  const auto count = static_cast<std::uint64_t>(H5Sget_select_npoints(c.file_space.get()));
  if (c.selection != "all" || chance(random, 50)) c.file_argument = c.file_space.get();
  // Where memory is selected twice, what a write takes is the same either way; a read would be a race.
  auto [space, elements] = memory_space(random, count, writes && chance(random, 20));
  c.memory_space = std::move(space);
  c.memory_elements = std::max<std::uint64_t>(
      elements, static_cast<std::uint64_t>(H5Sget_simple_extent_npoints(c.file_space.get())));
  if (chance(random, 25)) {
    c.selection += ", memory like the file";
  } else if (chance(random, 20) && count != 0) {
    c.selection += ", memory a block";
    c.memory_argument = H5S_BLOCK;
  } else {
    c.memory_argument = c.memory_space.get();
  }
  return c;
}

class TransferTest : public FolderTest {
 protected:
  // A file with the dataset "d" full of random bytes.
  void make_file(const std::string& name, const Case& c, Random& random) const {
    const Hid creation(H5Pcreate(H5P_FILE_CREATE));
    H5Pset_userblock(creation.get(), c.user_block);
    const Hid access(H5Pcreate(H5P_FILE_ACCESS));
    if (c.latest) H5Pset_libver_bounds(access.get(), H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    const Hid file(H5Fcreate(path(name).c_str(), H5F_ACC_TRUNC, creation.get(), access.get()));
    const Hid layout(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_alloc_time(layout.get(), H5D_ALLOC_TIME_EARLY);
    if (!c.shape.chunk.empty()) H5Pset_chunk(layout.get(), c.shape.rank(), c.shape.chunk.data());
    const Hid space = make_space(c.shape);
    // Something else before and after it.
    const Hid other(H5Gcreate2(file.get(), "before", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    const Hid dataset(
        H5Dcreate2(file.get(), "d", c.type.file, space.get(), H5P_DEFAULT, layout.get(), H5P_DEFAULT));
    const auto bytes =
        random_bytes(random, H5Tget_size(c.type.file) *
                                 static_cast<std::size_t>(H5Sget_simple_extent_npoints(space.get())));
    ASSERT_GE(H5Dwrite(dataset.get(), c.type.file, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()), 0);
  }
};

std::vector<std::byte> whole(hid_t dataset, hid_t type, std::uint64_t elements) {
  std::vector<std::byte> bytes(H5Tget_size(type) * elements);
  EXPECT_GE(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()), 0);
  return bytes;
}

constexpr unsigned kCases = 1000;

TEST_F(TransferTest, ReadsWhatHdf5Reads) {
  for (unsigned seed = 1; seed <= kCases; ++seed) {
    Random random(seed);
    const auto c = random_case(random, false);
    SCOPED_TRACE(format_text("seed {}: {}, {}, rank {}", seed, c.type.name, c.selection, c.shape.rank()));
    make_file("a.h5", c, random);
    const Hid file(H5Fopen(path("a.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
    const Hid dataset(H5Dopen2(file.get(), "d", H5P_DEFAULT));
    const auto map = map_of(dataset.get());
    ASSERT_TRUE(map) << words(map.error());
    auto expected = random_bytes(random, c.memory_elements * H5Tget_size(c.type.memory));
    auto actual = expected;
    ASSERT_GE(H5Dread(dataset.get(), c.type.memory, c.memory_argument, c.file_argument, H5P_DEFAULT,
                      expected.data()),
              0);
    auto transfer = Transfer::plan(*map, {c.type.memory, c.memory_argument, c.file_argument, H5P_DEFAULT},
                                   actual.data(), Transfer::Direction::kRead);
    ASSERT_TRUE(transfer) << words(transfer.error());
    PlainFile raw(path("a.h5"));
    const auto status = transfer->read(actual.data(), raw);
    ASSERT_TRUE(status) << status.error().message;
    ASSERT_TRUE(actual == expected);
  }
}

TEST_F(TransferTest, WritesWhatHdf5Writes) {
  for (unsigned seed = 1; seed <= kCases; ++seed) {
    Random random(seed);
    const auto c = random_case(random, true);
    SCOPED_TRACE(format_text("seed {}: {}, {}, rank {}", seed, c.type.name, c.selection, c.shape.rank()));
    make_file("a.h5", c, random);
    std::filesystem::copy_file(path("a.h5"), path("b.h5"), std::filesystem::copy_options::overwrite_existing);
    const auto memory = random_bytes(random, c.memory_elements * H5Tget_size(c.type.memory));
    {
      const Hid file(H5Fopen(path("b.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT));
      const Hid dataset(H5Dopen2(file.get(), "d", H5P_DEFAULT));
      ASSERT_GE(H5Dwrite(dataset.get(), c.type.memory, c.memory_argument, c.file_argument, H5P_DEFAULT,
                         memory.data()),
                0);
    }
    {
      const Hid file(H5Fopen(path("a.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
      const Hid dataset(H5Dopen2(file.get(), "d", H5P_DEFAULT));
      const auto map = map_of(dataset.get());
      ASSERT_TRUE(map) << words(map.error());
      auto transfer = Transfer::plan(*map, {c.type.memory, c.memory_argument, c.file_argument, H5P_DEFAULT},
                                     memory.data(), Transfer::Direction::kWrite);
      ASSERT_TRUE(transfer) << words(transfer.error());
      PlainFile raw(path("a.h5"));
      const auto status = transfer->write(memory.data(), raw);
      ASSERT_TRUE(status) << status.error().message;
    }
    std::vector<std::byte> results[2];
    for (const auto& [i, name] : {std::pair{0, "a.h5"}, {1, "b.h5"}}) {
      const Hid file(H5Fopen(path(name).c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
      const Hid dataset(H5Dopen2(file.get(), "d", H5P_DEFAULT));
      results[i] = whole(dataset.get(), c.type.file,
                         static_cast<std::uint64_t>(H5Sget_simple_extent_npoints(c.file_space.get())));
    }
    ASSERT_TRUE(results[0] == results[1]);
  }
}

}  // namespace
}  // namespace forebay::hdf5
