// Which HDF5 a Python program would get from h5py, without asking Python, which takes too long.
#pragma once

#include <string>
#include <vector>

#include "config/environment.hpp"

namespace forebay {

// The libraries that the h5py which `python` would import needs. Empty when there is none, or when packages
// that bring an HDF5 of their own lie beside it. `ranks`: it will run as a rank of an MPI program.
std::vector<std::string> libraries_of_h5py(const std::string& python, const Environment::Variables& variables,
                                           bool ranks);

}  // namespace forebay
