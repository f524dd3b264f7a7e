// For tests of doors: programs run as they are, once by themselves and once with a door switched on by
// nothing but the environment, each with a buffer of its own.
//
// FOREBAY_TEST_HDF5_CONNECTOR puts another connector string in the door's place: "native" runs both sides
// natively, and HDF5's own "pass_through under_vol=0;under_info={}" tells what comes of any connector.
#pragma once

#include <string>
#include <vector>

#include "os/temporary_directory.hpp"
#include "support/command.hpp"

namespace forebay::testing {

using Words = std::vector<std::string>;

// How the door is switched on.
// kMpiio: the MPI-IO door instead of HDF5's, for files below the directory in which a program runs.
enum class Door { kNone, kConnector, kDriver, kCacheName, kMpiio };

class DoorRun {
 public:
  // `more`: further variables, as NAME=VALUE.
  explicit DoorRun(std::string flavour, Words more = {});

  // Why the door cannot be tested here, or nothing.
  [[nodiscard]] std::string missing() const;

  // Runs `command` in `directory`; after `seconds` it is ended (code 124, or 137 if it does not listen).
  [[nodiscard]] Ran run(Door door, const std::string& directory, const Words& command,
                        unsigned seconds = 110) const;
  // The words that do that, for a test that wants to watch it or kill it.
  [[nodiscard]] Words words(Door door, const std::string& directory, const Words& command,
                            unsigned seconds = 110) const;
  // `command` on so many ranks; by itself on the serial flavour.
  [[nodiscard]] Words on_ranks(int ranks, const Words& command) const;
  // The same, the ranks dealt out to so many nodes: buffers, each of which is all that its ranks know of.
  [[nodiscard]] Words on_nodes(int nodes, int ranks, const Words& command) const;

  // `forebay` upon the buffer of a node.
  [[nodiscard]] Ran forebay(const Words& arguments, int node = 0) const;
  [[nodiscard]] const std::string& flavour() const { return flavour_; }
  [[nodiscard]] static std::string plugins(const std::string& flavour);
  // What H5VLget_connector_name says with the door switched on that way.
  [[nodiscard]] static std::string connector_name(Door door);

 private:
  [[nodiscard]] Words buffer(int node = 0) const;
  [[nodiscard]] Words switches(Door door, const std::string& directory) const;

  std::string flavour_;
  Words more_;
  TemporaryDirectory memory_{"/dev/shm"};
};

// A program of tests/hdf5.
[[nodiscard]] std::string hdf5_program(const std::string& name, const std::string& flavour);

// The files below two directories that differ or are there only once; empty if none. Names for which `skip`
// is true are not looked at.
[[nodiscard]] std::string different_files(const std::string& left, const std::string& right,
                                          bool (*skip)(const std::string& name));
// A whole file; nothing if it is not there.
[[nodiscard]] std::string slurp(const std::string& path);
// The first lines in which two texts differ; empty if they do not.
[[nodiscard]] std::string different_lines(const std::string& left, const std::string& right);

}  // namespace forebay::testing
