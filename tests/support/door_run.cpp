#include "support/door_run.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "base/format.hpp"
#include "support/places.hpp"

namespace forebay::testing {
namespace {

namespace fs = std::filesystem;

std::string other_connector() {
  const char* given = std::getenv("FOREBAY_TEST_HDF5_CONNECTOR");
  return given == nullptr ? "" : given;
}

void append(Words& words, const Words& more) { words.insert(words.end(), more.begin(), more.end()); }

}  // namespace

std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

DoorRun::DoorRun(std::string flavour, Words more) : flavour_(std::move(flavour)), more_(std::move(more)) {}

std::string DoorRun::plugins(const std::string& flavour) { return built("plugins/") + flavour; }

std::string DoorRun::connector_name(Door door) {
  if (const auto other = other_connector(); !other.empty()) return other.substr(0, other.find(' '));
  if (door == Door::kCacheName) return "cache_ext";
  return door == Door::kConnector ? "forebay" : "native";
}

std::string DoorRun::missing() const {
  if (!other_connector().empty() || fs::exists(plugins(flavour_))) return "";
  return "SKIPPED: there is no plugin in " + plugins(flavour_);
}

// Small buckets, so that small files have many; small tiers, so that there is pressure.
Words DoorRun::buffer(int node) const {
  const auto place = node == 0 ? memory_.path() : memory_.file(format_text("node{}", node));
  fs::create_directories(place);
  return {"FOREBAY_BUFFER_DIRECTORY=" + place + "/control", "FOREBAY_BUFFER_BUCKET_SIZE=16KiB",
          "FOREBAY_BUFFER_MAX_PROCESSES=64", "FOREBAY_TIERS=memory:" + place + ":64MiB"};
}

Words DoorRun::switches(Door door, const std::string& directory) const {
  const auto other = other_connector();
  if (door == Door::kNone || other == "native") return {};
  if (!other.empty()) return {"HDF5_VOL_CONNECTOR=" + other};
  Words words = buffer();
  if (door == Door::kMpiio) {
    words.push_back("LD_PRELOAD=" + built("lib/libforebay_mpiio_") + flavour_ + ".so");
    words.push_back("FOREBAY_HOMES=" + directory);
    // Most of these homes lie in memory, where the door does nothing unless it is told to.
    words.push_back("FOREBAY_ADMISSION_WRITE=always");
    append(words, more_);
    return words;
  }
  words.push_back("HDF5_PLUGIN_PATH=" + plugins(flavour_));
  if (door == Door::kConnector) words.push_back("HDF5_VOL_CONNECTOR=forebay");
  if (door == Door::kCacheName) words.push_back("HDF5_VOL_CONNECTOR=cache_ext");
  if (door == Door::kDriver) words.push_back("HDF5_DRIVER=forebay");
  append(words, more_);
  return words;
}

Words DoorRun::words(Door door, const std::string& directory, const Words& command, unsigned seconds) const {
  Words all{"-C", directory, "ASAN_OPTIONS=detect_leaks=0", "PYTHONDONTWRITEBYTECODE=1"};
  if (flavour_ == "openmpi") {
    append(all, {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_btl=self,sm",
                 "OMPI_MCA_mpi_yield_when_idle=1", "PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe"});
  }
  append(all, switches(door, directory));
  append(all, {"timeout", "--kill-after=5", std::to_string(seconds)});
  append(all, command);
  return all;
}

Words DoorRun::on_ranks(int ranks, const Words& command) const {
  if (flavour_ == "serial") return command;
  Words all{"mpiexec." + flavour_, "-n", std::to_string(ranks)};
  if (flavour_ == "openmpi") append(all, {"--oversubscribe", "--bind-to", "none"});
  append(all, command);
  return all;
}

Words DoorRun::on_nodes(int nodes, int ranks, const Words& command) const {
  if (nodes == 1) return on_ranks(ranks, command);
  std::string choose = format_text("case $((${{PMI_RANK:-$OMPI_COMM_WORLD_RANK}} % {})) in\n", nodes);
  for (int node = 0; node < nodes; ++node) {
    choose += format_text("{}) export", node);
    for (const auto& word : buffer(node)) choose += " " + word;
    choose += ";;\n";
  }
  Words all{"sh", "-c", choose + "esac\nexec \"$@\"", "sh"};
  append(all, command);
  return on_ranks(ranks, all);
}

Ran DoorRun::run(Door door, const std::string& directory, const Words& command, unsigned seconds) const {
  return testing::run("env", words(door, directory, command, seconds));
}

Ran DoorRun::forebay(const Words& arguments, int node) const {
  Words all = buffer(node);
  all.push_back(built("src/tools/forebay/forebay"));
  append(all, arguments);
  return testing::run("env", all);
}

std::string hdf5_program(const std::string& name, const std::string& flavour) {
  return built("tests/hdf5/") + name + "_" + flavour;
}

std::string different_files(const std::string& left, const std::string& right,
                            bool (*skip)(const std::string&)) {
  std::set<std::string> names;
  for (const auto& side : {left, right}) {
    for (const auto& entry : fs::recursive_directory_iterator(side)) {
      std::error_code leads_nowhere;
      if (entry.is_regular_file(leads_nowhere)) names.insert(fs::relative(entry.path(), side));
    }
  }
  std::string answer;
  for (const auto& name : names) {
    if (skip(name)) continue;
    const fs::path a = fs::path(left) / name;
    const fs::path b = fs::path(right) / name;
    if (!fs::exists(a) || !fs::exists(b)) {
      answer += format_text("{} is only in {}\n", name, fs::exists(a) ? left : right);
      continue;
    }
    const auto one = slurp(a);
    const auto other = slurp(b);
    if (one == other) continue;
    const auto at = std::ranges::mismatch(one, other).in1 - one.begin();
    answer +=
        format_text("{} differs from byte {} on ({} and {} bytes)\n", name, at, one.size(), other.size());
  }
  return answer;
}

std::string different_lines(const std::string& left, const std::string& right) {
  std::istringstream a(left);
  std::istringstream b(right);
  std::string answer;
  std::string one;
  std::string other;
  for (int number = 1, shown = 0; shown < 10; ++number) {
    const bool more = static_cast<bool>(std::getline(a, one));
    const bool too = static_cast<bool>(std::getline(b, other));
    if (!more && !too) break;
    if (more && too && one == other) continue;
    answer += format_text("line {}\n  natively: {}\n  with it:  {}\n", number, more ? one : "(nothing)",
                          too ? other : "(nothing)");
    ++shown;
    if (!more || !too) break;
  }
  return answer;
}

}  // namespace forebay::testing
