#include "tools/bench/particles.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>

namespace forebay::kernels {
namespace {

constexpr std::size_t kCount = kProperties.size();
constexpr std::size_t kWord = sizeof(std::uint32_t);

hid_t type_of(std::size_t property) {
  return std::string_view(kProperties[property]).starts_with("id") ? H5T_NATIVE_INT32 : H5T_NATIVE_FLOAT;
}

Hid compound(std::size_t from, std::size_t to) {
  Hid type(H5Tcreate(H5T_COMPOUND, (to - from) * kWord), H5Tclose, "make a type");
  for (auto i = from; i < to; ++i)
    must(H5Tinsert(type.get(), kProperties[i], (i - from) * kWord, type_of(i)), "make a type");
  return type;
}

std::vector<hsize_t> dims_of(const Job& job) {
  std::vector<hsize_t> dims;
  const auto rank = job.count("NUM_DIMS");
  for (std::uint64_t i = 1; i <= rank; ++i) dims.push_back(job.count("DIM_" + std::to_string(i)));
  return dims;
}

// DIM_1 of a rank: spread about the mean by Box and Muller's method where a deviation is given, at least 1.
hsize_t rows_of(const Job& job, std::uint64_t rank, std::uint64_t timestep) {
  const auto mean = job.count("DIM_1");
  const auto deviation = job.count_or_none("STDEV_DIM_1");
  if (deviation == 0) return mean;
  const Source dice(job.seed, "rows", timestep * 65536 + rank);
  std::array<std::uint64_t, 2> bits{};
  dice.fill(0, std::span(bits));
  const auto uniform = [](std::uint64_t word) {
    return (static_cast<double>(word & 0x000fffffffffffff) + 1) / 4503599627370497.0;
  };
  const double normal =
      std::sqrt(-2 * std::log(uniform(bits[0]))) * std::cos(2 * std::numbers::pi * uniform(bits[1]));
  return static_cast<hsize_t>(
      std::max(1.0, std::round(static_cast<double>(mean) + normal * static_cast<double>(deviation))));
}

// One that loses nothing.
void add_filter(hid_t properties, const std::string& filter) {
  constexpr unsigned kPixels = 8;  // of a block of SZIP
  const auto id = filter == "SZIP"    ? H5Z_FILTER_SZIP
                  : filter == "N_BIT" ? H5Z_FILTER_NBIT
                                      : H5Z_FILTER_DEFLATE;
  if (H5Zfilter_avail(id) <= 0)
    throw std::runtime_error("COMPRESS_FILTER: this HDF5 was built without " + filter);
  must(id == H5Z_FILTER_SZIP   ? H5Pset_szip(properties, H5_SZIP_NN_OPTION_MASK, kPixels)
       : id == H5Z_FILTER_NBIT ? H5Pset_nbit(properties)
                               : H5Pset_deflate(properties, 1),
       "compress");
}

}  // namespace

std::string timestep_group(std::uint64_t timestep) { return "Timestep_" + std::to_string(timestep); }

Particles::Particles(const Job& job)
    : memory_interleaved(job.text("MEM_PATTERN") == "INTERLEAVED"),
      file_interleaved(job.text("FILE_PATTERN") == "INTERLEAVED"),
      unlimited(job.kernel == "write-unlimited" || job.kernel == "append" || job.flag("UNLIMITED")),
      filter(job.flag("COMPRESS") ? job.text("COMPRESS_FILTER") : "") {
  const auto dims = dims_of(job);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const auto asked = job.count_or_none("CHUNK_DIM_" + std::to_string(i + 1));
    chunk.push_back(asked == 0 ? std::min<hsize_t>(dims[i], i == 0 ? 65536 : dims[i])
                               : std::min(asked, dims[i]));
  }
  if (!unlimited && filter.empty() && job.count_or_none("CHUNK_DIM_1") == 0) chunk.clear();
}

