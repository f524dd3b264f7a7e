// HDF5's file driver "forebay": a file's addresses are offsets of a file in the buffer.
//
// It looks to HDF5 as the POSIX driver does (same features, same locks, same bytes at home), so that files
// can go from one to the other. A file is buffered, or plain: read and written at home, where the buffer
// cannot be had or must not be used. HDF5 calls a driver under its own lock, one call at a time.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "base/error.hpp"
#include "door/hdf5/export.hpp"
#include "door/hdf5/file_wishes.hpp"
#include "engine/file.hpp"
#include "session/session.hpp"

namespace forebay::hdf5 {

inline constexpr const char* kDriverName = "forebay";
inline constexpr H5FD_class_value_t kDriverValue = 419;

// What a file-access list carries for the driver.
struct DriverInfo {
  FileWishes wishes{};
  // The connector stands above it and tells when space may be freed (DriverFile::expect_reuse).
  bool told_of_reuse = false;
};

// The class for H5FDregister and for the plugin.
[[nodiscard]] FOREBAY_HDF5_EXPORT const H5FD_class_t& driver_class();
// Puts the driver into a file-access list.
[[nodiscard]] herr_t set_driver(hid_t fapl, const DriverInfo& info);
// Is it the driver of this list?
[[nodiscard]] bool has_our_driver(hid_t fapl);

// Why a file is not buffered.
enum class Plain { kNo, kSwmr, kNotRegular, kBypass, kNoBuffer };
[[nodiscard]] const char* words(Plain why);

// How a buffered file fares, known beyond its end: for requests that outlive it.
struct Fate {
  std::shared_ptr<File> file{};         // while it is open
  std::uint32_t process = 0;            // fork_generation() of whoever opened it
  bool left = false;                    // HDF5 has closed it, and nobody has waited for its bytes
  std::optional<Status> when_closed{};  // what became of them
};

// An open file of the driver, as the connector above sees it.
class DriverFile {
 public:
  [[nodiscard]] virtual std::shared_ptr<Fate> fate() = 0;
  // While it is set, a flush starts bytes on their way home and does not wait for them.
  virtual void set_hasty(bool hasty) = 0;
  // While it is set, the close does not wait either: who has the fate closes the file in the buffer.
  virtual void set_leaving(bool leaving) = 0;
  // The file in the buffer; null while it is plain.
  [[nodiscard]] virtual std::shared_ptr<File> buffered() = 0;
  [[nodiscard]] virtual Plain plain() const = 0;
  // HDF5's number of it.
  [[nodiscard]] virtual unsigned long number() const = 0;
  // Space that data of the last flush lie in may be freed and used again (FlushedState).
  virtual void expect_reuse() = 0;
  [[nodiscard]] virtual bool minds_reuse() const = 0;
  // All that was written so far is at home when it returns, what waits for a flush as well: somebody is about
  // to look there. Until the next flush a kill leaves what it would natively.
  virtual Status bring_home() = 0;
  // Data that wait for a flush do not any more. Until the next flush a kill leaves what it would natively.
  virtual Status release_data() = 0;
  // From now on every write is at home, in order, before it returns: somebody else follows it there.
  virtual Status go_plain(Plain why) = 0;

 protected:
  DriverFile() = default;
  DriverFile(const DriverFile&) = default;
  DriverFile& operator=(const DriverFile&) = default;
  ~DriverFile() = default;
};

// The driver's file that an answer of H5Fget_vfd_handle belongs to; null if another driver gave it.
[[nodiscard]] DriverFile* driver_file_of(const void* handle);
// One after the other; null at the end.
[[nodiscard]] DriverFile* driver_file_at(std::size_t index);

// Calls `visit` with every open file of the driver.
template <class Visit>
void for_each_driver_file(const Visit& visit) {
  for (std::size_t i = 0; auto* const file = driver_file_at(i); ++i) visit(*file);
}

}  // namespace forebay::hdf5
