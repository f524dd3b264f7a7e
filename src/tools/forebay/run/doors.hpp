// Which doors can be opened for a command, and the variables that open them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/environment.hpp"
#include "tools/forebay/run/program.hpp"

namespace forebay {

struct Doors {
  bool posix = true;
  bool mpiio = true;
  bool hdf5 = true;
};

// "hdf5,mpiio,posix"; EINVAL for another word.
Result<Doors> parse_doors(std::string_view text);

// Where the doors' libraries lie.
struct DoorPlaces {
  std::string libraries;  // libforebay_posix.so, libforebay_mpiio_<flavour>.so
  std::string plugins;    // one folder for each flavour of HDF5

  // Beside this program, as it was built or installed.
  static DoorPlaces beside_this_program();
};

// What is opened, in words for people: "posix", "mpiio (mpich)", "hdf5 (serial)".
struct Opened {
  std::vector<std::string> doors{};
  std::vector<std::string> remarks{};  // why one that was asked for is not among them
};

// The command as it was given, and what its words will run: the program itself first, then, if that is one
// that starts another (mpiexec, env, nice ...), the other one.
struct Command {
  std::vector<std::string> words;
  std::vector<Program> programs;
};
Command examine_command(const std::vector<std::string>& words, const std::string& program,
                        std::string_view path_variable);

// Adds to `variables` what opens the doors for the command. A library of the wrong flavour would end the
// program: where the flavour is not known, or the user has chosen a connector already, a door stays closed.
Opened open_doors(const Doors& wanted, const DoorPlaces& places, const Command& command,
                  Environment::Variables& variables);

// The MPI whose launcher this program is: mpich or openmpi; empty when it is none, or it cannot be told.
std::string mpi_of_launcher(const std::string& program);

// A value of LD_PRELOAD without the libraries of doors.
std::string without_doors(std::string_view preloaded);

// Programs of the command that no preloaded library sees, in words: "./a.out is linked statically".
std::vector<std::string> unseen_programs(const Command& command);

}  // namespace forebay
