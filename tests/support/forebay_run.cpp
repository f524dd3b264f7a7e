#include "support/forebay_run.hpp"

#include <stdlib.h>

#include <fstream>
#include <iterator>
#include <stdexcept>

#include "support/places.hpp"

namespace forebay::testing {
namespace {

std::string make_folder(std::string path) {
  path += "/forebay-posix-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) throw std::runtime_error("cannot make " + path);
  return path;
}

}  // namespace

std::string slurp(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

PosixPlace::PosixPlace()
    : root_(make_folder(std::filesystem::canonical("."))),
      memory_(make_folder("/dev/shm")),
      home_(root_ + "/homes") {
  std::filesystem::create_directory(home_);
  std::filesystem::create_directory(plain());
}

PosixPlace::~PosixPlace() {
  std::error_code ignored;
  std::filesystem::remove_all(root_, ignored);
  std::filesystem::remove_all(memory_, ignored);
}

std::string PosixPlace::program() { return built("src/tools/forebay/forebay"); }

std::vector<std::string> PosixPlace::words(const std::vector<std::string>& command,
                                           const std::vector<std::string>& settings) const {
  std::vector<std::string> all{"run",
                               "--doors",
                               "posix",
                               "--home",
                               home_,
                               "--report",
                               root_ + "/report.json",
                               "--set",
                               "buffer.directory=" + memory_ + "/control",
                               "--set",
                               "tiers=memory:" + memory_ + ":64MiB",
                               "--set",
                               "log.level=warn"};
  for (const auto& one : settings) all.insert(all.end(), {"--set", one});
  all.emplace_back("--");
  all.insert(all.end(), command.begin(), command.end());
  return all;
}

Ran PosixPlace::run(const std::vector<std::string>& command, const std::vector<std::string>& settings) const {
  return testing::run(program(), words(command, settings));
}

std::string PosixPlace::reported(const std::string& expression) const {
  return json_value(slurp(root_ + "/report.json"), expression);
}

}  // namespace forebay::testing
