#include "door/posix/past.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include "engine/dirty_filter.hpp"

namespace forebay::posix {
namespace {

// Only of a file that nobody uses, and that is home, does the buffer know what home must say.
bool knows_home(const FileRecord& record) {
  return record.opens_hint.load() == 0 && !maybe_dirty(record) && record.home_modified_ns.load() != 0 &&
         (record.flags.load() & (kFileBypass | kFilePast)) == 0;
}

}  // namespace

bool changed_past_us(Buffer& buffer, int fd) {
  auto& core = buffer.core();
  const auto remembered = stamp_of(fd, "an open file", AT_STATX_DONT_SYNC);
  if (!remembered) return false;
  const auto found = core.files.look_up(remembered->identity.device, remembered->identity.inode);
  if (!found || !knows_home(core.control.file(*found))) return false;
  const auto now = core.home_stamps.just_answered(fd, "an open file");
  const auto& record = core.control.file(*found);
  return now && record.born_ns == now->identity.born_ns && knows_home(record) &&
         (record.home_size.load() != now->size || record.home_modified_ns.load() != now->modified_ns);
}

void forget_mark(FileRecord& record) { record.home_modified_ns.store(0); }

}  // namespace forebay::posix
