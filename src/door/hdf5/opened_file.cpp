#include "door/hdf5/opened_file.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/format.hpp"
#include "base/log.hpp"
#include "config/environment.hpp"
#include "door/hdf5/error_stack.hpp"
#include "door/hdf5/known_file.hpp"

namespace forebay::hdf5 {

std::vector<OpenedFile*>& opened_files() {
  static auto* files = new std::vector<OpenedFile*>;
  return *files;
}

void OpenedFile::fall_back(Plain why, const char* reason) {
  why_plain = why;
  opened_as->file.reset();
  struct stat now{};
  if (!eof && ::fstat(handle, &now) == 0) eof = static_cast<haddr_t>(now.st_size);
  if (why == Plain::kNoBuffer) {
    log_warn("{} is not buffered: {}", path, reason);
  } else {
    log_info("{} is not buffered: {}", path, reason);
    if (const auto buffer = join(wishes.membership))
      (*buffer)->note_passed(std::string("HDF5: ") + words(why));
  }
}

// Buffered from here on, or plain for a reason that is logged.
void OpenedFile::open_engine(int more_flags) {
  const bool again = opened_as->file != nullptr;
  // A copy of the parent's, with threads and locks that are not there: never touched, never freed.
  if (again) {
    new std::shared_ptr<Fate>(std::exchange(opened_as, std::make_shared<Fate>()));
    state.inherit();
    parent = std::exchange(opener, ::getpid());
  }
  auto file = open_as_wished(wishes, path, (writable ? O_RDWR : O_RDONLY) | more_flags);
  if (!file) return fall_back(Plain::kNoBuffer, file.error().message.c_str());
  if ((*file)->settings().mode == Mode::Bypass) return fall_back(Plain::kBypass, words(Plain::kBypass));
  struct stat there{};
  if (::fstat((*file)->home().fd(), &there) != 0 || there.st_dev != device || there.st_ino != inode)
    return fall_back(Plain::kNoBuffer, "another file has taken its place");
  if (!eof) {
    const auto size = (*file)->size();
    if (!size) return fall_back(Plain::kNoBuffer, size.error().message.c_str());
    eof = *size;
  }
  opened_as->file = std::move(*file);
  opened_as->process = fork_generation();
  if (writable && !again && (more_flags & O_TRUNC) == 0) {
    if (const auto kept = keep_state(); !kept) log_warn("{}: {}", path, kept.error().message);
  }
}

Status OpenedFile::keep_state() {
  FOREBAY_TRY(state.keep(*opened_as->file));
  if (!told_of_reuse) state.expect_reuse();
  return {};
}

void OpenedFile::leave_to_parent() {
  if (parent != 0 && (::kill(parent, 0) == 0 || errno == EPERM)) state.leave_to_parent();
}

Status OpenedFile::bring_home() {
  if (!writable || !reachable()) return {};
  if (state.waiting()) FOREBAY_TRY(state.commit(*opened_as->file));
  return opened_as->file->drain();
}

Status OpenedFile::release_data() {
  if (!writable || !reachable() || !state.holds_data()) return {};
  return state.commit(*opened_as->file);
}

Status OpenedFile::go_plain(Plain why) {
  if (why_plain != Plain::kNo) return {};
  if (const auto file = buffered()) {
    if (writable) {
      FOREBAY_TRY(state.commit(*file));
      FOREBAY_TRY(file->drain());
    }
    FOREBAY_TRY(file->evict(0, ~std::uint64_t{0}));
    FOREBAY_TRY(file->close());
  }
  fall_back(why, words(why));
  return {};
}

DriverInfo info_for_driver(hid_t fapl) {
  const ExpectFailure there_may_be_none;
  if (const auto* const info = static_cast<const DriverInfo*>(H5Pget_driver_info(fapl))) return *info;
  // HDF5_DRIVER_CONFIG or H5Pset_driver_by_name: "config=FILE", or the file alone.
  char text[PATH_MAX] = "";
  if (H5Pget_driver_config_str(fapl, text, sizeof text) <= 0) return {};
  std::string_view config(text);
  if (config.starts_with("config=")) config.remove_prefix(7);
  return {.wishes = {.membership = {.config = std::string(config)}}};
}

namespace {

// As the POSIX driver decides it: the environment wins over the list.
bool locks_may_be_missing(hid_t fapl) {
  const auto environment = Environment::current();
  const auto wish = environment.get_or("HDF5_USE_FILE_LOCKING", "");
  if (wish == "BEST_EFFORT") return true;
  if (wish == "TRUE" || wish == "1") return false;
  hbool_t use = true;
  hbool_t ignore = false;
  return H5Pget_file_locking(fapl, &use, &ignore) >= 0 && ignore;
}

// What h5repart asks the POSIX driver for.
bool is_made_of_family(hid_t fapl) {
  constexpr auto* kProperty = "family_to_single";
  hbool_t asked = false;
  return H5Pexist(fapl, kProperty) > 0 && H5Pget(fapl, kProperty, &asked) >= 0 && asked;
}

}  // namespace

namespace {

// Whoever opens a file again means to see what others have made of it at home since. HDF5 goes on with the
// handle that it has, and throws the new one away before anything is read through it.
void look_at_home_again(const OpenedFile& again) {
  for (const auto* const file : opened_files()) {
    if (file->device != again.device || file->inode != again.inode || !file->reachable()) continue;
    (void)open_as_wished(again.wishes, again.path, O_RDONLY);
    return;
  }
}

}  // namespace

OpenedFile* open_file(const char* name, unsigned flags, hid_t fapl) {
  if (name == nullptr || *name == '\0') {
    push_words("invalid file name", H5E_ARGS, H5E_BADVALUE);
    return nullptr;
  }
  int how = (flags & H5F_ACC_RDWR) != 0 ? O_RDWR : O_RDONLY;
  if ((flags & H5F_ACC_CREAT) != 0) how |= O_CREAT;
  if ((flags & H5F_ACC_EXCL) != 0) how |= O_EXCL;
  // Not O_TRUNC: the buffer must know.
  Fd home(::open(name, how | O_CLOEXEC, 0666));
  if (!home) {
    const int code = errno;
    const int told = how | ((flags & H5F_ACC_TRUNC) != 0 ? O_TRUNC : 0);
    // In the POSIX driver's words: programs look for them.
    push_words(
        format_text("unable to open file: name = '{}', errno = {}, error message = '{}', flags = {:x}, "
                    "o_flags = {:x}",
                    name, code, std::strerror(code), flags, static_cast<unsigned>(told))
            .c_str(),
        H5E_FILE, H5E_CANTOPENFILE);
    return nullptr;
  }
  struct stat there{};
  if (::fstat(home.get(), &there) != 0) {
    push_words("unable to fstat file", H5E_FILE, H5E_BADFILE);
    return nullptr;
  }
  auto file = std::make_unique<OpenedFile>();
  file->handle = home.get();
  file->home = std::move(home);
  file->device = there.st_dev;
  file->inode = there.st_ino;
  std::error_code failed;
  const auto absolute = std::filesystem::absolute(name, failed);
  file->path = failed ? std::string(name) : absolute.string();
  const auto info = info_for_driver(fapl);
  file->wishes = info.wishes;
  file->told_of_reuse = info.told_of_reuse;
  file->writable = (flags & H5F_ACC_RDWR) != 0;
  file->ignore_missing_locks = locks_may_be_missing(fapl);
  file->was_family = is_made_of_family(fapl);
  if ((flags & (H5F_ACC_SWMR_READ | H5F_ACC_SWMR_WRITE)) != 0) {
    if (const auto status = hdf5::bring_home(file->wishes.membership, file->path); !status) {
      push_error(status.error(), H5E_FILE, H5E_CANTOPENFILE);
      return nullptr;
    }
    file->fall_back(Plain::kSwmr, words(Plain::kSwmr));
  } else if (!S_ISREG(there.st_mode)) {
    file->fall_back(Plain::kNotRegular, words(Plain::kNotRegular));
  } else if ((flags & H5F_ACC_TRUNC) != 0) {
    file->open_engine(O_TRUNC);
  } else {
    look_at_home_again(*file);
  }
  if ((flags & H5F_ACC_TRUNC) != 0 && file->why_plain != Plain::kNo) {
    if (::ftruncate(file->handle, 0) != 0) {
      push_words(format_text("unable to truncate '{}': {}", name, std::strerror(errno)).c_str(), H5E_FILE,
                 H5E_CANTOPENFILE);
      return nullptr;
    }
    file->eof = 0;
  }
  opened_files().push_back(file.get());
  return file.release();
}

const char* words(Plain why) {
  switch (why) {
    case Plain::kNo:
      return "buffered";
    case Plain::kSwmr:
      return "opened for SWMR, whose readers rely on the order of writes at home";
    case Plain::kNotRegular:
      return "not a regular file";
    case Plain::kBypass:
      return "its settings say mode: bypass";
    case Plain::kNoBuffer:
      return "the buffer cannot be had";
  }
  return "";
}

DriverFile* driver_file_of(const void* handle) {
  for (auto* const file : opened_files()) {
    if (&file->handle == handle) return file;
  }
  return nullptr;
}

DriverFile* driver_file_at(std::size_t index) {
  return index < opened_files().size() ? opened_files()[index] : nullptr;
}

}  // namespace forebay::hdf5
