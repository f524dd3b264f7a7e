#include "tools/slowfs/capacity.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace forebay::slowfs {
namespace {

constexpr uint64_t kBlock = 4096;

uint64_t round_down(uint64_t value) { return value / kBlock * kBlock; }
uint64_t round_up(uint64_t value) { return round_down(value + kBlock - 1); }

// The part of [offset, end) that lies in holes or beyond the end of the file, in whole blocks.
uint64_t growth(int fd, uint64_t offset, uint64_t end) {
  uint64_t missing = 0;
  for (uint64_t at = round_down(offset); at < round_up(end);) {
    const off_t data = lseek(fd, static_cast<off_t>(at), SEEK_DATA);
    const uint64_t next_data =
        data < 0 ? round_up(end) : std::min(static_cast<uint64_t>(data), round_up(end));
    missing += round_up(next_data) - at;
    if (data < 0 || next_data >= round_up(end)) break;
    const off_t hole = lseek(fd, data, SEEK_HOLE);
    at = hole < 0 ? round_up(end) : std::max(round_up(static_cast<uint64_t>(hole)), at + kBlock);
  }
  return missing;
}

uint64_t allocated_below(const std::string& folder) {
  namespace fs = std::filesystem;
  uint64_t bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied, error),
       end;
       !error && entry != end; entry.increment(error)) {
    struct stat status{};
    if (lstat(entry->path().c_str(), &status) == 0 && S_ISREG(status.st_mode)) {
      bytes += static_cast<uint64_t>(status.st_blocks) * 512;
    }
  }
  return bytes;
}

}  // namespace

uint64_t Capacity::measure() {
  const std::scoped_lock lock(mutex_);
  measured_ = true;
  return used_ = allocated_below(source_);
}

uint64_t Capacity::admit(int fd, uint64_t offset, uint64_t size, uint64_t limit) {
  const std::scoped_lock lock(mutex_);
  const uint64_t wanted = growth(fd, offset, offset + size);
  if (wanted == 0) return size;
  if (!measured_ || used_ + wanted > limit) {
    used_ = allocated_below(source_);
    measured_ = true;
  }
  if (used_ + wanted <= limit) {
    used_ += wanted;
    return size;
  }
  // The longest start of the range that fits: only its last block may be partial.
  const uint64_t free = limit > used_ ? limit - used_ : 0;
  uint64_t fits = 0;
  for (uint64_t end = std::min(round_down(offset) + kBlock, offset + size); end <= offset + size;
       end = std::min(end + kBlock, offset + size)) {
    if (growth(fd, offset, end) > free) break;
    fits = end - offset;
    if (end == offset + size) break;
  }
  if (fits > 0) used_ += growth(fd, offset, offset + fits);
  return fits;
}

}  // namespace forebay::slowfs
