#include "tools/forebay/bench/keys.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <initializer_list>
#include <limits>
#include <sstream>

#include "base/bytes.hpp"
#include "base/duration.hpp"
#include "base/format.hpp"

namespace forebay {
namespace {

using enum KeyKind;

bool same_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

std::string without_spaces(std::string_view text) {
  std::string kept;
  std::ranges::copy_if(text, std::back_inserter(kept), [](unsigned char c) { return std::isspace(c) == 0; });
  return kept;
}

Result<std::string> wrong(const Key& key, std::string_view text, std::string_view wanted) {
  return fail(EINVAL, format_text("{}: \"{}\" is not {}", key.name, text, wanted));
}

Result<std::string> count_value(const Key& key, const std::string& text) {
  // parse_bytes has the same letters, with the same meaning; h5bench also takes "1024 Ks".
  auto plain = without_spaces(text);
  if (plain.size() > 2 && plain.ends_with('s')) plain.pop_back();
  const auto parsed = parse_bytes(plain);
  if (!parsed || plain.ends_with('B')) return wrong(key, text, "a count, as 5 or 16 M");
  return std::to_string(*parsed);
}

// As h5bench reads it: seconds where there is no unit, and large letters mean the same.
Result<std::string> seconds_value(const Key& key, const std::string& text) {
  auto plain = without_spaces(text);
  std::ranges::transform(plain, plain.begin(), [](unsigned char c) { return std::tolower(c); });
  if (plain.ends_with("sec")) plain.resize(plain.size() - 2);
  if (!plain.empty() && std::isdigit(static_cast<unsigned char>(plain.back())) != 0) plain += 's';
  const auto parsed = parse_duration(plain);
  if (!parsed) return wrong(key, text, "a time, as 1 s or 100 ms");
  return format_text("{:.9f}", std::chrono::duration<double>(*parsed).count());
}

Result<std::string> real_value(const Key& key, const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0)
    return wrong(key, text, "a number that is not negative");
  return format_text("{}", value);
}

Result<std::string> counts_value(const Key& key, const std::string& text) {
  std::istringstream words(text);
  std::string all;
  for (std::string word; words >> word;) {
    const auto one = count_value(key, word);
    if (!one) return wrong(key, text, "a list of counts, as 8 16 16");
    all += (all.empty() ? "" : " ") + *one;
  }
  return all;
}

Result<std::string> flag_value(const Key& key, const std::string& text) {
  for (const auto* yes : {"YES", "TRUE", "1", "Y"}) {
    if (same_word(text, yes)) return "1";
  }
  for (const auto* no : {"NO", "FALSE", "0", "N", ""}) {
    if (same_word(text, no)) return "0";
  }
  return wrong(key, text, "YES or NO");
}

Result<std::string> word_value(const Key& key, const std::string& text) {
  std::istringstream words{std::string(key.words)};
  for (std::string word; words >> word;) {
    if (same_word(word, text)) return word;
  }
  return wrong(key, text, format_text("one of {}", key.words));
}

std::uint64_t number(const Texts& texts, const std::string& key) { return std::stoull(texts.at(key)); }

// Of a kernel, what must not be 0.
Status not_zero(const Texts& all, std::initializer_list<const char*> keys) {
  for (const auto* key : keys) {
    if (number(all, key) == 0) return fail(EINVAL, format_text("{}: 0 is too small", key));
  }
  return {};
}

// Keys that h5bench documents, and that are not done here.
Status not_asked(const Texts& given, std::initializer_list<const char*> keys, std::string_view why) {
  for (const auto* key : keys) {
    const auto found = given.find(key);
    if (found != given.end() && !found->second.empty() && !same_word(found->second, "0") &&
        !same_word(found->second, "false"))
      return fail(EINVAL, format_text("{}: {}", key, why));
  }
  return {};
}

constexpr std::string_view kLossy = "a filter that loses bits leaves nothing that could be checked";

// What no key shows alone.
Status check_particles(std::string_view kernel, Texts& all) {
  const auto dims = number(all, "NUM_DIMS");
  if (dims < 1 || dims > 3) return fail(EINVAL, "NUM_DIMS: 1, 2 or 3 are possible");
  if (number(all, "DIM_1") == 0) all["DIM_1"] = all["NUM_PARTICLES"];
  if (number(all, "DIM_1") == 0)
    return fail(EINVAL, "DIM_1: neither this nor NUM_PARTICLES says how many particles");
  for (std::uint64_t i = 2; i <= dims; ++i) {
    const auto key = format_text("DIM_{}", i);
    if (number(all, key) == 0) return fail(EINVAL, key + ": 0 is too small");
  }
  if (number(all, "TIMESTEPS") == 0) return fail(EINVAL, "TIMESTEPS: 0 is too small");
  if (all["COMPRESS_FILTER"] == "SZ3" || all["COMPRESS_FILTER"] == "ZFP")
    return fail(EINVAL, format_text("COMPRESS_FILTER: {}: {}", all["COMPRESS_FILTER"], kLossy));
  // Several ranks may write what is compressed only together, and h5bench lets them.
  if (all["COMPRESS"] == "1" && kernel != "read") all["COLLECTIVE_DATA"] = "1";
  // Sizes vary only where the kernel is about that, as in h5bench.
  if (kernel != "write_normal_dist") all["STDEV_DIM_1"] = "0";
  if (all["ASYNC_MODE"] == "EXP" && all["MODE"] == "SYNC") all["MODE"] = "ASYNC";  // older files
  const auto& option = all["READ_OPTION"];
  if (all["FILE_PATTERN"] == "STRIDED" || option == "STRIDED") {
    if (dims != 1) return fail(EINVAL, "NUM_DIMS: STRIDED is for one dimension");
    if (all["STDEV_DIM_1"] != "0")
      return fail(EINVAL, "STDEV_DIM_1: STRIDED blocks would go beyond the smallest sizes");
    const auto stride = number(all, "STRIDE_SIZE");
    const auto block = number(all, "BLOCK_SIZE");
    const auto count = number(all, "BLOCK_CNT");
    if (block == 0 || count == 0 || stride < block)
      return fail(EINVAL,
                  "STRIDE_SIZE: STRIDED wants BLOCK_CNT blocks of BLOCK_SIZE, and a stride of at least that");
    if ((count - 1) * stride + block > number(all, "DIM_1"))
      return fail(EINVAL, "BLOCK_CNT: the blocks go beyond DIM_1");
  }
  if (option == "LDC" || option == "RDC" || option == "PRL" || option == "CS") {
    if (dims != 2) return fail(EINVAL, format_text("READ_OPTION: {} is for two dimensions", option));
    for (const auto* key : {"BLOCK_SIZE", "BLOCK_SIZE_2"}) {
      if (number(all, key) == 0) return fail(EINVAL, format_text("{}: {} needs it", key, option));
    }
    const bool fits = number(all, "BLOCK_SIZE") <= number(all, "DIM_1") &&
                      number(all, "BLOCK_SIZE_2") <= number(all, "DIM_2");
    if (!fits) return fail(EINVAL, "BLOCK_SIZE: the block is larger than the array");
  }
  if (number(all, "TO_READ_NUM_PARTICLES") == 0) all["TO_READ_NUM_PARTICLES"] = all["DIM_1"];
  if (number(all, "TO_READ_NUM_PARTICLES") > number(all, "DIM_1"))
    return fail(EINVAL, "TO_READ_NUM_PARTICLES: there are only DIM_1 of them");
  all["WRITTEN"] = written_layer(all);
  all["OVERWRITTEN"] = "";
  return {};
}

Status check_metadata(Texts& all) {
  FOREBAY_TRY(not_zero(all, {"steps", "arrays", "rows", "columns", "process-rows", "process-columns"}));
  const auto rank = number(all, "dataset-rank");
  if (rank < 2 || rank > 4) return fail(EINVAL, "dataset-rank: 2, 3 or 4 are possible");
  all["COLLECTIVE_DATA"] = all["mpi-io"] == "collective" ? "1" : "0";
  return {};
}

Status check_e3sm(Texts& all, const Texts& given) {
  // h5bench names a file of a decomposition: only its case is taken.
  for (const auto* key : {"i", "map", "netcdf"}) {
    if (given.contains("case")) break;
    if (all[key].contains("g_case")) all["case"] = "G";
    if (all[key].contains("i_case")) all["case"] = "I";
  }
  if (number(all, "variables") == 0)
    all["variables"] = all["case"] == "F" ? "388" : all["case"] == "G" ? "52" : "560";
  return {};
}

Status check_dlio(Texts& all, const Texts& given) {
  FOREBAY_TRY(not_zero(all, {"record-length", "num-files-train", "num-samples-per-file", "batch-size",
                             "batch-size-eval", "chunk-size", "epochs-between-evals"}));
  FOREBAY_TRY(not_asked(given, {"subfiling"}, "it is not done here"));
  if (all["generate-data"] == "0" && all["train"] == "0" && all["evaluation"] == "0")
    return fail(EINVAL, "train: there is nothing to be done");
  if (number(all, "compression-level") > 9) return fail(EINVAL, "compression-level: 0 to 9 are possible");
  if (number(all, "read-threads") > 64) return fail(EINVAL, "read-threads: 64 are possible");
  all["COLLECTIVE_DATA"] = all["collective-data"];
  all["COLLECTIVE_METADATA"] = all["collective-meta"];
  // Ranks read together, or their workers for themselves. Where both are asked for, as in h5bench's own
  // files, there are workers.
  const bool together = all["COLLECTIVE_DATA"] == "1" || all["COLLECTIVE_METADATA"] == "1";
  const bool reads = all["train"] == "1" || all["evaluation"] == "1";
  if (!given.contains("read-threads") && together) all["read-threads"] = "0";
  if (reads && all["generate-data"] == "0" && number(all, "read-threads") != 0)
    all["COLLECTIVE_DATA"] = all["COLLECTIVE_METADATA"] = "0";
  return {};
}

Status check_amrex(Texts& all, const Texts& given) {
  FOREBAY_TRY(not_zero(all, {"ncells", "max_grid_size", "nlevs", "ncomp", "nplotfile"}));
  FOREBAY_TRY(not_asked(given, {"grids_from_file", "ref_ratio_file"}, "no grids are read from files here"));
  return not_asked(given, {"hdf5compression"}, kLossy);
}

// As many counts as there are dimensions.
Status counts_for(const Texts& all, const char* key, std::uint64_t dimensions) {
  std::istringstream words(all.at(key));
  std::uint64_t found = 0;
  for (std::uint64_t one = 0; words >> one; ++found) {
    if (one == 0) return fail(EINVAL, format_text("{}: 0 is too small", key));
  }
  if (found < dimensions) return fail(EINVAL, format_text("{}: a count for each dimension is wanted", key));
  return {};
}

Status check_exerciser(Texts& all, const Texts& given) {
  const auto dimensions = number(all, "numdims");
  if (dimensions < 1 || dimensions > 4) return fail(EINVAL, "numdims: 1 to 4 are possible");
  FOREBAY_TRY(counts_for(all, "minels", dimensions));
  FOREBAY_TRY(counts_for(all, "bufmult", dimensions));
  if (given.contains("dimranks")) FOREBAY_TRY(counts_for(all, "dimranks", dimensions));
  FOREBAY_TRY(not_zero(all, {"nsizes", "iterations"}));
  FOREBAY_TRY(not_asked(given, {"memblock", "memstride", "fileblocks", "filestrides"},
                        "blocks and strides are not done here (write has STRIDED)"));
  all["COLLECTIVE_DATA"] = all["indepio"] == "1" ? "0" : "1";
  all["COLLECTIVE_METADATA"] = all["metacoll"];
  return {};
}

// "MIF 8" or "SIF", into a word and a number of files.
Status check_macsio(Texts& all) {
  FOREBAY_TRY(not_zero(all, {"part_size", "avg_num_parts", "num_dumps", "vars_per_part"}));
  if (number(all, "part_size") % 8 != 0) return fail(EINVAL, "part_size: a multiple of 8 is wanted");
  std::istringstream words(all["parallel_file_mode"]);
  std::string mode;
  std::uint64_t files = 1;
  words >> mode;
  if (mode == "MIF") words >> files;
  if ((mode != "MIF" && mode != "SIF") || words.fail() || files == 0)
    return fail(EINVAL, format_text("parallel_file_mode: \"{}\" is not MIF and a number of files, or SIF",
                                    all["parallel_file_mode"]));
  all["FILES"] = std::to_string(files);
  all["SHARED"] = mode == "SIF" ? "1" : "0";
  return {};
}

Status check_openpmd(Texts& all) {
  const auto dim = number(all, "dim");
  if (dim < 1 || dim > 3) return fail(EINVAL, "dim: 1, 2 or 3 are possible");
  FOREBAY_TRY(counts_for(all, "minBlock", dim));
  return counts_for(all, "grid", dim);
}

// What is counted as an int by whom it is handed to.
Status check_mpiio(const Texts& all) {
  FOREBAY_TRY(not_zero(all, {"operations", "size"}));
  if (number(all, "size") > std::numeric_limits<int>::max())
    return fail(EINVAL, "size: MPI takes less than 2 G at once");
  return {};
}

}  // namespace

