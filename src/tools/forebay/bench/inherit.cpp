#include "tools/forebay/bench/inherit.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>

#include "tools/forebay/bench/keys.hpp"

namespace forebay {
namespace {

bool finds_a_file(std::string_view kernel) {
  return kernel == "read" || kernel == "overwrite" || kernel == "append";
}

// Of these the file's form is made.
constexpr auto kFormKeys = std::to_array<const char*>(
    {"COMPRESS", "COMPRESS_FILTER", "CHUNK_DIM_1", "CHUNK_DIM_2", "CHUNK_DIM_3", "FILE_PER_PROC"});

bool same(const Texts& one, const Texts& other, std::initializer_list<const char*> keys) {
  return std::ranges::all_of(keys, [&](const char* key) { return one.at(key) == other.at(key); });
}

// Do the files that an earlier workload left have the arrays that this one finds or makes?
bool same_arrays(const Workload& earlier, const Workload& later) {
  const auto& a = earlier.configuration;
  const auto& b = later.configuration;
  const auto dims = std::stoul(b.at("NUM_DIMS"));
  return earlier.launch.ranks == later.launch.ranks && same(a, b, {"NUM_DIMS", "DIM_1"}) &&
         (dims < 2 || same(a, b, {"DIM_2"})) && (dims < 3 || same(a, b, {"DIM_3"})) &&
         std::stoull(a.at("TIMESTEPS")) >= std::stoull(b.at("TIMESTEPS")) && a.at("STDEV_DIM_1") == "0";
}

bool interleaved(const Texts& configuration) { return configuration.at("FILE_PATTERN") == "INTERLEAVED"; }

}  // namespace

void inherit_shape(const std::vector<Workload>& earlier, Workload& workload) {
  if (workload.kernel != "openpmd" || !workload.given.contains("operation")) return;
  if (workload.given.at("operation") != "read") return;
  for (const auto& one : earlier) {
    if (one.kernel != workload.kernel || one.file != workload.file) continue;
    for (const auto* key : {"dim", "balanced", "ratio", "steps", "minBlock", "grid"}) {
      if (const auto found = one.given.find(key); found != one.given.end()) workload.given.insert(*found);
    }
  }
}

Status inherit_file(const std::vector<Workload>& earlier, Workload& workload) {
  auto& own = workload.configuration;
  if (!own.contains("WRITTEN") || !finds_a_file(workload.kernel)) return {};
  const auto last = std::ranges::find_last_if(earlier, [&](const Workload& one) {
    return one.file == workload.file && one.configuration.contains("WRITTEN");
  });
  if (last.empty()) return {};
  const auto& found = last.front().configuration;
  workload.fresh = true;
  if (!same_arrays(last.front(), workload)) return {};
  auto given = workload.given;
  for (const auto* key : kFormKeys) given.insert({key, found.at(key)});
  if (interleaved(found)) given.insert({"FILE_PATTERN", "INTERLEAVED"});
  FOREBAY_ASSIGN(own, complete(workload.kernel, given));
  const bool unlimited = last.front().kernel == "write-unlimited" || found.contains("UNLIMITED");
  if (unlimited) own["UNLIMITED"] = "1";
  // Twice as long as any other kernel expects it.
  if (last.front().kernel == "append") return {};
  if (interleaved(own) != interleaved(found) || !same(own, found, {"FILE_PER_PROC"})) return {};
  workload.fresh = false;
  const bool writes = !finds_a_file(last.front().kernel);
  own["WRITTEN"] = writes ? written_layer(found) : found.at("WRITTEN");
  if (workload.kernel == "overwrite") return {};  // it must not find what it is to write
  own["OVERWRITTEN"] = last.front().kernel == "overwrite" ? written_layer(found) : found.at("OVERWRITTEN");
  return {};
}

}  // namespace forebay
