// Which kernel has which keys.
#include <algorithm>
#include <array>

#include "base/format.hpp"
#include "tools/forebay/bench/keys.hpp"

namespace forebay {
namespace {

using enum KeyKind;

constexpr auto kParticles = std::to_array<Key>({
    {"MEM_PATTERN", kWord, "CONTIG", "CONTIG INTERLEAVED"},
    {"FILE_PATTERN", kWord, "CONTIG", "CONTIG INTERLEAVED STRIDED"},
    {"NUM_PARTICLES", kCount, "0"},
    {"TIMESTEPS", kCount, ""},
    {"DELAYED_CLOSE_TIMESTEPS", kCount, "0"},
    {"EMULATED_COMPUTE_TIME_PER_TIMESTEP", kSeconds, "0"},
    {"NUM_DIMS", kCount, "1"},
    {"DIM_1", kCount, "0"},
    {"DIM_2", kCount, "1"},
    {"DIM_3", kCount, "1"},
    {"CHUNK_DIM_1", kCount, "0"},
    {"CHUNK_DIM_2", kCount, "0"},
    {"CHUNK_DIM_3", kCount, "0"},
    {"STRIDE_SIZE", kCount, "0"},
    {"STRIDE_SIZE_2", kCount, "0"},
    {"STRIDE_SIZE_3", kCount, "0"},
    {"BLOCK_SIZE", kCount, "0"},
    {"BLOCK_SIZE_2", kCount, "0"},
    {"BLOCK_SIZE_3", kCount, "0"},
    {"BLOCK_CNT", kCount, "0"},
    {"STDEV_DIM_1", kCount, "0"},
    {"COLLECTIVE_DATA", kFlag, "NO"},
    {"COLLECTIVE_METADATA", kFlag, "NO"},
    {"COMPRESS", kFlag, "NO"},
    {"COMPRESS_FILTER", kWord, "GZIP", "GZIP SZIP N_BIT SZ3 ZFP"},
    {"FILE_PER_PROC", kFlag, "NO"},
    {"ALIGN", kFlag, "NO"},
    {"ALIGN_THRESHOLD", kCount, "0"},
    {"ALIGN_LEN", kCount, "1 M"},
    {"SUBFILING", kFlag, "NO"},
    {"MODE", kWord, "SYNC", "SYNC ASYNC LOG"},
    {"IO_MEM_LIMIT", kText, ""},
    {"IO_OPERATION", kText, ""},
    {"ASYNC_MODE", kWord, "NON", "NON IMP EXP"},
    {"CSV_FILE", kText, ""},
    {"ENV_METADATA_FILE", kText, ""},
    {"READ_OPTION", kWord, "FULL", "FULL PARTIAL STRIDED LDC RDC PRL CS"},
    {"TO_READ_NUM_PARTICLES", kCount, "0"},
});

constexpr auto kMetadata = std::to_array<Key>({
    {"version", kText, ""},
    {"steps", kCount, "20"},
    {"arrays", kCount, "500"},
    {"rows", kCount, "100"},
    {"columns", kCount, "200"},
    {"process-rows", kCount, "1"},
    {"process-columns", kCount, "1"},
    {"scaling", kWord, "weak", "weak strong"},
    {"dataset-rank", kCount, "4"},
    {"slowest-dimension", kWord, "step", "step array"},
    {"layout", kWord, "contiguous", "contiguous chunked"},
    {"mpi-io", kWord, "independent", "independent collective"},
    {"hdf5-file", kText, ""},
    {"csv-file", kText, ""},
});

constexpr auto kAmrex = std::to_array<Key>({
    {"ncells", kCount, "64"},
    {"max_grid_size", kCount, "8"},
    {"nlevs", kCount, "1"},
    {"ncomp", kCount, "6"},
    {"nppc", kCount, "2"},
    {"nplotfile", kCount, "2"},
    {"nparticlefile", kCount, "2"},
    {"sleeptime", kReal, "0"},
    {"restart_check", kFlag, "1"},
    {"mode", kWord, "SYNC", "SYNC ASYNC LOG"},
    {"grids_from_file", kFlag, "0"},
    {"ref_ratio_file", kText, ""},
    {"hdf5compression", kText, ""},
    {"directory", kText, ""},
});

constexpr auto kOpenPmd = std::to_array<Key>({
    {"operation", kWord, "", "write read"},
    {"fileLocation", kText, ""},
    {"dim", kCount, "3"},
    {"balanced", kFlag, "true"},
    {"ratio", kCount, "1"},
    {"steps", kCount, "1"},
    {"minBlock", kCounts, "8 16 16"},
    {"grid", kCounts, "16 16 8"},
    {"pattern", kWord, "m", "m sx sy sz"},
});

constexpr auto kE3sm = std::to_array<Key>({
    {"case", kWord, "F", "F G I"},
    {"k", kText, ""},
    {"x", kWord, "blob", "canonical log blob"},
    {"a", kWord, "hdf5", "hdf5 hdf5_log hdf5_md"},
    {"o", kText, ""},
    {"i", kText, ""},
    {"map", kText, ""},
    {"netcdf", kText, ""},
    {"r", kCount, "1"},
    {"variables", kCount, "0"},
    {"points", kCount, "2048"},
    {"levels", kCount, "8"},
});

constexpr auto kDlio = std::to_array<Key>({
    {"generate-data", kFlag, "false"},
    {"train", kFlag, "false"},
    {"evaluation", kFlag, "false"},
    {"chunking", kFlag, "false"},
    {"chunk-size", kCount, "1024"},
    {"compression", kFlag, "false"},
    {"compression-level", kCount, "4"},
    {"keep-files", kFlag, "false"},
    {"shuffle", kFlag, "false"},
    {"seed-change-epoch", kFlag, "false"},
    {"record-length", kCount, "67108864"},
    {"num-files-train", kCount, "32"},
    {"num-files-eval", kCount, "8"},
    {"num-samples-per-file", kCount, "4"},
    {"data-folder", kText, ""},
    {"file-prefix", kText, ""},
    {"batch-size", kCount, "7"},
    {"batch-size-eval", kCount, "2"},
    {"read-threads", kCount, "4"},
    {"preprocess-time", kReal, "0"},
    {"preprocess-time-stdev", kReal, "0"},
    {"epochs", kCount, "5"},
    {"total-training-steps", kLimit, "-1"},
    {"computation-time", kReal, "0.323"},
    {"computation-time-stdev", kReal, "0"},
    {"random-seed", kCount, "42"},
    {"eval-time", kReal, "0.323"},
    {"eval-time-stdev", kReal, "0"},
    {"epochs-between-evals", kCount, "1"},
    {"train-data-folder", kText, ""},
    {"valid-data-folder", kText, ""},
    {"records-dataset-name", kText, "records"},
    {"labels-dataset-name", kText, "labels"},
    {"collective-meta", kFlag, "false"},
    {"collective-data", kFlag, "false"},
    {"subfiling", kFlag, "false"},
    {"output-csv-name", kText, ""},
    {"output-ranks-data", kFlag, "false"},
});

constexpr auto kExerciser = std::to_array<Key>({
    {"numdims", kCount, ""},
    {"minels", kCounts, ""},
    {"nsizes", kCount, "1"},
    {"bufmult", kCounts, "2 2 2 2"},
    {"dimranks", kCounts, "0"},
    {"rshift", kCount, "0"},
    {"metacoll", kFlag, "false"},
    {"derivedtype", kFlag, "false"},
    {"addattr", kFlag, "false"},
    {"indepio", kFlag, "false"},
    {"usechunked", kFlag, "false"},
    {"keepfile", kFlag, "false"},
    {"maxcheck", kCount, "0"},
    {"memblock", kCount, "0"},
    {"memstride", kCount, "0"},
    {"fileblocks", kCounts, "0"},
    {"filestrides", kCounts, "0"},
    {"iterations", kCount, "10"},
});

constexpr auto kMacsio = std::to_array<Key>({
    {"parallel_file_mode", kText, "MIF 1"},
    {"part_size", kCount, "80000"},
    {"avg_num_parts", kCount, "2"},
    {"num_dumps", kCount, "10"},
    {"vars_per_part", kCount, "20"},
    {"interface", kWord, "hdf5", "hdf5"},
    {"filebase", kText, ""},
});

constexpr auto kMpiIo = std::to_array<Key>({
    {"operation", kWord, "both", "write read both"},
    {"operations", kCount, "1 K"},
    {"size", kCount, "64"},
    {"pattern", kWord, "strided", "sequential strided random"},
    {"collective", kFlag, "false"},
    {"compute", kSeconds, "0"},
});

constexpr auto kPosix = std::to_array<Key>({
    {"operation", kWord, "both", "write read both"},
    {"size", kCount, "16 M"},
    {"transfer", kCount, "1 M"},
    {"reads", kCount, "1"},
    {"order", kWord, "sequential", "sequential random"},
    {"compute", kSeconds, "0"},
    {"fsync", kFlag, "false"},
});

struct KernelKeys {
  std::string_view kernel;
  std::span<const Key> keys;
};
constexpr auto kKernels = std::to_array<KernelKeys>({
    {"write", kParticles},
    {"write-unlimited", kParticles},
    {"write_normal_dist", kParticles},
    {"read", kParticles},
    {"overwrite", kParticles},
    {"append", kParticles},
    {"checkpoint", kParticles},
    {"metadata", kMetadata},
    {"amrex", kAmrex},
    {"openpmd", kOpenPmd},
    {"e3sm", kE3sm},
    {"dlio", kDlio},
    {"exerciser", kExerciser},
    {"macsio", kMacsio},
    {"mpiio", kMpiIo},
    {"posix", kPosix},
});

struct Named {
  std::string_view name;
  std::string_view what;
};
// h5bench's other names for them.
constexpr auto kOtherNames = std::to_array<Named>({
    {"write_var_normal_dist", "write_normal_dist"},
    {"hdf5_iotest", "metadata"},
});
constexpr auto kNotDone = std::to_array<Named>({
    {"cuda_write", "there is no GPU's memory here (write with FILE_PER_PROC does the rest)"},
    {"cuda_read", "there is no GPU's memory here (read with FILE_PER_PROC does the rest)"},
    {"write_var_data_dist", "no sizes are read from a file here (write_var_normal_dist spreads them)"},
    {"qmcpack", "it is a program of its own: start it with `forebay run`"},
});

std::string kernel_names() {
  std::string names;
  for (const auto& one : kKernels) names += format_text("{}{}", names.empty() ? "" : ", ", one.kernel);
  return names;
}

}  // namespace

std::string kernel_of(std::string_view benchmark) {
  const auto* other = std::ranges::find(kOtherNames, benchmark, &Named::name);
  return std::string(other == kOtherNames.end() ? benchmark : other->what);
}

std::string why_not(std::string_view benchmark) {
  const auto* known = std::ranges::find(kNotDone, benchmark, &Named::name);
  if (known != kNotDone.end()) return format_text("{} is not done: {}", benchmark, known->what);
  if (!keys_of(kernel_of(benchmark)).empty()) return {};
  return format_text("there is no \"{}\" (there are {})", benchmark, kernel_names());
}

std::vector<Key> keys_of(std::string_view kernel) {
  for (const auto& one : kKernels) {
    if (one.kernel == kernel) return {one.keys.begin(), one.keys.end()};
  }
  return {};
}

}  // namespace forebay
