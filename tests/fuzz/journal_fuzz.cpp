// A journal and its ledger, changed at will: whatever is replayed is what was written, or the change was
// sealed anew as only a writer can, and even then nothing reaches outside its file.
//
// Input: a byte of flags (1: seal anew what was changed), then patches: which file (even: journal, odd:
// ledger), three bytes of position, one of length, and that many bytes.
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "os/private_file.hpp"
#include "os/temporary_directory.hpp"
#include "tier/journal.hpp"
#include "tier/journal_directory.hpp"
#include "tier/journal_format.hpp"
#include "tier/replay.hpp"

namespace {

using namespace forebay;

void require(bool holds, std::string_view what) {
  if (holds) return;
  std::fprintf(stderr, "violated: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

std::string read_whole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A seq tells everything about its write.
struct Write {
  std::uint64_t inode, offset;
  std::string data;
};

Write write_of(std::uint64_t seq) {
  return {10 + seq % 2, seq * 100, std::string(1 + seq * 331 % 3000, static_cast<char>('a' + seq % 26))};
}

// What the changes start from: two files, one of them home in part, and a log that has begun its second lap.
struct Original {
  static constexpr std::uint64_t kWrites = 20;
  TemporaryDirectory directory{::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"};
  std::string journal_name, journal, ledger;
  std::uint64_t journal_id = 0, ledger_id = 0;

  Original() {
    auto writer = Journal::create(directory.fd(), kJournalSizeLeast, Journal::Medium::kFile).value();
    std::map<std::uint64_t, JournalFile> files;
    for (const std::uint64_t inode : {10u, 11u}) {
      files[inode] = writer->add_file({1, inode, 7, "/home/" + std::to_string(inode)}).value();
    }
    for (std::uint64_t seq = 1; seq <= kWrites; ++seq) {
      const auto write = write_of(seq);
      require(writer->append(files[write.inode], seq, write.offset, std::as_bytes(std::span(write.data)))
                  .has_value(),
              "append");
      if (seq == 12) require(writer->mark_home(files[10], 12) && writer->mark_home(files[11], 9), "mark");
    }
    journal_name = writer->path().substr(writer->path().find_last_of('/') + 1);
    journal = read_whole(writer->path());
    ledger = read_whole(directory.file(HomeLedger::kFileName));
    JournalHeader header{};
    std::memcpy(&header, journal.data(), sizeof header);
    journal_id = header.id;
    ledger_id = header.ledger_id;
  }
};

const Original& original() {
  static const Original kOriginal;  // destroyed at the end, with its directory
  return kOriginal;
}

template <class T>
T load(const std::string& bytes, std::size_t position) {
  T value{};
  std::memcpy(&value, bytes.data() + position, std::min(sizeof value, bytes.size() - position));
  return value;
}

template <class T, class... Where>
void seal_at(std::string& bytes, std::size_t position, Where... where) {
  if (position + sizeof(T) > bytes.size()) return;
  auto value = load<T>(bytes, position);
  seal(value, where...);
  std::memcpy(bytes.data() + position, &value, sizeof value);
}

void seal_journal(std::string& journal) {
  for (const std::size_t position : {0u, 4096u}) seal_at<JournalHeader>(journal, position);
  for (std::size_t position = kJournalHeaderSize; position + sizeof(RecordHeader) <= journal.size();
       position += kRecordAlignment) {
    auto record = load<RecordHeader>(journal, position);
    const auto payload = position + sizeof record;
    if (record.magic != kRecordMagic || record.length > journal.size() - payload) continue;
    record.payload_check = check_bytes(std::as_bytes(std::span(journal).subspan(payload, record.length)));
    std::memcpy(journal.data() + position, &record, sizeof record);
    seal_at<RecordHeader>(journal, position, original().journal_id, std::uint64_t{position});
  }
}

void seal_ledger(std::string& ledger) {
  for (const std::size_t position : {0u, 4096u}) seal_at<LedgerHeader>(ledger, position);
  for (std::size_t position = 8192; position < ledger.size(); position += 4096) {
    if (load<LedgerEntry>(ledger, position).magic != kLedgerMagic) continue;
    seal_at<LedgerEntry>(ledger, position, original().ledger_id,
                         static_cast<std::uint32_t>(position / 8192 - 1));
  }
}

class Home final : public ReplayVisitor {
 public:
  explicit Home(bool sealed) : sealed_(sealed) {}
  Status begin(const FileIdentity& file) override {
    require(sealed_ || file.path == "/home/" + std::to_string(file.inode), "a file of the original");
    inode_ = file.inode;
    return {};
  }
  Status write(std::uint64_t offset, std::span<const std::byte> data) override {
    require(!data.empty() && data.size() <= kPayloadMost && offset + data.size() > offset,
            "a write within a file");
    if (sealed_) return {};
    const auto write = write_of(offset / 100);
    require(write.inode == inode_ && write.offset <= offset, "a write of the original");
    const std::string_view bytes(reinterpret_cast<const char*>(data.data()), data.size());
    require(write.data.substr(offset - write.offset, data.size()) == bytes, "bytes of the original");
    return {};
  }
  Status truncate(std::uint64_t) override {
    require(sealed_, "nobody truncated");
    return {};
  }
  Status end() override { return {}; }

 private:
  bool sealed_;
  std::uint64_t inode_ = 0;
};

void put(const std::string& name, const std::string& content) {
  const auto file = open_private_file(original().directory.fd(), name, Create::kExclusive).value();
  require(write_fully(file.get(), content.data(), content.size(), 0).has_value(), "write");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto& directory = original().directory.fd();
  std::string journal = original().journal;
  std::string ledger = original().ledger;
  const bool sealed = (data[0] & 1) != 0;
  for (std::size_t at = 1; at + 5 <= size;) {
    auto& target = data[at] % 2 == 0 ? journal : ledger;
    const std::size_t position =
        (data[at + 1] | std::size_t{data[at + 2]} << 8 | std::size_t{data[at + 3]} << 16) % target.size();
    const auto length = std::min({std::size_t{data[at + 4]}, size - at - 5, target.size() - position});
    std::memcpy(target.data() + position, data + at + 5, length);
    at += 5 + length;
  }
  if (sealed) {
    seal_journal(journal);
    seal_ledger(ledger);
  }
  const auto old_names = list_names(directory).value();
  for (const auto& name : old_names) {
    if (!name.starts_with('.')) ::unlinkat(directory.get(), name.c_str(), 0);
  }
  put(original().journal_name, journal);
  put(HomeLedger::kFileName, ledger);

  Home home(sealed);
  const auto report = replay(directory, home);
  if (!report) {
    require(!report.error().message.empty(), "an error has words");
    return 0;
  }
  require(report->refused == 0 || !report->remarks.empty(), "what is refused is said");
  require(report->records <= Original::kWrites || sealed, "no more records than were written");
  const auto again = replay(directory, home);
  require(again && again->records == 0, "what is home is not replayed again");
  return 0;
}
