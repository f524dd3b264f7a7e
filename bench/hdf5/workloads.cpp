#include "bench/hdf5/workloads.hpp"

#include <algorithm>
#include <format>
#include <numeric>
#include <random>
#include <vector>

namespace forebay::bench::hdf5 {
namespace {

hid_t make_dataset(hid_t file, const std::string& name, std::vector<hsize_t> dims) {
  const hid_t space = H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr);
  const hid_t made =
      must(H5Dcreate2(file, name.c_str(), H5T_STD_U8LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5Sclose(space);
  return made;
}

std::vector<std::uint8_t> some_bytes(std::uint64_t size) {
  std::vector<std::uint8_t> bytes(size);
  for (std::uint64_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>((i * 2654435761u) >> 13);
  return bytes;
}

// One row of a dataset of rows, to or from memory.
class Rows {
 public:
  explicit Rows(hid_t dataset) : dataset_(dataset), space_(H5Dget_space(dataset)) {
    hsize_t dims[2] = {};
    H5Sget_simple_extent_dims(space_, dims, nullptr);
    count_ = dims[0];
    size_ = dims[1];
    memory_ = H5Screate_simple(1, &size_, nullptr);
  }
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;
  ~Rows() {
    H5Sclose(memory_);
    H5Sclose(space_);
  }
  [[nodiscard]] hsize_t count() const { return count_; }
  [[nodiscard]] hsize_t size() const { return size_; }
  void write(hsize_t row, const void* bytes) {
    choose(row);
    must(H5Dwrite(dataset_, H5T_NATIVE_UINT8, memory_, space_, H5P_DEFAULT, bytes));
  }
  void read(hsize_t row, void* bytes) {
    choose(row);
    must(H5Dread(dataset_, H5T_NATIVE_UINT8, memory_, space_, H5P_DEFAULT, bytes));
  }

 private:
  void choose(hsize_t row) {
    const hsize_t start[] = {row, 0};
    const hsize_t count[] = {1, size_};
    must(H5Sselect_hyperslab(space_, H5S_SELECT_SET, start, nullptr, count, nullptr));
  }
  hid_t dataset_;
  hid_t space_;
  hid_t memory_ = H5I_INVALID_HID;
  hsize_t count_ = 0;
  hsize_t size_ = 0;
};

std::vector<hsize_t> order_of(hsize_t count, bool shuffled, unsigned seed) {
  std::vector<hsize_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  if (shuffled) std::ranges::shuffle(order, std::mt19937_64(seed));
  return order;
}

}  // namespace

void checkpoint(const World& world, const std::string& path, unsigned steps, std::uint64_t step,
                double compute_s) {
  const auto data = some_bytes(step / world.ranks());
  const hid_t file = world.create(path);
  double writing = 0;
  world.barrier();
  const Watch total;
  for (unsigned i = 0; i < steps; ++i) {
    world.compute(compute_s);
    const hid_t dataset = make_dataset(file, std::format("step{}", i), {world.ranks(), data.size()});
    {
      Rows rows(dataset);
      world.barrier();
      const Watch watch;
      rows.write(world.rank(), data.data());
      writing += watch.seconds();
    }
    must(H5Dclose(dataset));
  }
  const Watch closing;
  must(H5Fclose(file));
  world.tell("close", closing.seconds());
  world.tell("total", total.seconds());
  world.tell("write", writing);
}

void make_samples(const World& world, const std::string& path, std::uint64_t samples, std::uint64_t size) {
  const hid_t file = world.create(path);
  const hid_t dataset = make_dataset(file, "samples", {samples, size});
  const auto data = some_bytes(size);
  {
    Rows rows(dataset);
    for (hsize_t i = world.rank(); i < samples; i += world.ranks()) rows.write(i, data.data());
  }
  must(H5Dclose(dataset));
  must(H5Fclose(file));
}

void epochs(const World& world, const std::string& path, bool shuffled, unsigned epochs) {
  const hid_t file = world.open(path);
  const hid_t dataset = must(H5Dopen2(file, "samples", H5P_DEFAULT));
  {
    Rows rows(dataset);
    std::vector<std::uint8_t> sample(rows.size());
    for (unsigned epoch = 1; epoch <= epochs; ++epoch) {
      const auto order = order_of(rows.count(), shuffled, epoch);
      world.barrier();
      const Watch watch;
      for (hsize_t i = world.rank(); i < rows.count(); i += world.ranks()) rows.read(order[i], sample.data());
      world.barrier();
      world.tell(std::format("epoch{}", epoch).c_str(), watch.seconds());
    }
  }
  must(H5Dclose(dataset));
  must(H5Fclose(file));
}

void small_writes(const World& world, const std::string& path, std::uint64_t count, double compute_s) {
  const hid_t file = world.create(path);
  const hid_t dataset = make_dataset(file, "small", {count, 4096});
  const auto data = some_bytes(4096);
  const auto order = order_of(count, true, 3);
  world.barrier();
  const Watch total;
  {
    Rows rows(dataset);
    for (hsize_t i = world.rank(); i < count; i += world.ranks()) rows.write(order[i], data.data());
  }
  world.tell("write", total.seconds());
  world.compute(compute_s);
  must(H5Dclose(dataset));
  must(H5Fclose(file));
  world.tell("total", total.seconds());
}

void metadata(const World& world, const std::string& path, unsigned count) {
  const hid_t file = world.create(path);
  const hid_t scalar = H5Screate(H5S_SCALAR);
  const Watch total;
  for (unsigned i = 0; i < count; ++i) {
    const hid_t group =
        must(H5Gcreate2(file, std::format("g{}", i).c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    const hid_t attribute = must(H5Acreate2(group, "a", H5T_STD_I32LE, scalar, H5P_DEFAULT, H5P_DEFAULT));
    must(H5Awrite(attribute, H5T_NATIVE_UINT, &i));
    must(H5Aclose(attribute));
    must(
        H5Dclose(must(H5Dcreate2(group, "d", H5T_STD_I32LE, scalar, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT))));
    must(H5Gclose(group));
  }
  for (unsigned i = 0; i < count; ++i) {
    const hid_t group = must(H5Gopen2(file, std::format("g{}", i).c_str(), H5P_DEFAULT));
    const hid_t attribute = must(H5Aopen(group, "a", H5P_DEFAULT));
    unsigned value = 0;
    must(H5Aread(attribute, H5T_NATIVE_UINT, &value));
    must(H5Aclose(attribute));
    must(H5Dclose(must(H5Dopen2(group, "d", H5P_DEFAULT))));
    must(H5Gclose(group));
  }
  H5Sclose(scalar);
  must(H5Fclose(file));
  world.tell("total", total.seconds());
}

void pieces(const World& world, const std::string& path, std::uint64_t size, unsigned calls) {
  const hid_t file = world.create(path);
  const hsize_t rows_each = std::max<std::uint64_t>(1, (64u << 20) / size / world.ranks());
  const hid_t dataset = make_dataset(file, "pieces", {rows_each * world.ranks(), size});
  auto data = some_bytes(size);
  {
    Rows rows(dataset);
    const hsize_t first = rows_each * world.rank();
    // The first touch of a file in memory costs more than the copy.
    for (hsize_t i = 0; i < rows_each; ++i) rows.write(first + i, data.data());
    world.barrier();
    const Watch writing;
    for (unsigned i = 0; i < calls; ++i) rows.write(first + i % rows_each, data.data());
    world.tell("write", writing.seconds() / calls);
    world.barrier();
    const Watch reading;
    for (unsigned i = 0; i < calls; ++i) rows.read(first + i % rows_each, data.data());
    world.tell("read", reading.seconds() / calls);
  }
  must(H5Dclose(dataset));
  must(H5Fclose(file));
}

}  // namespace forebay::bench::hdf5
