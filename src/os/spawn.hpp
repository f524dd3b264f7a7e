// Starting a program that outlives this process.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace forebay {

// Starts `program` (a path, or a name to be looked for in PATH) in a session of its own, with no descriptor
// of this process, its three standard ones on /dev/null, and the usual signal dispositions. The program is
// one that puts itself into the background: it is waited for, and so leaves no zombie. ECHILD: it could not
// begin (ended with another status than 0). ETIMEDOUT: it does not say. Safe beside other threads.
Status spawn_detached(const std::string& program, const std::vector<std::string>& arguments,
                      const std::vector<std::string>& environment, std::chrono::milliseconds patience);

// The folder of the library or program that this code is part of. Empty when it is not known.
std::string own_folder();

}  // namespace forebay