std::string written_layer(const Texts& all) {
  if (all.at("FILE_PATTERN") != "STRIDED") return "all";
  return format_text("{} {} {}", all.at("STRIDE_SIZE"), all.at("BLOCK_SIZE"), all.at("BLOCK_CNT"));
}

Result<std::string> plain_value(const Key& key, const std::string& text) {
  switch (key.kind) {
    case kCount:
      return count_value(key, text);
    case kCounts:
      return counts_value(key, text);
    case kLimit:
      return text == "-1" ? text : count_value(key, text);
    case kSeconds:
      return seconds_value(key, text);
    case kReal:
      return real_value(key, text);
    case kFlag:
      return flag_value(key, text);
    case kWord:
      return word_value(key, text);
    case kText:
      return text;
  }
  return text;
}

Result<Texts> complete(std::string_view kernel, const Texts& given) {
  const auto keys = keys_of(kernel);
  for (const auto& [name, value] : given) {
    if (std::ranges::find(keys, name, &Key::name) == keys.end())
      return fail(EINVAL, format_text("{}: {} has no such key", name, kernel));
  }
  Texts all;
  for (const auto& key : keys) {
    const auto found = given.find(std::string(key.name));
    if (found == given.end() && key.usual.empty() && key.kind != kText)
      return fail(EINVAL, format_text("{}: it must be given", key.name));
    FOREBAY_ASSIGN(all[std::string(key.name)],
                   plain_value(key, found == given.end() ? std::string(key.usual) : found->second));
  }
  if (all.contains("MEM_PATTERN")) FOREBAY_TRY(check_particles(kernel, all));
  if (kernel == "metadata") FOREBAY_TRY(check_metadata(all));
  if (kernel == "amrex") FOREBAY_TRY(check_amrex(all, given));
  if (kernel == "openpmd") FOREBAY_TRY(check_openpmd(all));
  if (kernel == "e3sm") FOREBAY_TRY(check_e3sm(all, given));
  if (kernel == "dlio") FOREBAY_TRY(check_dlio(all, given));
  if (kernel == "exerciser") FOREBAY_TRY(check_exerciser(all, given));
  if (kernel == "macsio") FOREBAY_TRY(check_macsio(all));
  if (kernel == "mpiio") FOREBAY_TRY(check_mpiio(all));
  if (kernel == "posix") FOREBAY_TRY(not_zero(all, {"size", "transfer"}));
  return all;
}

}  // namespace forebay
