#include "door/hdf5/driver.hpp"

#include <H5FDdevelop.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <format>
#include <string>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "config/environment.hpp"
#include "door/hdf5/error_stack.hpp"
#include "door/hdf5/flushed_state.hpp"
#include "os/fd.hpp"

namespace forebay::hdf5 {
namespace {

// Where the address space of the POSIX driver ends.
constexpr haddr_t kMaxAddress = (haddr_t{1} << (8 * sizeof(off_t) - 1)) - 1;

struct OpenedFile;
// Open files, found by the address of their descriptor. HDF5's lock guards it; never freed.
std::vector<OpenedFile*>& opened_files() {
  static auto* files = new std::vector<OpenedFile*>;
  return *files;
}

struct OpenedFile final : H5FD_t, DriverFile {
  Fd home{};
  int handle = -1;  // home's descriptor, for H5Fget_vfd_handle
  dev_t device = 0;
  ino_t inode = 0;
  std::string path{};  // absolute
  FileWishes wishes{};
  bool writable = false;
  bool ignore_missing_locks = false;
  Plain why_plain = Plain::kNo;
  haddr_t eoa = 0;
  haddr_t plain_eof = 0;  // while plain
  bool hasty = false;
  bool told_of_reuse = false;
  bool truncated = false;  // since the last flush: HDF5 does that before a flush of the whole file only
  FlushedState state{};
  // HDF5 opens some files only to look who they are: opened in the buffer when first needed.
  std::shared_ptr<Fate> opened_as = std::make_shared<Fate>();

  OpenedFile() : H5FD_t{} {}

