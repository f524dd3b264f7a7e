// What HDF5 left in a transfer list after a transfer, and how ranks print.
#pragma once

#include <hdf5.h>

#include <string>

namespace forebay::testing::ranks {

// All ranks' lines, in their order, by the first one.
void print_in_turn(const std::string& line);
std::string told(hid_t list);

}  // namespace forebay::testing::ranks
