// h5_matrix run OPTION=VALUE...: exercises HDF5 and logs all it answers, in the directory it is told.
// h5_matrix dump FILE: prints what a file holds.
// h5_matrix extents FILE: prints where its raw data lie, unused parts of chunks included: offset and length.
//
// It knows of no connector: what the environment chooses is what it runs with.
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>

#include "hdf5/matrix/scenario.hpp"

namespace {

using namespace forebay::testing::matrix;

int usage() {
  std::fprintf(
      stderr,
      "usage: h5_matrix run directory=DIR [driver=sec2|stdio|core|family|split|log|mpio]\n"
      "         [format=default|latest|userblock|paged|pagebuffer] [transfer=independent|collective]\n"
      "         [metadata=independent|collective] [thin=N] [seed=N] [only=matrix|extras]\n"
      "       h5_matrix dump|extents FILE\n");
  return 2;
}

bool parse(int argc, char** argv, Options& options, std::string& only) {
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    const auto equals = word.find('=');
    if (equals == std::string::npos) return false;
    const auto key = word.substr(0, equals);
    const auto value = word.substr(equals + 1);
    if (key == "directory")
      options.directory = value;
    else if (key == "driver")
      options.driver = value;
    else if (key == "format")
      options.format = value;
    else if (key == "transfer")
      options.transfer = value;
    else if (key == "metadata")
      options.collective_metadata = options.collective_metadata_writes = value == "collective";
    else if (key == "metadata_reads")
      options.collective_metadata = value == "collective";
    else if (key == "thin")
      options.thin = static_cast<unsigned>(std::stoul(value));
    else if (key == "seed")
      options.seed = std::stoull(value);
    else if (key == "only")
      only = value;
    else
      return false;
  }
  return !options.directory.empty();
}

int run(const Ranks& ranks, Options options, const std::string& only) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  // Paths are relative, so that none of them ends up in a file.
  std::string directory = options.directory;
  if (options.driver != "mpio" && ranks.size() > 1) directory += "/" + std::to_string(ranks.rank());
  std::filesystem::create_directories(directory);
  if (::chdir(directory.c_str()) != 0) return 2;
  Session session(options, ranks, std::format("log.{}", ranks.rank()));
  if (only != "extras") run_matrix(session);
  if (only != "matrix") run_extras(session);
  session.log.line("end");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "dump") == 0) return dump(argv[2]);
  if (argc == 3 && std::strcmp(argv[1], "extents") == 0) return print_extents(argv[2]);
  if (argc < 3 || std::strcmp(argv[1], "run") != 0) return usage();
  Ranks ranks(&argc, &argv);
  Options options;
  std::string only;
  if (!parse(argc, argv, options, only)) return usage();
  ranks.use(options);
  return run(ranks, options, only);
}
