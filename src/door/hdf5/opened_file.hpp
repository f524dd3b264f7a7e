// A file that HDF5 has open through our driver: buffered, or plain for a reason. HDF5's lock guards it.
#pragma once

#include <H5FDdevelop.h>
#include <sys/types.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "door/hdf5/driver.hpp"
#include "door/hdf5/flushed_state.hpp"
#include "os/fd.hpp"

namespace forebay::hdf5 {

struct OpenedFile final : H5FD_t, DriverFile {
  Fd home{};
  int handle = -1;  // home's descriptor, for H5Fget_vfd_handle
  dev_t device = 0;
  ino_t inode = 0;
  std::string path{};  // absolute
  FileWishes wishes{};
  bool writable = false;
  bool ignore_missing_locks = false;
  bool was_family =
      false;  // h5repart makes one file of several: what they say of their driver does not count
  Plain why_plain = Plain::kNo;
  haddr_t eoa = 0;
  // Where the file ends for this handle, as the POSIX driver has it: as long as when it was opened, until
  // this handle writes or cuts. Others may have made it longer since, and their bytes are not this one's to
  // cut.
  std::optional<haddr_t> eof{};
  bool hasty = false;
  bool leaving = false;
  bool told_of_reuse = false;
  bool truncated = false;  // since the last flush: HDF5 does that before a flush of the whole file only
  FlushedState state{};
  pid_t opener = ::getpid();  // a forked child's is its own once it uses the file
  pid_t parent = 0;           // then, whose state it was before
  // HDF5 opens some files only to look who they are: opened in the buffer when first needed.
  std::shared_ptr<Fate> opened_as = std::make_shared<Fate>();

  OpenedFile() : H5FD_t{} {}

  std::shared_ptr<File> buffered() override {
    if (!reachable() && why_plain == Plain::kNo) open_engine(0);
    return opened_as->file;
  }
  [[nodiscard]] Plain plain() const override { return why_plain; }
  [[nodiscard]] unsigned long number() const override { return fileno; }
  Status bring_home() override;
  Status release_data() override;
  Status go_plain(Plain why) override;
  std::shared_ptr<Fate> fate() override { return buffered() ? opened_as : nullptr; }
  void set_hasty(bool wish) override { hasty = wish; }
  void set_leaving(bool wish) override { leaving = wish; }
  void expect_reuse() override { state.expect_reuse(); }
  [[nodiscard]] bool minds_reuse() const override { return state.minds_reuse(); }

  [[nodiscard]] bool reachable() const { return opened_as->file && opened_as->process == fork_generation(); }
  // The file in the buffer, or null: then the descriptor is to be used. The hot path of every access.
  [[nodiscard]] File* reach() {
    if (reachable()) [[likely]]
      return opened_as->file.get();
    return buffered().get();
  }
  void open_engine(int more_flags);
  // Before the last commit: what a parent wrote, and lives to hand over by itself, is left to it.
  void leave_to_parent();
  // What was written so far is the state to keep from now on.
  Status keep_state();
  void fall_back(Plain why, const char* words);
};

// All of them. Never freed.
std::vector<OpenedFile*>& opened_files();

// What the list says for the driver.
DriverInfo info_for_driver(hid_t fapl);

// As the driver's open callback: null, and the reason on HDF5's stack, if it cannot be opened.
OpenedFile* open_file(const char* name, unsigned flags, hid_t fapl);

}  // namespace forebay::hdf5
