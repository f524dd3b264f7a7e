#include "engine/batch.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xxhash.h>

#include <cerrno>
#include <cstring>
#include <format>
#include <memory>
#include <string>
#include <string_view>

#include "os/private_file.hpp"

namespace forebay {
namespace {

constexpr std::uint64_t kBatchMagic = 0x48435441'42594246;  // "FBYBATCH"
constexpr std::string_view kPrefix = "batch-";

// The file: this, then `count` entries, then their bytes.
struct Head {
  std::uint64_t magic;
  std::uint64_t check;  // XXH3 of all that follows
  std::uint64_t device, inode, born_ns;
  std::uint32_t generation;
  std::uint32_t resizes;
  std::uint64_t size;
  std::uint64_t count;
};
struct Entry {
  std::uint64_t offset, length;
};
constexpr std::size_t kChecked = offsetof(Head, device);

std::string name_of(std::uint32_t file) { return std::format("{}{}", kPrefix, file); }

Result<Fd> directory_of(const Core& core) {
  return open_private_directory(core.control.directory(), Create::kNever);
}

Head head_of(const FileRecord& record) {
  return {.magic = kBatchMagic,
          .check = 0,
          .device = record.device,
          .inode = record.inode,
          .born_ns = record.born_ns,
          .generation = record.generation.load(),
          .resizes = 0,
          .size = 0,
          .count = 0};
}

bool same_file(const Head& a, const Head& b) {
  return a.device == b.device && a.inode == b.inode && a.born_ns == b.born_ns && a.generation == b.generation;
}

std::uint32_t word_of(std::uint64_t check) { return static_cast<std::uint32_t>(check) | 1; }

template <class T>
void append(std::vector<std::byte>& to, std::span<const T> what) {
  const auto bytes = std::as_bytes(what);
  to.insert(to.end(), bytes.begin(), bytes.end());
}

// The pieces of what was read, if its lengths add up.
Result<Batch> pieces_of(std::span<const std::byte> bytes, const Head& head) {
  Batch batch;
  if (head.resizes != 0) batch.size = head.size;
  auto rest = bytes.subspan(sizeof(Head));
  if (head.count > rest.size() / sizeof(Entry)) return fail(EBADMSG, "its entries are cut");
  auto data = rest.subspan(head.count * sizeof(Entry));
  for (std::uint64_t i = 0; i < head.count; ++i) {
    Entry entry{};
    std::memcpy(&entry, rest.data() + i * sizeof entry, sizeof entry);
    if (entry.length > data.size()) return fail(EBADMSG, "its bytes are cut");
    batch.pieces.push_back({entry.offset, data.first(entry.length)});
    data = data.subspan(entry.length);
  }
  return batch;
}

}  // namespace

Result<std::uint32_t> write_down(const Core& core, std::uint32_t file, const Batch& batch) {
  auto head = head_of(core.control.file(file));
  head.resizes = batch.size ? 1 : 0;
  head.size = batch.size.value_or(0);
  head.count = batch.pieces.size();
  std::vector<std::byte> bytes;
  std::size_t total = sizeof head + batch.pieces.size() * sizeof(Entry);
  for (const auto& piece : batch.pieces) total += piece.data.size();
  bytes.reserve(total);
  append(bytes, std::span<const Head>(&head, 1));
  for (const auto& piece : batch.pieces) {
    const Entry entry{piece.offset, piece.data.size()};
    append(bytes, std::span<const Entry>(&entry, 1));
  }
  for (const auto& piece : batch.pieces) append(bytes, piece.data);
  head.check = XXH3_64bits(bytes.data() + kChecked, bytes.size() - kChecked);
  std::memcpy(bytes.data(), &head, sizeof head);

  FOREBAY_ASSIGN(const auto directory, directory_of(core));
  FOREBAY_ASSIGN(const auto fd, open_private_file(directory, name_of(file), Create::kIfMissing, O_TRUNC));
  if (auto status = write_fully(fd.get(), bytes.data(), bytes.size(), 0); !status) {
    discard_batch(core, file);
    return std::unexpected(status.error());
  }
  return word_of(head.check);
}

Result<FoundBatch> find_batch(const Core& core, std::uint32_t file, std::uint32_t committed) {
  FOREBAY_ASSIGN(const auto directory, directory_of(core));
  FOREBAY_ASSIGN(const auto fd, open_private_file(directory, name_of(file), Create::kNever));
  struct stat there{};
  if (::fstat(fd.get(), &there) != 0) return fail_errno(errno, "examine", name_of(file));
  FoundBatch found;
  found.bytes.resize(static_cast<std::size_t>(there.st_size));
  FOREBAY_ASSIGN(const auto got, read_fully(fd.get(), found.bytes.data(), found.bytes.size(), 0));
  Head head{};
  if (got != found.bytes.size() || got < sizeof head) return fail(EBADMSG, "it is cut");
  std::memcpy(&head, found.bytes.data(), sizeof head);
  const auto check = XXH3_64bits(found.bytes.data() + kChecked, found.bytes.size() - kChecked);
  if (head.magic != kBatchMagic || head.check != check || word_of(check) != committed)
    return fail(EBADMSG, "its check is wrong");
  if (!same_file(head, head_of(core.control.file(file)))) return fail(EBADMSG, "it is another file's");
  FOREBAY_ASSIGN(found.batch, pieces_of(found.bytes, head));
  return found;
}

void discard_batch(const Core& core, std::uint32_t file) {
  if (const auto directory = directory_of(core)) ::unlinkat(directory->get(), name_of(file).c_str(), 0);
}

void discard_all_batches(const Fd& directory) {
  const int copy = ::openat(directory.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return;
  const std::unique_ptr<DIR, int (*)(DIR*)> list(::fdopendir(copy), ::closedir);
  if (!list) {
    ::close(copy);
    return;
  }
  while (const auto* const entry = ::readdir(list.get())) {
    if (std::string_view(entry->d_name).starts_with(kPrefix)) ::unlinkat(directory.get(), entry->d_name, 0);
  }
}

}  // namespace forebay
