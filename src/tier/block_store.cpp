#include "tier/block_store.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "os/own_file_size.hpp"
#include "os/private_file.hpp"
#include "tier/slot_range.hpp"

namespace forebay {
namespace {

constexpr std::uint64_t kBounceMost = 256u << 10;

// Some file systems take the flag and then refuse the transfer.
bool transfers_directly(const SteadyFile& file) {
  const auto fd = file.descriptor();
  if (!fd) return false;
  const auto block = make_aligned_buffer(kBlock);
  return ::pread(*fd, block.get(), kBlock, 0) >= 0;
}

Result<SteadyFile> open_file(const Fd& directory, const std::string& name, Create create, bool& direct) {
  auto file = SteadyFile::open(directory, name, create, O_DIRECT);
  direct = file && transfers_directly(*file);
  if (direct || (!file && file.error().code != EINVAL)) return file;
  // The refused attempt may have made the file already.
  return SteadyFile::open(directory, name, create == Create::kNever ? Create::kNever : Create::kIfMissing);
}

}  // namespace

BlockStore::BlockStore(SteadyFile file, std::uint64_t bucket_size, std::uint64_t slots, bool direct)
    : file_(std::move(file)),
      bucket_size_(bucket_size),
      slots_(slots),
      direct_(direct),
      bounce_(std::make_unique<BufferPool>(std::min(bucket_size, kBounceMost))) {}

Result<BlockStore> BlockStore::open(const Fd& directory, const std::string& file_name,
                                    std::uint64_t bucket_size, std::uint64_t slots, Create create) {
  FOREBAY_TRY(check_store_shape(file_name, bucket_size, slots));
  bool direct = false;
  FOREBAY_ASSIGN(auto file, open_file(directory, file_name, create, direct));
  return BlockStore(std::move(file), bucket_size, slots, direct);
}

std::string BlockStore::shared_file_name(const std::string& tier) {
  std::array<char, 256> host{};
  const bool named = ::gethostname(host.data(), host.size() - 1) == 0 && host[0] != '\0';
  std::string name = tier + "-" + (named ? host.data() : "unnamed");
  std::ranges::replace(name, '/', '_');
  return name + ".data";
}

std::unexpected<Error> BlockStore::failure(int code, const char* action, std::uint64_t position) const {
  return fail_errno(code, action,
                    "bucket " + std::to_string(position / bucket_size_) + " of " + file_.path());
}

Status BlockStore::check(std::uint64_t slot, std::uint64_t offset, std::uint64_t length) const {
  FOREBAY_TRY(check_slot_range(file_.path(), slot, slot + 1, slots_));
  if (offset <= bucket_size_ && length <= bucket_size_ - offset) return {};
  return fail(EINVAL, "a bucket of " + file_.path() + " ends before the bytes asked for");
}

Status BlockStore::grow(std::uint64_t from, std::uint64_t to) {
  FOREBAY_TRY(check_slot_range(file_.path(), from, to, slots_));
  FOREBAY_TRY(file_.still_there());
  FOREBAY_ASSIGN(const int fd, file_.descriptor());
  auto reserved = reserve_storage(fd, from * bucket_size_, to * bucket_size_, file_.path());
  if (reserved || reserved.error().code != EOPNOTSUPP) return reserved;
  FOREBAY_ASSIGN(const auto already, reserved_slots());
  if (already >= to) return {};
  const OwnFileSize own_size;
  if (::ftruncate(fd, static_cast<off_t>(to * bucket_size_)) != 0)
    return fail_errno(errno, "lengthen", file_.path());
  return {};
}

Result<std::uint64_t> BlockStore::reserved_slots() const {
  FOREBAY_ASSIGN(const int fd, file_.descriptor());
  struct stat found{};
  if (::fstat(fd, &found) != 0) return fail_errno(errno, "examine", file_.path());
  return std::min(static_cast<std::uint64_t>(found.st_size) / bucket_size_, slots_);
}

Status BlockStore::write_at(std::uint64_t position, std::uint64_t length, const std::byte* data) const {
  FOREBAY_ASSIGN(const int fd, file_.descriptor());
  if (const auto written = write_fully(fd, data, length, position); !written) {
    return failure(written.error().code, "write", position);
  }
  return {};
}

Status BlockStore::read_at(std::uint64_t position, std::uint64_t length, std::byte* to) const {
  FOREBAY_ASSIGN(const int fd, file_.descriptor());
  const auto got = read_fully(fd, to, length, position);
  if (!got) return failure(got.error().code, "read", position);
  if (*got != length)
    return fail(EIO, file_.path() + " is shorter than it was: bucket " +
                         std::to_string(position / bucket_size_) + " is gone");
  return {};
}

Status BlockStore::write(std::uint64_t slot, std::uint64_t offset, std::uint64_t length,
                         const std::byte* data) {
  FOREBAY_TRY(check(slot, offset, length));
  if (!is_aligned(offset) || !is_aligned(length)) {
    return fail(EINVAL, "a write to " + file_.path() + " is not a multiple of 4 KiB");
  }
  auto position = slot * bucket_size_ + offset;
  if (!direct_ || is_aligned(data)) return write_at(position, length, data);
  const auto bounce = bounce_->take();
  for (std::uint64_t done = 0; done < length;) {
    const auto part = std::min<std::uint64_t>(bounce.size(), length - done);
    std::memcpy(bounce.data(), data + done, part);
    FOREBAY_TRY(write_at(position + done, part, bounce.data()));
    done += part;
  }
  return {};
}

Status BlockStore::read(std::uint64_t slot, std::uint64_t offset, std::uint64_t length, std::byte* to) {
  FOREBAY_TRY(check(slot, offset, length));
  auto position = slot * bucket_size_ + offset;
  if (!direct_) return read_at(position, length, to);
  const auto end = position + length;
  while (position < end) {
    if (is_aligned(position) && is_aligned(to) && end - position >= kBlock) {
      const auto part = round_down(end - position);
      FOREBAY_TRY(read_at(position, part, to));
      position += part;
      to += part;
      continue;
    }
    const auto bounce = bounce_->take();
    const auto first = round_down(position);
    // When source and target are misaligned alike, only the ends need the detour.
    const bool alike = is_aligned(to + (round_up(position) - position));
    const auto window = alike ? kBlock : std::min<std::uint64_t>(bounce.size(), round_up(end) - first);
    FOREBAY_TRY(read_at(first, window, bounce.data()));
    const auto part = std::min(first + window, end) - position;
    std::memcpy(to, bounce.data() + (position - first), part);
    position += part;
    to += part;
  }
  return {};
}

}  // namespace forebay
