// Bits that flip in the keys and the index of a buffer in use: never a wrong byte read, none written home
// that nobody wrote, none lost in silence.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <random>

#include "base/log.hpp"
#include "engine/test_buffer.hpp"

namespace forebay {
namespace {

constexpr std::uint64_t kDamagedBlock = 4096;
constexpr std::uint64_t kDamagedBlocks = 6;

class IndexDamage : public ::testing::Test {
 protected:
  IndexDamage() : test_("drain.trigger=never limits.lock_wait=200ms limits.home_wait=1s readahead.max=0") {
    set_log_level(LogLevel::Off);
  }
  ~IndexDamage() override { set_log_level(LogLevel::Warn); }

  std::shared_ptr<File> file_with_unsaved(const std::string& name) {
    std::ofstream(test_.home(name)) << std::string(kDamagedBlocks * kDamagedBlock, 'o');
    auto file = test_.open(test_.home(name), O_RDWR);
    const std::string page(kDamagedBlock, 'n');
    for (std::uint64_t i = 0; i < kDamagedBlocks; ++i)
      EXPECT_TRUE(file->write(i * kDamagedBlock, bytes_of(page)));
    return file;
  }
  Core& core() { return test_->core(); }
  std::uint32_t bucket_of(const File& file, std::uint64_t block) {
    return core().buckets.find(core().files.key(file.number(), block)).value();
  }
  bool in_chain_of(Key key, std::uint32_t entry) {
    if (entry > core().control.buckets_ready()) return false;
    const auto there = core().control.bucket(entry - 1).key.load();
    return there != 0 && core().buckets.chain_number(there) == core().buckets.chain_number(key);
  }
  // All of it is home, or the program was told.
  void expect_no_silence(File& file, const std::string& name) {
    std::string page(kDamagedBlock, '?');
    for (std::uint64_t i = 0; i < kDamagedBlocks; ++i) {
      const auto got = file.read(i * kDamagedBlock, writable_bytes_of(page));
      if (got) {
        EXPECT_TRUE(page == std::string(kDamagedBlock, 'n')) << "a wrong byte in block " << i;
      } else {
        EXPECT_EQ(got.error().code, EIO);
      }
    }
    const auto synced = file.sync();
    const auto home = TestBuffer::slurp(test_.home(name));
    ASSERT_EQ(home.size(), kDamagedBlocks * kDamagedBlock);
    if (synced) {
      EXPECT_TRUE(home == std::string(kDamagedBlocks * kDamagedBlock, 'n'));
    } else {
      EXPECT_EQ(home.find_first_not_of("no"), std::string::npos);
    }
  }

  TestBuffer test_;
};

TEST_F(IndexDamage, AFlippedKeyLosesNothingInSilence) {
  for (unsigned bit = 0; bit < 64; ++bit) {
    SCOPED_TRACE(bit);
    const auto name = "a" + std::to_string(bit);
    auto file = file_with_unsaved(name);
    auto& key = core().control.bucket(bucket_of(*file, 3)).key;
    key.fetch_xor(std::uint64_t{1} << bit);
    expect_no_silence(*file, name);
    key.fetch_xor(std::uint64_t{1} << bit);
    for (std::uint32_t i = 0; i < core().control.buckets_ready(); ++i)
      core().control.bucket(i).flags.fetch_and(~std::uint32_t{kBucketDamaged});
    (void)file->sync();
    EXPECT_TRUE(TestBuffer::slurp(test_.home(name)) == std::string(kDamagedBlocks * kDamagedBlock, 'n'));
    (void)file->close();
  }
}

TEST_F(IndexDamage, AnEntryThatLeadsElsewhereLosesNothingInSilence) {
  for (unsigned bit = 0; bit < 32; ++bit) {
    SCOPED_TRACE(bit);
    const auto name = "a" + std::to_string(bit);
    auto file = file_with_unsaved(name);
    const auto key = core().files.key(file->number(), 3);
    auto& head = core().control.chain(core().buckets.chain_number(key)).head;
    // Cut off entirely, or before others of the same chain, an index cannot know what it had.
    const auto before = head.load();
    const auto leads_to = before ^ 1u << bit;
    if (leads_to == 0 || in_chain_of(key, leads_to)) {
      (void)file->sync();
      (void)file->close();
      continue;
    }
    head.fetch_xor(1u << bit);
    expect_no_silence(*file, name);
    head.store(before);
    (void)file->sync();
    (void)file->close();
  }
}

TEST_F(IndexDamage, WhatHasADamagedKeyIsNotForgotten) {
  auto file = file_with_unsaved("a");
  ASSERT_TRUE(file->sync());
  auto& bucket = core().control.bucket(bucket_of(*file, 3));
  const auto index = bucket_of(*file, 3);
  // A file that cannot be, in a chain where it is not.
  const auto damaged = bucket.key.fetch_xor(std::uint64_t{1} << 63) ^ std::uint64_t{1} << 63;
  EXPECT_FALSE(core().buckets.evict(index, damaged));
  EXPECT_NE(bucket.flags.load() & kBucketDamaged, 0u);
  std::string page(kDamagedBlock, '?');
  const auto got = file->read(3 * kDamagedBlock, writable_bytes_of(page));
  EXPECT_TRUE(!got || page == std::string(kDamagedBlock, 'n'));
}

}  // namespace
}  // namespace forebay
