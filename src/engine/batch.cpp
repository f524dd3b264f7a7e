#include "engine/batch.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xxhash.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "base/format.hpp"
#include "os/private_file.hpp"

namespace forebay {
namespace {

constexpr std::uint64_t kBatchMagic = 0x48435441'42594246;  // "FBYBATCH"
constexpr std::string_view kPrefix = "batch-";

// The file: this, then `count` entries and two for each will, then the bytes of all.
struct Head {
  std::uint64_t magic;
  std::uint64_t check;  // XXH3 of all that follows
  std::uint64_t device, inode, born_ns;
  std::uint32_t generation;
  std::uint32_t resizes;
  std::uint64_t size;
  std::uint64_t count;
  std::uint64_t wills;
};
struct Entry {
  std::uint64_t offset, length;
};
constexpr std::size_t kChecked = offsetof(Head, device);

std::string name_of(std::uint32_t file, std::uint32_t word) {
  return format_text("{}{}.{}", kPrefix, file, (word & kBatchPlace) != 0 ? 1 : 0);
}

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
          .count = 0,
          .wills = 0};
}

bool same_file(const Head& a, const Head& b) {
  return a.device == b.device && a.inode == b.inode && a.born_ns == b.born_ns && a.generation == b.generation;
}

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
  const auto most = rest.size() / sizeof(Entry);
  if (head.count > most || head.wills > (most - head.count) / 2) return fail(EBADMSG, "its entries are cut");
  const auto entries = head.count + 2 * head.wills;
  auto data = rest.subspan(entries * sizeof(Entry));
  std::vector<Piece> found;
  for (std::uint64_t i = 0; i < entries; ++i) {
    Entry entry{};
    std::memcpy(&entry, rest.data() + i * sizeof entry, sizeof entry);
    if (entry.length > data.size()) return fail(EBADMSG, "its bytes are cut");
    found.push_back({entry.offset, data.first(entry.length)});
    data = data.subspan(entry.length);
  }
  for (auto i = head.count; i < entries; i += 2)
    batch.wills.push_back({found[i].offset, found[i].data, found[i + 1].data});
  found.resize(head.count);
  batch.pieces = std::move(found);
  return batch;
}

}  // namespace

Result<std::uint32_t> write_down(const Core& core, std::uint32_t file, const Batch& batch,
                                 std::uint32_t standing) {
  auto pieces = batch.pieces;
  for (const auto& will : batch.wills) {
    pieces.push_back({will.offset, will.before});
    pieces.push_back({will.offset, will.after});
  }
  auto head = head_of(core.control.file(file));
  head.resizes = batch.size ? 1 : 0;
  head.size = batch.size.value_or(0);
  head.count = batch.pieces.size();
  head.wills = batch.wills.size();
  std::vector<std::byte> bytes;
  std::size_t total = sizeof head + pieces.size() * sizeof(Entry);
  for (const auto& piece : pieces) total += piece.data.size();
  bytes.reserve(total);
  append(bytes, std::span<const Head>(&head, 1));
  for (const auto& piece : pieces) {
    const Entry entry{piece.offset, piece.data.size()};
    append(bytes, std::span<const Entry>(&entry, 1));
  }
  for (const auto& piece : pieces) append(bytes, piece.data);
  head.check = XXH3_64bits(bytes.data() + kChecked, bytes.size() - kChecked);
  std::memcpy(bytes.data(), &head, sizeof head);

  const auto word = (static_cast<std::uint32_t>(head.check) & kBatchCheck) | kBatchSet |
                    (standing != 0 && (standing & kBatchPlace) == 0 ? kBatchPlace : 0u);
  FOREBAY_ASSIGN(const auto directory, directory_of(core));
  FOREBAY_ASSIGN(const auto fd,
                 open_private_file(directory, name_of(file, word), Create::kIfMissing, O_TRUNC));
  if (auto status = write_fully(fd.get(), bytes.data(), bytes.size(), 0); !status) {
    discard_batch(core, file, word);
    return std::unexpected(status.error());
  }
  return word;
}

Result<FoundBatch> find_batch(const Core& core, std::uint32_t file, std::uint32_t committed) {
  FOREBAY_ASSIGN(const auto directory, directory_of(core));
  FOREBAY_ASSIGN(const auto fd, open_private_file(directory, name_of(file, committed), Create::kNever));
  struct stat there{};
  if (::fstat(fd.get(), &there) != 0) return fail_errno(errno, "examine", name_of(file, committed));
  FoundBatch found;
  found.bytes.resize(static_cast<std::size_t>(there.st_size));
  FOREBAY_ASSIGN(const auto got, read_fully(fd.get(), found.bytes.data(), found.bytes.size(), 0));
  Head head{};
  if (got != found.bytes.size() || got < sizeof head) return fail(EBADMSG, "it is cut");
  std::memcpy(&head, found.bytes.data(), sizeof head);
  const auto check = XXH3_64bits(found.bytes.data() + kChecked, found.bytes.size() - kChecked);
  if (head.magic != kBatchMagic || head.check != check || ((check ^ committed) & kBatchCheck) != 0)
    return fail(EBADMSG, "its check is wrong");
  if (!same_file(head, head_of(core.control.file(file)))) return fail(EBADMSG, "it is another file's");
  FOREBAY_ASSIGN(found.batch, pieces_of(found.bytes, head));
  return found;
}

void discard_batch(const Core& core, std::uint32_t file, std::uint32_t word) {
  if (const auto directory = directory_of(core)) ::unlinkat(directory->get(), name_of(file, word).c_str(), 0);
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
