// What a reader makes of torn, flipped and stale journals.
#include "tier/journal_reader.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "os/fd.hpp"
#include "os/private_file.hpp"
#include "os/temporary_directory.hpp"
#include "support/seed.hpp"
#include "tier/journal.hpp"
#include "tier/memory_home.hpp"

namespace forebay {
namespace {

using Image = std::vector<char>;

class JournalReaderTest : public ::testing::Test {
 protected:
  explicit JournalReaderTest(Journal::Medium medium = Journal::Medium::kFile) {
    journal_ = Journal::create(directory_.fd(), kJournalSizeLeast, medium).value();
    file_ = journal_->add_file({1, 10, 7, "/home/10"}).value();
  }
  // Each record's bytes are a function of its seq.
  static std::string payload(std::uint64_t seq) {
    std::minstd_rand random(static_cast<unsigned>(seq));
    std::string bytes(1 + random() % 2500, '\0');
    for (auto& byte : bytes) byte = static_cast<char>(random());
    return bytes;
  }
  void append(std::uint64_t seq) {
    ASSERT_TRUE(journal_->append(file_, seq, seq * 1000, bytes_of(payload(seq))));
  }
  [[nodiscard]] Image image() const {
    std::ifstream file(journal_->path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static Fd as_file(const Image& image) {
    Fd fd(::memfd_create("journal", MFD_CLOEXEC));
    EXPECT_TRUE(write_fully(fd.get(), image.data(), image.size(), 0));
    return fd;
  }
  // The seqs found; every record found must be exactly one that was written.
  static std::vector<std::uint64_t> seqs_in(const Image& image) {
    const auto fd = as_file(image);
    const auto contents = read_journal(fd.get(), "journal");
    if (!contents) return {};
    std::vector<std::uint64_t> seqs;
    for (const auto& record : contents->records) {
      const auto expected = payload(record.seq);
      std::string bytes(record.length, '\0');
      EXPECT_TRUE(read_payload(fd.get(), "journal", record, std::as_writable_bytes(std::span(bytes)).data()));
      EXPECT_EQ(bytes, expected) << "seq " << record.seq;
      EXPECT_EQ(record.offset, record.seq * 1000);
      seqs.push_back(record.seq);
    }
    return seqs;
  }

  TemporaryDirectory directory_;
  std::unique_ptr<Journal> journal_;
  JournalFile file_;
};

class JournalLapTest : public JournalReaderTest, public ::testing::WithParamInterface<Journal::Medium> {
 protected:
  JournalLapTest() : JournalReaderTest(GetParam()) {}
  // Where the mark lies, when the first byte that changed is in one.
  static std::optional<std::ptrdiff_t> mark_at(std::uint64_t changed) {
    const auto mark = changed - (changed - kJournalHeaderSize) % kSegmentSizeLeast;
    if (changed >= mark + kSegmentMarkSize) return std::nullopt;
    return static_cast<std::ptrdiff_t>(mark);
  }
};

std::vector<std::uint64_t> up_to(std::uint64_t last) {
  std::vector<std::uint64_t> seqs;
  for (std::uint64_t seq = 1; seq <= last; ++seq) seqs.push_back(seq);
  return seqs;
}

std::pair<std::size_t, std::size_t> difference(const Image& one, const Image& two) {
  std::size_t from = 0;
  while (one[from] == two[from]) ++from;
  auto to = one.size();
  while (one[to - 1] == two[to - 1]) --to;
  return {from, to};
}

TEST_F(JournalReaderTest, ATornEndIsRecognisedAtEveryByte) {
  for (std::uint64_t seq = 1; seq <= 3; ++seq) append(seq);
  const auto before = image();
  append(4);
  const auto after = image();
  const auto [from, to] = difference(before, after);
  for (auto cut = from; cut <= to; ++cut) {
    Image torn = before;
    std::copy_n(after.begin(), cut, torn.begin());
    ASSERT_EQ(seqs_in(torn), up_to(cut < to ? 3 : 4)) << "cut at byte " << cut;
  }
}

TEST_F(JournalReaderTest, AShortenedFileKeepsWhatIsLeft) {
  for (std::uint64_t seq = 1; seq <= 4; ++seq) append(seq);
  const auto whole = image();
  std::size_t most = 4;
  for (auto size = whole.size(); size > 0; size -= std::min<std::size_t>(size, 509)) {
    const auto seqs = seqs_in({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)});
    ASSERT_LE(seqs.size(), most);
    most = seqs.size();
  }
}

// Power loss while `after` was being written over `before`: each grain (a disk's sector, a line of memory) is
// the old one, the new one or neither.
Image lose_power(const Image& before, const Image& after, std::size_t grain, std::mt19937_64& random) {
  Image mixed = before;
  if (before == after) return mixed;
  const auto [from, to] = difference(before, after);
  for (auto at = from / grain * grain; at < to; at += grain) {
    const auto fate = random() % 3;
    if (fate == 0) continue;
    for (auto i = at; i < at + grain; ++i) mixed[i] = fate == 1 ? after[i] : static_cast<char>(random());
  }
  return mixed;
}

TEST_F(JournalReaderTest, PowerLossTakesNothingThatWasAcknowledged) {
  std::mt19937_64 random(testing::choose_seed("JournalReader"));
  auto before = image();
  for (std::uint64_t seq = 1; seq <= 9; ++seq) {
    append(seq);
    const auto after = image();
    for (int round = 0; round < 40; ++round) {
      auto seqs = seqs_in(lose_power(before, after, 512, random));
      if (!seqs.empty() && seqs.back() == seq) seqs.pop_back();
      ASSERT_EQ(seqs, up_to(seq - 1));
    }
    before = after;
  }
}

// The torn beginning of a lap overwrites records of the lap before, which are home. They were once counted as
// acknowledged records that are lost.
TEST_P(JournalLapTest, PowerLossWhileASegmentIsUsedAgainIsNoLoss) {
  constexpr std::uint64_t kNotHome = 5;
  const std::size_t grain = GetParam() == Journal::Medium::kFile ? 512 : 64;
  std::mt19937_64 random(testing::choose_seed("JournalReader"));
  auto before = image();
  int begun = 0;
  for (std::uint64_t seq = 1; begun <= 16; ++seq) {  // each segment twice
    ASSERT_LT(seq, 200u);
    append(seq);
    const auto after = image();
    const auto [from, to] = difference(before, after);
    // The mark of a new lap is durable before anything is written behind it.
    auto marked = before;
    if (const auto mark = mark_at(from)) {
      std::copy_n(after.begin() + *mark, kSegmentMarkSize, marked.begin() + *mark);
      ++begun;
    }
    for (int round = 0; round < 20; ++round) {
      const auto mixed = round % 4 == 0 ? lose_power(before, marked, grain, random)
                                        : lose_power(marked, after, grain, random);
      const auto contents = read_journal(as_file(mixed).get(), "journal").value();
      ASSERT_EQ(contents.lost, 0u) << "seq " << seq << " round " << round;
      const auto seqs = seqs_in(mixed);
      for (auto one = seq - std::min(seq - 1, kNotHome); one < seq; ++one)
        ASSERT_TRUE(std::ranges::contains(seqs, one)) << one << " after " << seq << " round " << round;
    }
    ASSERT_TRUE(journal_->mark_home(file_, seq - std::min(seq, kNotHome)));
    before = after;
  }
}

INSTANTIATE_TEST_SUITE_P(Medium, JournalLapTest,
                         ::testing::Values(Journal::Medium::kFile, Journal::Medium::kPmem),
                         [](const auto& medium) {
                           return medium.param == Journal::Medium::kFile ? "File" : "Pmem";
                         });

TEST_F(JournalReaderTest, FlippedBitsCostTheirRecordsAndNothingElse) {
  for (std::uint64_t seq = 1; seq <= 10; ++seq) append(seq);
  const auto whole = image();
  std::mt19937_64 random(testing::choose_seed("JournalReader"));
  for (int round = 0; round < 300; ++round) {
    auto flipped = whole;
    const auto flips = 1 + random() % 32;
    // Every other time the header may be hit as well, and then even all may be lost.
    const auto first = round % 2 == 0 ? kJournalHeaderSize : 0;
    for (unsigned i = 0; i < flips; ++i) {
      const auto bit = first * 8 + random() % ((flipped.size() - first) * 8);
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    }
    const auto seqs = seqs_in(flipped);
    ASSERT_TRUE(std::ranges::is_sorted(seqs));
    ASSERT_TRUE(first == 0 || seqs.size() + flips >= 10u) << "a flip costs one record at most";
  }
}

TEST_F(JournalReaderTest, DamageBeforeLaterBatchesIsCountedAsLoss) {
  for (std::uint64_t seq = 1; seq <= 3; ++seq) append(seq);
  auto flipped = image();
  const auto fd = as_file(flipped);
  const auto second = read_journal(fd.get(), "journal")->records[1];
  flipped[second.payload_position] = static_cast<char>(~flipped[second.payload_position]);
  const auto damaged = read_journal(as_file(flipped).get(), "journal").value();
  EXPECT_EQ(damaged.lost, 1u);
  EXPECT_EQ(damaged.broken, std::vector<std::uint64_t>{second.payload_position - sizeof(RecordHeader)});
  EXPECT_EQ(damaged.records.size(), 2u);

  auto torn = image();
  const auto third = read_journal(fd.get(), "journal")->records[2];
  torn[third.payload_position] = static_cast<char>(~torn[third.payload_position]);
  const auto contents = read_journal(as_file(torn).get(), "journal").value();
  EXPECT_EQ(contents.lost, 0u) << "the last batch may just be torn";
  EXPECT_EQ(contents.broken.size(), 1u);
}

TEST_F(JournalReaderTest, NothingOfAnEarlierLapIsSeen) {
  for (std::uint64_t seq = 1; seq <= 61; ++seq) {
    append(seq);
    ASSERT_TRUE(journal_->mark_home(file_, seq));
  }
  // Two records fit into each of the 8 segments. The last one lies in front of seq 46, which is of an earlier
  // lap.
  auto seqs = seqs_in(image());
  std::ranges::sort(seqs);
  ASSERT_EQ(seqs.size(), 15u);
  for (std::uint64_t i = 0; i < 15; ++i) EXPECT_EQ(seqs[i], 47 + i);
}

TEST_F(JournalReaderTest, EitherCopyOfTheHeaderWillDo) {
  append(1);
  auto one = image();
  one[20] ^= 1;
  EXPECT_EQ(seqs_in(one), up_to(1));
  one[4096 + 20] ^= 1;
  EXPECT_EQ(read_journal(as_file(one).get(), "journal").error().code, EBADMSG);
}

TEST_F(JournalReaderTest, ForeignFilesAreRefused) {
  EXPECT_EQ(read_journal(as_file({}).get(), "x").error().code, EBADMSG);
  EXPECT_EQ(read_journal(as_file(Image(100'000, 'x')).get(), "x").error().code, EBADMSG);
}

// A journal that somebody backs up through Forebay is then payload of a journal.
TEST_F(JournalReaderTest, ACopyOfAJournalInsideAPayloadIsNotRead) {
  append(1);
  append(2);
  const auto copy = image();
  journal_ = Journal::create(directory_.fd(), 4 << 20, Journal::Medium::kFile).value();
  file_ = journal_->add_file({1, 10, 7, "/home/10"}).value();
  ASSERT_TRUE(journal_->append(file_, 9, 0, std::as_bytes(std::span(copy))));
  auto whole = image();
  const auto record = read_journal(as_file(whole).get(), "journal")->records.at(0);
  // Even when its own record is damaged and the payload is searched for records.
  whole[record.payload_position - 8] ^= 1;
  EXPECT_TRUE(read_journal(as_file(whole).get(), "journal")->records.empty());
}

}  // namespace
}  // namespace forebay
