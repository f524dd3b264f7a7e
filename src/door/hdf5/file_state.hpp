// What the connector knows of a file that is open through it, shared by all objects of the file.
#pragma once

#include <hdf5.h>

#include <memory>
#include <string_view>

#include "door/hdf5/driver.hpp"
#include "door/hdf5/file_wishes.hpp"
#include "door/hdf5/info.hpp"
#include "door/hdf5/parallel_file.hpp"
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
  // `under_file` was opened that way by the connector below.
  FileState(Way way, void* under_file, hid_t connector, Membership membership);
  FileState(const FileState&) = delete;
  FileState& operator=(const FileState&) = delete;
  ~FileState();

  [[nodiscard]] Way way() const { return way_; }
  // The connector below; referred to as long as an object of the file is.
  [[nodiscard]] hid_t connector() const { return connector_; }
  // The driver's file; null if our driver does not serve it. HDF5 keeps it open while an object of the file
  // is.
  [[nodiscard]] DriverFile* driver() const { return driver_; }

  // The engine beside HDF5's MPI-IO; null if the file is HDF5's alone.
  [[nodiscard]] const std::shared_ptr<ParallelFile>& parallel() const { return parallel_; }
  void set_parallel(std::shared_ptr<ParallelFile> file);

  // HDF5's number of the file it lies in: that of another file where a link or a mount led there.
  [[nodiscard]] unsigned long number() const { return number_; }

  // How the bytes fare that were written so far; null if they are not buffered.
  [[nodiscard]] std::shared_ptr<Fate> fate() const;

  // Did the program ask for metadata to be written collectively? (B8: they are not.)
  [[nodiscard]] bool asked_to_write_together() const { return asked_to_write_together_; }
  void set_asked_to_write_together(bool asked) { asked_to_write_together_ = asked; }

  // Did it ask for our driver by itself?
  [[nodiscard]] bool asked_for_driver() const { return asked_for_driver_; }
  void set_asked_for_driver(bool asked) { asked_for_driver_ = asked; }

  // Something of it is left to home.
  void note_passed(std::string_view why) const;

 private:
  const Way way_;
  const hid_t connector_;
  const Membership membership_;
  DriverFile* const driver_;
  const unsigned long number_;
  bool asked_to_write_together_ = false;
  bool asked_for_driver_ = false;
  std::shared_ptr<ParallelFile> parallel_{};
  std::shared_ptr<Fate> parallel_fate_{};
};

// The engine's part of the file that a dataset really lies in, whatever the object it was reached by; null if
// the engine does not serve that one. Where HDF5 reads metadata collectively, this is collective.
[[nodiscard]] std::shared_ptr<ParallelFile> parallel_file_of(void* dataset, const FileState& reached_by);

// Our driver's file that it really lies in; null if that is none of ours.
[[nodiscard]] DriverFile* driver_file_of(void* dataset, const FileState& reached_by);

// Raised whenever one more file is served: what was looked for in vain may be found then.
[[nodiscard]] unsigned long times_served();
// Does HDF5 read the metadata of a file collectively that the engine serves?
[[nodiscard]] bool serves_collective_metadata();

// Which way a file opened with this list goes, and the list for the connector below: `fapl` with that
// connector in it, and our driver where it serves. H5I_INVALID_HID: failed, with an entry on the error stack.
// The caller closes it.
struct Below {
  hid_t fapl;
  Way way;
};
[[nodiscard]] Below below(hid_t fapl, const ConnectorInfo& info, const FileWishes& wishes);

// While it lives, flushing the file does not wait for home.
class Haste {
 public:
  explicit Haste(const FileState& file) : file_(file.driver()) {
    if (file_ != nullptr) file_->set_hasty(true);
  }
  ~Haste() {
    if (file_ != nullptr) file_->set_hasty(false);
  }
  Haste(const Haste&) = delete;
  Haste& operator=(const Haste&) = delete;

 private:
  DriverFile* const file_;
};

}  // namespace forebay::hdf5
