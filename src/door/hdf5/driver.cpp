#include "door/hdf5/driver.hpp"

#include <H5FDdevelop.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/format.hpp"
#include "base/log.hpp"
#include "door/hdf5/error_stack.hpp"
#include "door/hdf5/guarded.hpp"
#include "door/hdf5/hid.hpp"
#include "door/hdf5/known_file.hpp"
#include "door/hdf5/opened_file.hpp"

namespace forebay::hdf5 {
namespace {

// Where the address space of the POSIX driver ends.
constexpr haddr_t kMaxAddress = (haddr_t{1} << (8 * sizeof(off_t) - 1)) - 1;

namespace drivers {

OpenedFile& opened(H5FD_t* file) { return static_cast<OpenedFile&>(*file); }
const OpenedFile& opened(const H5FD_t* file) { return static_cast<const OpenedFile&>(*file); }

H5FD_t* open(const char* name, unsigned flags, hid_t fapl, haddr_t /*maxaddr*/) {
  return open_file(name, flags, fapl);
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
  file->leave_to_parent();
  auto status = file->state.commit(*fate.file);
  if (file->leaving && status) {
    fate.left = true;
    return 0;
  }
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

herr_t query(const H5FD_t* file, unsigned long* flags) {
  if (flags != nullptr) {
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_POSIX_COMPAT_HANDLE | H5FD_FEAT_SUPPORTS_SWMR_IO |
             H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    if (file != nullptr && opened(file).was_family) *flags |= H5FD_FEAT_IGNORE_DRVRINFO;
  }
  return 0;
}

haddr_t get_eoa(const H5FD_t* file, H5FD_mem_t /*type*/) { return opened(file).eoa; }

herr_t set_eoa(H5FD_t* file, H5FD_mem_t /*type*/, haddr_t address) {
  opened(file).eoa = address;
  return 0;
}

// Opened in the buffer when it is first asked for.
haddr_t eof_of(OpenedFile& file) {
  (void)file.reach();
  return file.eof.value_or(HADDR_UNDEF);
}

haddr_t get_eof(const H5FD_t* file, H5FD_mem_t /*type*/) {
  // HDF5 says const.
  const auto eof = eof_of(const_cast<OpenedFile&>(opened(file)));
  if (eof == HADDR_UNDEF) push_words("the file's size is not known", H5E_VFL, H5E_CANTGET);
  return eof;
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

Status write_home(const OpenedFile& file, haddr_t address, std::span<const std::byte> data) {
  std::uint64_t done = 0;
  while (done < data.size()) {
    const auto put =
        ::pwrite(file.handle, data.data() + done, data.size() - done, static_cast<off_t>(address + done));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return fail_errno(errno, "write", file.path);
    done += static_cast<std::uint64_t>(put);
  }
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
  if (status) {
    file.eof = std::max<haddr_t>(file.eof.value_or(0), address + size);
  } else {
    push_error(status.error(), H5E_IO, H5E_WRITEERROR);
  }
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
  if (eof_of(file) == file.eoa) return 0;
  Status status;
  if (auto* const engine = file.reach()) {
    status = file.state.truncate(*engine, file.eoa);
  } else if (::ftruncate(file.handle, static_cast<off_t>(file.eoa)) != 0) {
    status = fail_errno(errno, "truncate", file.path);
  }
  if (status) {
    file.eof = file.eoa;
  } else {
    push_error(status.error(), H5E_IO, H5E_SEEKERROR);
  }
  return status ? 0 : -1;
}

herr_t lock_with(H5FD_t* base, int operation, const char* action) {
  auto& file = opened(base);
  if (::flock(file.handle, operation) == 0) return 0;
  if (file.ignore_missing_locks && errno == ENOSYS) return 0;
  push_words(
      format_text("unable to {} file, errno = {}, error message = '{}'", action, errno, std::strerror(errno))
          .c_str(),
      H5E_VFL, *action == 'l' ? H5E_CANTLOCKFILE : H5E_CANTUNLOCKFILE);
  return -1;
}

herr_t lock(H5FD_t* file, hbool_t exclusive) {
  return lock_with(file, (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB, "lock");
}

herr_t unlock(H5FD_t* file) { return lock_with(file, LOCK_UN, "unlock"); }

herr_t remove(const char* name, hid_t fapl) {
  const auto goes = by_last_name(name);
  if (std::remove(name) == 0) {
    if (goes) forget_removed(info_for_driver(fapl).wishes.membership, *goes);
    return 0;
  }
  push_words(format_text("unable to delete file '{}': {}", name, std::strerror(errno)).c_str(), H5E_VFL,
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

}  // namespace drivers

hid_t registered = H5I_INVALID_HID;

// HDF5 may have registered it by itself, for HDF5_DRIVER or a program that asks for it by name.
void find_registered() {
  if (registered >= 0 || H5FDis_driver_registered_by_value(kDriverValue) <= 0) return;
  const Hid scratch(H5Pcreate(H5P_FILE_ACCESS));
  if (H5Pset_driver_by_value(scratch.get(), kDriverValue, nullptr) >= 0)
    registered = H5Pget_driver(scratch.get());
}

namespace drivers {

// HDF5 is closing down, and has closed its files.
herr_t terminate_driver() {
  registered = H5I_INVALID_HID;
  return leave_all() ? 0 : -1;
}

}  // namespace drivers

// What the program never closed, not even through HDF5, is carried home when the library is unloaded.
__attribute__((destructor)) void finish() { (void)leave_all(); }

constexpr H5FD_class_t kClass = {
    .version = H5FD_CLASS_VERSION,
    .value = kDriverValue,
    .name = kDriverName,
    .maxaddr = kMaxAddress,
    .fc_degree = H5F_CLOSE_WEAK,
    .terminate = guarded<drivers::terminate_driver>,
    .sb_size = nullptr,
    .sb_encode = nullptr,
    .sb_decode = nullptr,
    .fapl_size = sizeof(DriverInfo),
    .fapl_get = guarded<drivers::get_info>,
    .fapl_copy = guarded<drivers::copy_info>,
    .fapl_free = guarded<drivers::free_info>,
    .dxpl_size = 0,
    .dxpl_copy = nullptr,
    .dxpl_free = nullptr,
    .open = guarded<drivers::open>,
    .close = guarded<drivers::close>,
    .cmp = guarded<drivers::cmp>,
    .query = guarded<drivers::query>,
    .get_type_map = nullptr,
    .alloc = nullptr,
    .free = nullptr,
    .get_eoa = guarded<drivers::get_eoa>,
    .set_eoa = guarded<drivers::set_eoa>,
    .get_eof = guarded<drivers::get_eof>,
    .get_handle = guarded<drivers::get_handle>,
    .read = guarded<drivers::read>,
    .write = guarded<drivers::write>,
    .read_vector = nullptr,
    .write_vector = nullptr,
    .read_selection = nullptr,
    .write_selection = nullptr,
    .flush = guarded<drivers::flush>,
    .truncate = guarded<drivers::truncate>,
    .lock = guarded<drivers::lock>,
    .unlock = guarded<drivers::unlock>,
    .del = guarded<drivers::remove>,
    .ctl = guarded<drivers::ctl>,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

}  // namespace

const H5FD_class_t& driver_class() { return kClass; }

herr_t set_driver(hid_t fapl, const DriverInfo& info) {
  find_registered();
  if (registered < 0) registered = H5FDregister(&kClass);
  if (registered < 0) return -1;
  return H5Pset_driver(fapl, registered, &info);
}

bool has_our_driver(hid_t fapl) {
  find_registered();
  return registered >= 0 && H5Pget_driver(fapl) == registered;
}

}  // namespace forebay::hdf5
