// Layout x type x selection x driver x order, natively and with the door: what programs see, and what is in
// the files in the end, must be the same. tests/hdf5/matrix is the program.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/format.hpp"
#include "support/door_run.hpp"
#include "support/node.hpp"
#include "support/scale.hpp"

namespace forebay::testing {
namespace {

struct Variant {
  const char* name;
  const char* flavour;
  int ranks;
  Door door;
  const char* options;  // of h5_matrix, separated by spaces
};

// Where drivers and formats differ, so do the selections: each variant has a seed of its own.
constexpr Variant kVariants[] = {
    {"serial", "serial", 1, Door::kConnector, "seed=1"},
    {"serial_latest", "serial", 1, Door::kConnector, "format=latest seed=2"},
    {"serial_user_block", "serial", 1, Door::kConnector, "format=userblock seed=3"},
    {"serial_paged", "serial", 1, Door::kConnector, "format=paged seed=4"},
    {"serial_page_buffer", "serial", 1, Door::kConnector, "format=pagebuffer seed=5"},
    {"serial_driver_alone", "serial", 1, Door::kDriver, "seed=6"},
    {"serial_cache_name", "serial", 1, Door::kCacheName, "seed=7 thin=5"},
    {"serial_stdio", "serial", 1, Door::kConnector, "driver=stdio seed=8 thin=5"},
    {"serial_core", "serial", 1, Door::kConnector, "driver=core seed=9 thin=5"},
    {"serial_family", "serial", 1, Door::kConnector, "driver=family seed=10 thin=5"},
    {"serial_split", "serial", 1, Door::kConnector, "driver=split seed=11 thin=5"},
    {"serial_log", "serial", 1, Door::kConnector, "driver=log seed=12 thin=5"},
    {"mpich_files_of_their_own", "mpich", 2, Door::kConnector, "seed=13 thin=5"},
    {"mpich_independent", "mpich", 2, Door::kConnector, "driver=mpio seed=14 thin=5"},
    {"mpich_collective", "mpich", 3, Door::kConnector, "driver=mpio transfer=collective seed=15 thin=11"},
    {"mpich_collective_metadata", "mpich", 2, Door::kConnector,
     "driver=mpio transfer=collective metadata=collective seed=16 thin=7"},
    {"mpich_latest", "mpich", 3, Door::kConnector, "driver=mpio format=latest seed=17 thin=11"},
    {"mpich_user_block", "mpich", 2, Door::kConnector,
     "driver=mpio transfer=collective format=userblock seed=18 thin=7"},
    {"mpich_paged", "mpich", 2, Door::kConnector, "driver=mpio format=paged seed=19 thin=5"},
    {"openmpi_independent", "openmpi", 3, Door::kConnector, "driver=mpio seed=20 thin=7"},
    {"openmpi_collective", "openmpi", 2, Door::kConnector, "driver=mpio transfer=collective seed=21 thin=7"},
    {"openmpi_collective_metadata", "openmpi", 3, Door::kConnector,
     "driver=mpio transfer=collective metadata=collective format=latest seed=22 thin=11"},
    {"openmpi_user_block", "openmpi", 2, Door::kConnector, "driver=mpio format=userblock seed=23 thin=5"},
    {"mpich_mpiio_door", "mpich", 2, Door::kMpiio, "driver=mpio transfer=collective seed=24 thin=11"},
    {"openmpi_mpiio_door", "openmpi", 2, Door::kMpiio, "driver=mpio seed=25 thin=11"},
};

// HDF5 puts bytes of no meaning into files with variable-length data: those are compared by what they hold.
bool beyond_bytes(const std::string& name) { return name.contains("heap.h5") || name.ends_with("connector"); }
// And into the unused part of every page, where it keeps pages, and of parallel files in the latest format.
bool beyond_bytes_in_pages(const std::string& name) { return name.ends_with(".h5") || beyond_bytes(name); }

class Hdf5Matrix : public ::testing::TestWithParam<Variant> {
 protected:
  // Runs h5_matrix into `directory`; an error, or nothing.
  std::string run_into(const DoorRun& door, Door how, const std::string& directory,
                       const std::string& options) {
    std::filesystem::create_directory(directory);
    Words command{hdf5_program("h5_matrix", GetParam().flavour), "run", "directory=" + directory};
    std::istringstream split(options);
    for (std::string word; split >> word;) command.push_back(word);
    const auto ran = door.run(how, directory, door.on_ranks(GetParam().ranks, command), scaled(110u, 3600u));
    if (ran.code == 0) return "";
    return format_text("h5_matrix {}: exit {} signal {}; {}\n{}", options, ran.code, ran.signal,
                       last_line(directory), ran.err.substr(0, 4000));
  }
  static std::string last_line(const std::string& directory) {
    std::string answer;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
      const auto name = entry.path().filename().string();
      if (!name.starts_with("log.")) continue;
      const auto text = slurp(entry.path());
      const auto end = text.find_last_of('\n', text.size() < 2 ? 0 : text.size() - 2);
      answer += name + " ends with: " + text.substr(end == std::string::npos ? 0 : end + 1);
    }
    return answer;
  }
  static bool has(std::string_view word) {
    return std::string_view(GetParam().options).find(word) != std::string_view::npos;
  }
  // Options under which what HDF5 loses by itself (the scenario opens a file twice, and it is cut) reads as
  // zeros: where metadata are written collectively, ROMIO also writes what lies between, and beyond the end
  // of the file from memory that it never filled.
  static std::string sound(std::string options) {
    const std::string_view together = "metadata=collective";
    const auto at = options.find(together);
    return at == std::string::npos ? options
                                   : options.replace(at, together.size(), "metadata_reads=collective");
  }
  // What the file holds (dump), or where its raw data lie (extents), seen natively.
  static std::string ask(const char* what, const std::string& file) {
    const DoorRun native("serial");
    return native.run(Door::kNone, "/", {hdf5_program("h5_matrix", "serial"), what, file}).out;
  }
  // Every byte of raw data, unused parts of chunks included.
  static void compare_raw_data(const std::string& left, const std::string& right) {
    const auto extents = ask("extents", left);
    EXPECT_EQ(different_lines(extents, ask("extents", right)), "") << left;
    const auto one = slurp(left);
    const auto other = slurp(right);
    std::istringstream lines(extents);
    std::size_t compared = 0;
    for (std::size_t offset = 0, size = 0; lines >> offset >> size; compared += size) {
      ASSERT_LE(offset + size, one.size());
      ASSERT_LE(offset + size, other.size());
      EXPECT_TRUE(one.substr(offset, size) == other.substr(offset, size))
          << left << ": raw data at " << offset << " of " << size << " bytes";
    }
    EXPECT_NE(compared, 0u) << left;
  }
  // Of what the door was handed: staged, and kept of what was read.
  static std::uint64_t counted(const DoorRun& door, const std::string& figure) {
    const auto status = door.forebay({"status", "--json"}).out;
    const auto value =
        json_value(status, "d['buffers'][0]['totals']['" + figure + "'] if d['buffers'] else 0");
    return std::stoull(value);
  }
  static bool is_buffered(const Variant& variant) {
    if (variant.door == Door::kCacheName) return false;  // off until it is asked for
    return !has("driver=") || has("driver=mpio");
  }
  void compare(const std::string& left, const std::string& right) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(left)) {
      const auto name = std::filesystem::relative(entry.path(), left).string();
      const auto file = entry.path().filename().string();
      if (file.starts_with("log.")) {
        EXPECT_EQ(different_lines(slurp(entry.path()), slurp(right + "/" + name)), "") << name;
      }
      if (file.ends_with(".h5") && !has("split") && !has("family")) {
        EXPECT_EQ(different_lines(ask("dump", entry.path()), ask("dump", right + "/" + name)), "") << name;
        // Raw data with pointers are bytes of no meaning.
        if (has("mpio") && !beyond_bytes(file)) compare_raw_data(entry.path(), right + "/" + name);
      }
    }
    // On MPI-IO free space differs from run to run, natively, too: where ranks write filtered chunks
    // together, ROMIO reads what lies between them and writes it back, whoever has written there since.
    if (has("mpio")) return;
    EXPECT_EQ(different_files(left, right, has("page") ? beyond_bytes_in_pages : beyond_bytes), "");
  }
};

