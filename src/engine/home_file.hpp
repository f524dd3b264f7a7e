// A file at home, open for the engine's own reads and writes.
//
// Immutable after construction, shared between threads. Opened either by the application's open (so that it
// works for files without a name or without permission to open them again) or by path, in which case identity
// is checked. It knows the generation of the file's record: what is still under way in the background after
// the last close must not take the bytes of the file that the record was given to next.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/error.hpp"
#include "engine/file_table.hpp"
#include "os/fd.hpp"
#include "os/own_io.hpp"
#include "policy/admission.hpp"

namespace forebay {

struct Core;

class HomeFile {
 public:
  HomeFile(Key first_block, Fd fd, std::string path, bool writable, std::shared_ptr<WriteAdmission> speed)
      : first_block_(first_block),
        fd_(std::move(fd)),
        path_(std::move(path)),
        writable_(writable),
        speed_(std::move(speed)) {}
  HomeFile(const HomeFile&) = delete;
  HomeFile& operator=(const HomeFile&) = delete;
  ~HomeFile() {
    const OwnIo own;
    fd_.reset();
  }

  // Opens the file of a record by its path. ESTALE: another file lies there now. EBADMSG: the record is
  // damaged.
  static Result<std::shared_ptr<HomeFile>> reopen(Core& core, std::uint32_t file);

  // The same file opened once more, to read and write: it may have another name by now, or none.
  [[nodiscard]] Result<std::shared_ptr<HomeFile>> again() const;

  [[nodiscard]] std::uint32_t file() const { return key_file(first_block_); }
  [[nodiscard]] Key key(std::uint64_t block) const { return key_of_block(first_block_, block); }
  // Is the record still this file's?
  [[nodiscard]] bool known(const FileTable& files) const { return files.key(file(), 0) == first_block_; }
  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool writable() const { return writable_; }
  // Is a write of so many bytes better staged than written home at once?
  [[nodiscard]] bool worth_staging(std::uint64_t bytes) const { return speed_->admit(bytes); }

  // All of the pieces, one after the other, from `offset` on; retries what the system cuts short.
  [[nodiscard]] Status write(std::span<iovec> pieces, std::uint64_t offset) const;
  // The same for the program's own writes: how many bytes home took before something went wrong, if any.
  [[nodiscard]] Result<std::uint64_t> write_some(std::span<iovec> pieces, std::uint64_t offset) const;
  // What there is of [offset, offset + size): less at the end of the file.
  [[nodiscard]] Result<std::uint64_t> read(std::byte* to, std::uint64_t size, std::uint64_t offset) const;

 private:
  Status write_counting(std::span<iovec> pieces, std::uint64_t offset, std::uint64_t& written) const;

  Key first_block_;
  Fd fd_;
  std::string path_;
  bool writable_;
  std::shared_ptr<WriteAdmission> speed_;  // which knows how long each write takes
};

}  // namespace forebay
