// What `forebay bench` is to run, as data: see docs/bench.md for the files it comes from.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace forebay {

using Texts = std::map<std::string, std::string>;

// One side of a comparison.
struct Way {
  enum class Kind {
    kNative,     // the kernel by itself
    kForebay,    // under `forebay run`
    kConnector,  // with another HDF5 VOL connector
    kNull,       // nothing is transferred: what is left is the kernel's own cost
  };
  Kind kind = Kind::kNative;
  std::string name = "native";
  Texts settings{};         // of Forebay
  std::string doors{};      // of Forebay; empty: all
  std::string connector{};  // HDF5_VOL_CONNECTOR
  std::string plugins{};    // HDF5_PLUGIN_PATH
  std::string libraries{};  // LD_LIBRARY_PATH
  std::string preload{};    // LD_PRELOAD
};

// How ranks are started.
struct Launch {
  std::string flavour = "serial";    // of HDF5: serial, mpich, openmpi
  std::vector<std::string> words{};  // what stands before the program; none: it is started by itself
  unsigned ranks = 1;
};

struct Workload {
  std::string name;
  std::string kernel;
  std::string title{};
  std::string file;       // its name in the home
  Texts given{};          // the configuration as it was written
  Texts configuration{};  // checked, in plain numbers, with what was not said
  Launch launch{};
  std::vector<Way> ways{};
  std::optional<unsigned> rounds{};
  std::string group{};
  std::variant<std::monostate, double, std::string> x{};
  std::string x_name{};
  std::string published{};
  std::string csv{};   // path; empty: none
  bool fresh = false;  // what earlier workloads left in the file is not what this one wants
};

// Where files lie.
struct HomeChoice {
  std::string directory{};  // empty: a slowfs of our own
  std::uint64_t read_bandwidth = 400'000'000;
  std::uint64_t write_bandwidth = 200'000'000;
  std::uint64_t latency_ns = 1'000'000;
};

// One file.
struct Suite {
  std::vector<Workload> workloads{};
  std::optional<HomeChoice> home{};
};

}  // namespace forebay
