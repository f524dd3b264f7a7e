#include "tier/journal_format.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace forebay {
namespace {

RecordHeader data_record() {
  RecordHeader record{};
  record.magic = kRecordMagic;
  record.kind = RecordKind::kData;
  record.lap = 3;
  record.seq = 17;
  record.offset = 100;
  record.length = 10;
  return record;
}

TEST(JournalFormat, ARecordCountsOnlyInItsPlaceAndItsJournal) {
  auto record = data_record();
  seal(record, 42, 8192);
  EXPECT_TRUE(is_sound(record, 42, 8192));
  EXPECT_FALSE(is_sound(record, 43, 8192));
  EXPECT_FALSE(is_sound(record, 42, 8256));
}

template <class T, class Sound>
void expect_every_flip_seen(const T& sealed, Sound sound) {
  ASSERT_TRUE(sound(sealed));
  for (std::size_t bit = 0; bit < sizeof(T) * 8; ++bit) {
    T flipped = sealed;
    auto* bytes = reinterpret_cast<unsigned char*>(&flipped);
    bytes[bit / 8] = static_cast<unsigned char>(bytes[bit / 8] ^ (1u << (bit % 8)));
    ASSERT_FALSE(sound(flipped)) << "bit " << bit;
  }
}

TEST(JournalFormat, EveryFlippedBitIsSeen) {
  auto record = data_record();
  seal(record, 42, 8192);
  expect_every_flip_seen(record, [](const auto& one) { return is_sound(one, 42, 8192); });

  JournalHeader journal{kJournalMagic,     kJournalFormat,    kSegments, 1, 2,
                        kJournalSizeLeast, kSegmentSizeLeast, 0,         0};
  seal(journal);
  expect_every_flip_seen(journal, [](const auto& one) { return is_sound(one); });

  LedgerHeader ledger{kLedgerMagic, kJournalFormat, 0, 5, 0};
  seal(ledger);
  expect_every_flip_seen(ledger, [](const auto& one) { return is_sound(one); });

  LedgerEntry entry{};
  entry.magic = kLedgerMagic;
  entry.used = 1;
  entry.path_length = 5;
  std::memcpy(entry.path.data(), "/a/bc", 5);
  seal(entry, 5, 7);
  expect_every_flip_seen(entry, [](const auto& one) { return is_sound(one, 5, 7); });
  EXPECT_FALSE(is_sound(entry, 5, 8));
  EXPECT_FALSE(is_sound(entry, 6, 7));
}

TEST(JournalFormat, SealedNonsenseIsRefused) {
  auto record = data_record();
  record.length = kPayloadMost + 1;
  seal(record, 42, 8192);
  EXPECT_FALSE(is_sound(record, 42, 8192));
  record = data_record();
  record.offset = ~std::uint64_t{0};
  seal(record, 42, 8192);
  EXPECT_FALSE(is_sound(record, 42, 8192));
  record = data_record();
  record.kind = static_cast<RecordKind>(9);
  seal(record, 42, 8192);
  EXPECT_FALSE(is_sound(record, 42, 8192));

  JournalHeader journal{kJournalMagic, kJournalFormat, kSegments, 1, 2, 8192, ~std::uint64_t{4095}, 0, 0};
  seal(journal);
  EXPECT_FALSE(is_sound(journal));
  journal = {kJournalMagic, kJournalFormat + 1, kSegments, 1, 2, kJournalSizeLeast, kSegmentSizeLeast, 0, 0};
  seal(journal);
  EXPECT_FALSE(is_sound(journal)) << "another version";
}

}  // namespace
}  // namespace forebay