Block Particles::block(const Job& job, std::uint64_t rank, std::uint64_t timestep) {
  Block block{.dims = dims_of(job), .extent = {}};
  const auto row = std::accumulate(block.dims.begin() + 1, block.dims.end(), hsize_t{1}, std::multiplies<>());
  hsize_t before = 0;
  hsize_t all = 0;
  for (std::uint64_t i = 0; i < job.ranks; ++i) {
    const auto rows = rows_of(job, i, timestep);
    if (i < rank) before += rows;
    if (i == rank) block.dims[0] = rows;
    all += rows;
  }
  block.extent = block.dims;
  if (job.flag("FILE_PER_PROC")) {
    block.base = before * row;
  } else {
    block.row = before;
    block.extent[0] = all;
  }
  return block;
}

Layer Particles::written(const Job& job) {
  if (job.text("FILE_PATTERN") != "STRIDED") return Layer::everything();
  return {job.count("STRIDE_SIZE"), job.count("BLOCK_SIZE"), job.count("BLOCK_CNT"), job.count("DIM_1")};
}

Content Particles::content_before(const Job& job) {
  // "" nothing, "all", or "stride block count".
  const auto layer = [&](const char* key) {
    const auto text = job.text(key);
    if (text.empty()) return Layer();
    const auto counts = job.counts(key);
    return counts.size() == 3 ? Layer(counts[0], counts[1], counts[2], job.count("DIM_1"))
                              : Layer::everything();
  };
  return {.written = layer("WRITTEN"), .overwritten = layer("OVERWRITTEN")};
}

Hid Particles::space_of(const Layer& layer, const Block& block) {
  auto space = simple_space(block.extent);
  if (!layer.is_everything()) {
    const hsize_t start[] = {block.row};
    const hsize_t stride[] = {layer.stride()};
    const hsize_t count[] = {layer.count()};
    const hsize_t size[] = {layer.block()};
    must(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start, stride, count, size),
         "select blocks at a stride");
    return space;
  }
  std::vector<hsize_t> start(block.dims.size());
  start[0] = block.row;
  select_box(space.get(), start, block.dims);
  return space;
}

void Particles::fill(const Context& context, std::uint64_t timestep, const std::vector<Run>& runs,
                     std::uint64_t base, std::vector<std::uint32_t>& data, const std::string& name) const {
  const auto elements = data.size() / kCount;
  std::vector<std::uint32_t> one(memory_interleaved ? elements : 0);
  for (std::size_t property = 0; property < kCount; ++property) {
    auto* const place = memory_interleaved ? one.data() : data.data() + property * elements;
    std::uint64_t done = 0;
    for (const auto& run : runs) {
      context.fill(kProperties[property] + name, timestep, base + run.first,
                   std::span(place + done, run.count));
      done += run.count;
    }
    for (std::size_t i = 0; i < one.size(); ++i) data[i * kCount + property] = one[i];
  }
}

void Particles::check(const Context& context, std::uint64_t timestep, const std::vector<Run>& runs,
                      std::uint64_t base, const std::vector<std::uint32_t>& data,
                      const Content& content) const {
  const auto elements = data.size() / kCount;
  std::vector<std::uint32_t> one(memory_interleaved ? elements : 0);
  for (std::size_t property = 0; property < kCount; ++property) {
    for (std::size_t i = 0; i < one.size(); ++i) one[i] = data[i * kCount + property];
    const auto* const place = memory_interleaved ? one.data() : data.data() + property * elements;
    std::uint64_t done = 0;
    for (const auto& run : runs) {
      content.visit(run.first, run.count, [&](std::uint64_t first, std::uint64_t count, const char* name) {
        const auto found = std::span(place + done, count);
        done += count;
        if (name == nullptr) {
          context.checker.check_unwritten(kProperties[property], timestep, base + first, found);
        } else {
          context.checker.check(std::string(kProperties[property]) + name, timestep, base + first, found);
        }
      });
    }
  }
}

