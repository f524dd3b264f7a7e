// What the connector knows of a file that is open through it, shared by all objects of the file.
#pragma once

#include <hdf5.h>

#include <memory>
#include <string>

#include "door/hdf5/driver.hpp"
#include "door/hdf5/info.hpp"
#include "session/session.hpp"

namespace forebay::hdf5 {

// How a file's bytes travel.
enum class Way {
  kDriver,    // our file driver stands in the POSIX driver's place
  kParallel,  // MPI-IO: datasets that can be resolved into extents go through the buffer
  kPassed,    // another driver: the connector below does everything
};

class FileState {
 public:
  FileState(Way way, ConnectorInfo info) : way_(way), info_(std::move(info)) {}
  [[nodiscard]] Way way() const { return way_; }
  [[nodiscard]] const ConnectorInfo& info() const { return info_; }

 private:
  const Way way_;
  const ConnectorInfo info_;
};

// Which way a file opened with this list goes, and the list for the connector below: `fapl` with that
// connector in it, and our driver where it serves. H5I_INVALID_HID: failed, with an entry on the error stack.
// The caller closes it.
struct Below {
  hid_t fapl;
  Way way;
};
[[nodiscard]] Below below(hid_t fapl, const ConnectorInfo& info);

// The driver's file of an open file; null if our driver does not serve it.
[[nodiscard]] DriverFile* driver_file(void* under_file, hid_t connector);

}  // namespace forebay::hdf5