  std::shared_ptr<File> buffered() override {
    if (!reachable() && why_plain == Plain::kNo) open_engine(0);
    return opened_as->file;
  }
  [[nodiscard]] Plain plain() const override { return why_plain; }
  Status go_plain(Plain why) override;
  std::shared_ptr<const Fate> fate() override { return buffered() ? opened_as : nullptr; }
  void set_hasty(bool wish) override { hasty = wish; }
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
  // What was written so far is the state to keep from now on.
  Status keep_state();
  void fall_back(Plain why, const char* words);
};

OpenedFile& opened(H5FD_t* file) { return static_cast<OpenedFile&>(*file); }
const OpenedFile& opened(const H5FD_t* file) { return static_cast<const OpenedFile&>(*file); }

void OpenedFile::fall_back(Plain why, const char* reason) {
  why_plain = why;
  opened_as->file.reset();
  struct stat now{};
  if (::fstat(handle, &now) == 0) plain_eof = static_cast<haddr_t>(now.st_size);
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
  if (again) new std::shared_ptr<Fate>(std::exchange(opened_as, std::make_shared<Fate>()));
  auto file = open_as_wished(wishes, path, (writable ? O_RDWR : O_RDONLY) | more_flags);
  if (!file) return fall_back(Plain::kNoBuffer, file.error().message.c_str());
  if ((*file)->settings().mode == Mode::Bypass) return fall_back(Plain::kBypass, words(Plain::kBypass));
  struct stat there{};
  if (::fstat((*file)->home().fd(), &there) != 0 || there.st_dev != device || there.st_ino != inode)
    return fall_back(Plain::kNoBuffer, "another file has taken its place");
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

H5FD_t* open(const char* name, unsigned flags, hid_t fapl, haddr_t maxaddr) {
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
        std::format("unable to open file: name = '{}', errno = {}, error message = '{}', flags = {:x}, "
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
  (void)maxaddr;
  if ((flags & (H5F_ACC_SWMR_READ | H5F_ACC_SWMR_WRITE)) != 0) {
    file->fall_back(Plain::kSwmr, words(Plain::kSwmr));
  } else if (!S_ISREG(there.st_mode)) {
    file->fall_back(Plain::kNotRegular, words(Plain::kNotRegular));
  } else if ((flags & H5F_ACC_TRUNC) != 0) {
    file->open_engine(O_TRUNC);
  }
  if ((flags & H5F_ACC_TRUNC) != 0 && file->why_plain != Plain::kNo) {
    if (::ftruncate(file->handle, 0) != 0) {
      push_words(std::format("unable to truncate '{}': {}", name, std::strerror(errno)).c_str(), H5E_FILE,
                 H5E_CANTOPENFILE);
      return nullptr;
    }
    file->plain_eof = 0;
  }
  opened_files().push_back(file.get());
  return file.release();
}

herr_t close(H5FD_t* base) {
  const std::unique_ptr<OpenedFile> file(&opened(base));
  std::erase(opened_files(), file.get());
  auto& fate = *file->opened_as;
  if (!fate.file) return 0;
  if (!file->reachable()) {
    new std::shared_ptr<Fate>(std::move(file->opened_as));
    return 0;
  }
  auto status = file->state.commit(*fate.file);
  if (const auto closed = fate.file->close(); !closed && status) status = closed;
  fate.when_closed = status;
  fate.file.reset();
  if (!status) push_error(status.error(), H5E_IO, H5E_CANTCLOSEFILE);
  return status ? 0 : -1;
}

int cmp(const H5FD_t* one, const H5FD_t* two) {
  const auto& a = opened(one);
  const auto& b = opened(two);
  if (a.device != b.device) return a.device < b.device ? -1 : 1;
  if (a.inode != b.inode) return a.inode < b.inode ? -1 : 1;
  return 0;
}

herr_t query(const H5FD_t* /*file*/, unsigned long* flags) {
  if (flags != nullptr) {
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_POSIX_COMPAT_HANDLE | H5FD_FEAT_SUPPORTS_SWMR_IO |
             H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  }
  return 0;
}

haddr_t get_eoa(const H5FD_t* file, H5FD_mem_t /*type*/) { return opened(file).eoa; }

herr_t set_eoa(H5FD_t* file, H5FD_mem_t /*type*/, haddr_t address) {
  opened(file).eoa = address;
  return 0;
}

Result<haddr_t> eof_of(OpenedFile& file) {
  auto* const engine = file.reach();
  if (engine == nullptr) return file.plain_eof;
  return file.state.size(*engine);
}

haddr_t get_eof(const H5FD_t* file, H5FD_mem_t /*type*/) {
  // HDF5 says const; the file is opened in the buffer when it is first asked for.
  const auto size = eof_of(const_cast<OpenedFile&>(opened(file)));
  if (!size) push_error(size.error(), H5E_VFL, H5E_CANTGET);
  return size ? *size : HADDR_UNDEF;
}

herr_t get_handle(H5FD_t* file, hid_t /*fapl*/, void** handle) {
  if (handle == nullptr) return -1;
  *handle = &opened(file).handle;
  return 0;
}

bool beyond(haddr_t address, size_t size) {
  return address == HADDR_UNDEF || address > kMaxAddress || size > kMaxAddress - address;
}

Result<std::uint64_t> read_home(int fd, haddr_t address, std::span<std::byte> out) {
  std::uint64_t done = 0;
  while (done < out.size()) {
    const auto got = ::pread(fd, out.data() + done, out.size() - done, static_cast<off_t>(address + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno(errno, "read", "the file");
    if (got == 0) break;
    done += static_cast<std::uint64_t>(got);
  }
  return done;
}

Status write_home(OpenedFile& file, haddr_t address, std::span<const std::byte> data) {
  std::uint64_t done = 0;
  while (done < data.size()) {
    const auto put =
        ::pwrite(file.handle, data.data() + done, data.size() - done, static_cast<off_t>(address + done));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return fail_errno(errno, "write", file.path);
    done += static_cast<std::uint64_t>(put);
  }
  file.plain_eof = std::max<haddr_t>(file.plain_eof, address + data.size());
  return {};
}

herr_t read(H5FD_t* base, H5FD_mem_t /*type*/, hid_t /*dxpl*/, haddr_t address, size_t size, void* to) {
  auto& file = opened(base);
  if (beyond(address, size)) {
    push_words("address out of range", H5E_ARGS, H5E_OVERFLOW);
    return -1;
  }
  const std::span out(static_cast<std::byte*>(to), size);
  auto* const engine = file.reach();
  const auto got =
      engine != nullptr ? file.state.read(*engine, address, out) : read_home(file.handle, address, out);
  if (!got) {
    push_error(got.error(), H5E_IO, H5E_READERROR);
    return -1;
  }
  // Beyond the end of the file and within the format's address space.
  std::memset(out.data() + *got, 0, size - *got);
  return 0;
}

herr_t write(H5FD_t* base, H5FD_mem_t type, hid_t /*dxpl*/, haddr_t address, size_t size, const void* from) {
  auto& file = opened(base);
  if (beyond(address, size)) {
    push_words("address out of range", H5E_ARGS, H5E_OVERFLOW);
    return -1;
  }
  const std::span data(static_cast<const std::byte*>(from), size);
  auto* const engine = file.reach();
  const auto status =
      engine == nullptr ? write_home(file, address, data) : file.state.write(*engine, type, address, data);
  if (engine != nullptr && file.state.gave_up()) {
    log_info("{}: more changed since the last flush than can wait for the next: its state is not kept",
             file.path);
  }
  if (!status) push_error(status.error(), H5E_IO, H5E_WRITEERROR);
  return status ? 0 : -1;
}

herr_t flush(H5FD_t* base, hid_t /*dxpl*/, hbool_t closing) {
  auto& file = opened(base);
  auto* const engine = file.reach();
  if (closing || engine == nullptr || !file.writable) return 0;
  if (std::exchange(file.truncated, false)) {
    auto status = file.state.commit(*engine, file.base_addr);
    if (status) status = file.keep_state();
    if (!status) {
      push_error(status.error(), H5E_IO, H5E_CANTFLUSH);
      return -1;
    }
  }
  if (file.hasty) {
    (void)engine->drain(std::chrono::nanoseconds(0));
    return 0;
  }
  // Home, but not on stable storage there: the POSIX driver does not ask for that either.
  const auto status = engine->settings().on_flush == OnFlush::Stage ? engine->sync() : engine->drain();
  if (!status) push_error(status.error(), H5E_IO, H5E_CANTFLUSH);
  return status ? 0 : -1;
}

herr_t truncate(H5FD_t* base, hid_t /*dxpl*/, hbool_t /*closing*/) {
  auto& file = opened(base);
  if (!file.writable) return 0;
  file.truncated = true;
  const auto eof = eof_of(file);
  Status status;
  if (!eof) {
    status = std::unexpected(eof.error());
  } else if (*eof == file.eoa) {
    return 0;
  } else if (auto* const engine = file.reach()) {
    status = file.state.truncate(*engine, file.eoa);
  } else if (::ftruncate(file.handle, static_cast<off_t>(file.eoa)) != 0) {
    status = fail_errno(errno, "truncate", file.path);
  } else {
    file.plain_eof = file.eoa;
  }
  if (!status) push_error(status.error(), H5E_IO, H5E_SEEKERROR);
  return status ? 0 : -1;
}

herr_t lock_with(H5FD_t* base, int operation, const char* action) {
  auto& file = opened(base);
  if (::flock(file.handle, operation) == 0) return 0;
  if (file.ignore_missing_locks && errno == ENOSYS) return 0;
  push_words(
      std::format("unable to {} file, errno = {}, error message = '{}'", action, errno, std::strerror(errno))
          .c_str(),
      H5E_VFL, *action == 'l' ? H5E_CANTLOCKFILE : H5E_CANTUNLOCKFILE);
  return -1;
}

herr_t lock(H5FD_t* file, hbool_t exclusive) {
  return lock_with(file, (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB, "lock");
}

herr_t unlock(H5FD_t* file) { return lock_with(file, LOCK_UN, "unlock"); }

herr_t remove(const char* name, hid_t /*fapl*/) {
  if (std::remove(name) == 0) return 0;
  push_words(std::format("unable to delete file '{}': {}", name, std::strerror(errno)).c_str(), H5E_VFL,
             H5E_CANTDELETEFILE);
  return -1;
}

herr_t ctl(H5FD_t* /*file*/, uint64_t /*op*/, uint64_t flags, const void* /*in*/, void** /*out*/) {
  if ((flags & H5FD_CTL_FAIL_IF_UNKNOWN_FLAG) == 0) return 0;
  push_words("unknown op_code and fail if unknown flag is set", H5E_VFL, H5E_FCNTL);
  return -1;
}

void* copy_info(const void* info) { return new DriverInfo(*static_cast<const DriverInfo*>(info)); }

herr_t free_info(void* info) {
  delete static_cast<DriverInfo*>(info);
  return 0;
}

void* get_info(H5FD_t* file) { return new DriverInfo{opened(file).wishes, opened(file).told_of_reuse}; }

hid_t registered = H5I_INVALID_HID;

// HDF5 is closing down, and has closed its files.
herr_t terminate_driver() {
  registered = H5I_INVALID_HID;
  return leave_all() ? 0 : -1;
}

// What the program never closed, not even through HDF5, is carried home when the library is unloaded.
__attribute__((destructor)) void finish() { (void)leave_all(); }

constexpr H5FD_class_t kClass = {
    .version = H5FD_CLASS_VERSION,
    .value = kDriverValue,
    .name = kDriverName,
    .maxaddr = kMaxAddress,
    .fc_degree = H5F_CLOSE_WEAK,
    .terminate = terminate_driver,
    .sb_size = nullptr,
    .sb_encode = nullptr,
    .sb_decode = nullptr,
    .fapl_size = sizeof(DriverInfo),
    .fapl_get = get_info,
    .fapl_copy = copy_info,
    .fapl_free = free_info,
    .dxpl_size = 0,
    .dxpl_copy = nullptr,
    .dxpl_free = nullptr,
    .open = open,
    .close = close,
    .cmp = cmp,
    .query = query,
    .get_type_map = nullptr,
    .alloc = nullptr,
    .free = nullptr,
    .get_eoa = get_eoa,
    .set_eoa = set_eoa,
    .get_eof = get_eof,
    .get_handle = get_handle,
    .read = read,
    .write = write,
    .read_vector = nullptr,
    .write_vector = nullptr,
    .read_selection = nullptr,
    .write_selection = nullptr,
    .flush = flush,
    .truncate = truncate,
    .lock = lock,
    .unlock = unlock,
    .del = remove,
    .ctl = ctl,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

}  // namespace

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

const H5FD_class_t& driver_class() { return kClass; }

herr_t set_driver(hid_t fapl, const DriverInfo& info) {
  if (H5Iis_valid(registered) <= 0) registered = H5FDregister(&kClass);
  if (registered < 0) return -1;
  return H5Pset_driver(fapl, registered, &info);
}

bool has_our_driver(hid_t fapl) { return registered >= 0 && H5Pget_driver(fapl) == registered; }

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
