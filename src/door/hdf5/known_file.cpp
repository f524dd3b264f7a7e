#include "door/hdf5/known_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include "engine/buffer.hpp"
#include "engine/dirty_filter.hpp"
#include "os/fd.hpp"

namespace forebay::hdf5 {
namespace {

Result<HomeStamp> look_at(const std::string& path) {
  const Fd home(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!home) return fail_errno(errno, "open", path);
  return stamp_of(home.get(), path);
}

void bring_nothing(FileSettings& settings) {
  settings.pin = false;
  settings.prefetch_at_open = PrefetchAtOpen::None;
}

}  // namespace

Status bring_home(const Membership& membership, const std::string& path) {
  const auto stamp = look_at(path);
  if (!stamp || !stamp->regular) return {};
  const auto joined = join(membership);
  if (!joined) return {};
  auto& buffer = **joined;
  const auto number = buffer.core().files.look_up(stamp->identity.device, stamp->identity.inode);
  if (!number || !maybe_dirty(buffer.core().control.file(*number))) return {};
  auto file = buffer.open(path, O_RDWR, 0666, bring_nothing);
  if (!file) file = buffer.open(path, O_RDONLY, 0666, bring_nothing);
  // HDF5 will say what is wrong with it.
  if (!file) return {};
  const auto status = (*file)->drain_all();
  (void)(*file)->close();
  return status;
}

std::optional<HomeIdentity> by_last_name(const std::string& path) {
  struct stat there{};
  if (::lstat(path.c_str(), &there) != 0 || !S_ISREG(there.st_mode) || there.st_nlink != 1)
    return std::nullopt;
  const auto stamp = look_at(path);
  return stamp ? std::optional(stamp->identity) : std::nullopt;
}

void forget_removed(const Membership& membership, const HomeIdentity& identity) {
  if (const auto joined = join(membership)) (*joined)->unlinked(identity);
}

}  // namespace forebay::hdf5
