#include "door/mpiio/memory_home.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "config/memory_home.hpp"
#include "config/resolve.hpp"
#include "engine/dirty_filter.hpp"
#include "engine/home_file.hpp"
#include "os/fd.hpp"
#include "os/file_system.hpp"
#include "session/session.hpp"

namespace forebay::mpiio {
namespace {

bool buffered_already(int fd, const std::string& path, const Settings& settings) {
  if (!buffer_was_made(settings)) return false;
  const auto buffer = join({});
  const auto stamp = stamp_of(fd, path);
  if (!buffer || !stamp) return false;
  auto& core = (*buffer)->core();
  const auto found = core.files.look_up(stamp->identity.device, stamp->identity.inode);
  if (!found) return false;
  const auto& record = core.control.file(*found);
  return record.opens_hint.load() != 0 || maybe_dirty(record);
}

}  // namespace

bool buffer_was_made(const Settings& settings) {
  const auto place = resolve_paths(settings).buffer;
  const auto control = place.directory + "/" + place.name + "/" + kControlFile;
  return ::access(control.c_str(), F_OK) == 0;
}

bool home_will_do(const std::string& path, const Settings& settings) {
  if (!memory_would_do(settings.for_path(path))) return false;
  const Fd fd(::open(path.c_str(), O_PATH | O_CLOEXEC));
  return fd && is_memory_file_system(fd.get()) && !buffered_already(fd.get(), path, settings);
}

}  // namespace forebay::mpiio