std::vector<Hid> Particles::create(hid_t group, const Block& block, hid_t events) const {
  std::vector<hsize_t> most(block.extent.size(), H5S_UNLIMITED);
  const Hid space(H5Screate_simple(static_cast<int>(block.extent.size()), block.extent.data(),
                                   unlimited ? most.data() : nullptr),
                  H5Sclose, "make a dataspace");
  const Hid properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "make properties");
  if (!chunk.empty())
    must(H5Pset_chunk(properties.get(), static_cast<int>(chunk.size()), chunk.data()), "choose chunks");
  if (!filter.empty()) {
    add_filter(properties.get(), filter);
  } else {
    // As files made by several ranks have it. One made by a single process would let ranks that open it
    // allocate chunks each for itself.
    must(H5Pset_alloc_time(properties.get(), H5D_ALLOC_TIME_EARLY), "choose when to allocate");
  }
  std::vector<Hid> datasets;
  const auto add = [&](const char* name, hid_t type) {
    datasets.emplace_back(
        H5Dcreate_async(group, name, type, space.get(), H5P_DEFAULT, properties.get(), H5P_DEFAULT, events),
        H5Dclose, std::string("create dataset ") + name);
  };
  if (file_interleaved) {
    add("particles", compound(0, kCount).get());
  } else {
    for (std::size_t i = 0; i < kCount; ++i) add(kProperties[i], type_of(i));
  }
  return datasets;
}

std::vector<Hid> Particles::open(hid_t group, hid_t events) const {
  std::vector<Hid> datasets;
  const auto add = [&](const char* name) {
    datasets.emplace_back(H5Dopen_async(group, name, H5P_DEFAULT, events), H5Dclose,
                          std::string("open dataset ") + name);
  };
  if (file_interleaved) {
    add("particles");
  } else {
    for (const auto* name : kProperties) add(name);
  }
  return datasets;
}

// What each combination of layouts moves, and how often: move(dataset, memory type, memory space, words to
// skip).
template <class Move>
void Particles::move(Recorder& recorder, Phase phase, std::size_t datasets, hid_t file_space,
                     std::size_t elements, Move&& move) const {
  const bool structures = memory_interleaved && file_interleaved;
  const auto one_array = simple_space({elements});
  const auto bytes = elements * kWord;
  if (structures) {
    const auto type = compound(0, kCount);
    recorder.transfer(phase, bytes * kCount, [&] { move(0, type.get(), one_array.get(), file_space, 0); });
    return;
  }
  for (std::size_t i = 0; i < kCount; ++i) {
    const auto member = compound(i, i + 1);
    const auto memory_type = file_interleaved ? member.get() : type_of(i);
    auto memory_space = simple_space({memory_interleaved ? elements * kCount : elements});
    if (memory_interleaved) {
      const hsize_t start[] = {i};
      const hsize_t stride[] = {kCount};
      const hsize_t count[] = {elements};
      must(H5Sselect_hyperslab(memory_space.get(), H5S_SELECT_SET, start, stride, count, nullptr),
           "select a member");
    }
    recorder.transfer(phase, bytes, [&] {
      move(std::min(i, datasets - 1), memory_type, memory_space.get(), file_space,
           memory_interleaved ? 0 : i * elements);
    });
  }
}

void Particles::write(Recorder& recorder, const std::vector<Hid>& datasets, hid_t file_space, hid_t transfer,
                      hid_t events, const std::vector<std::uint32_t>& data) const {
  move(recorder, Phase::kWrite, datasets.size(), file_space, data.size() / kCount,
       [&](std::size_t dataset, hid_t type, hid_t memory, hid_t file, std::size_t skip) {
         must(H5Dwrite_async(datasets[dataset].get(), type, memory, file, transfer, data.data() + skip,
                             events),
              "write particles");
       });
}

void Particles::read(Recorder& recorder, const std::vector<Hid>& datasets, hid_t file_space, hid_t transfer,
                     hid_t events, std::vector<std::uint32_t>& data) const {
  move(recorder, Phase::kRead, datasets.size(), file_space, data.size() / kCount,
       [&](std::size_t dataset, hid_t type, hid_t memory, hid_t file, std::size_t skip) {
         must(
             H5Dread_async(datasets[dataset].get(), type, memory, file, transfer, data.data() + skip, events),
             "read particles");
       });
}

}  // namespace forebay::kernels