TEST_P(Hdf5Matrix, IsAsNatively) {
  const auto& variant = GetParam();
  const DoorRun door(variant.flavour);
  if (const auto why = door.missing(); !why.empty()) GTEST_SKIP() << why;
  const TemporaryDirectory place;
  std::string options = variant.options;
  // In the night, everything, with other selections each time.
  if (nightly()) options += " thin=1";
  for (unsigned round = 0; round < scaled(1u, 6u); ++round) {
    const auto left = place.file(format_text("native{}", round));
    const auto right = place.file(format_text("door{}", round));
    const auto these = options + (round == 0 ? "" : format_text(" seed={}", 100 + round));
    ASSERT_EQ(run_into(door, Door::kNone, left, sound(these)), "");
    ASSERT_EQ(run_into(door, variant.door, right, these), "");
    const auto first = std::filesystem::exists(right + "/connector") ? right : right + "/0";
    EXPECT_EQ(slurp(first + "/connector"), DoorRun::connector_name(variant.door) + "\n");
    compare(left, right);
  }
  if (is_buffered(variant)) {
    EXPECT_GT(counted(door, "staged_bytes"), 0u) << "nothing was buffered";
    EXPECT_GT(counted(door, "hit_bytes"), 0u) << "nothing was read from the buffer";
  } else {
    EXPECT_EQ(counted(door, "staged_bytes"), 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Hdf5Matrix, ::testing::ValuesIn(kVariants),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace forebay::testing
