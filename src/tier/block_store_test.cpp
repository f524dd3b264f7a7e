#include "tier/block_store.hpp"

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <random>
#include <vector>

#include "os/temporary_directory.hpp"
#include "support/seed.hpp"

namespace forebay {
namespace {

constexpr std::uint64_t kStoreBucket = 64 << 10;

BlockStore open_store(const TemporaryDirectory& directory, std::uint64_t slots) {
  return BlockStore::open(directory.fd(), "nvme.data", kStoreBucket, slots).value();
}

AlignedBuffer random_bucket(unsigned seed) {
  auto bytes = make_aligned_buffer(kStoreBucket);
  std::minstd_rand random(seed);
  for (std::uint64_t i = 0; i < kStoreBucket; ++i) bytes[i] = static_cast<std::byte>(random());
  return bytes;
}

TEST(BlockStore, WritesWholeBucketsAndReadsThemBack) {
  const TemporaryDirectory directory;
  auto store = open_store(directory, 8);
  if (!store.direct()) GTEST_LOG_(WARNING) << "no O_DIRECT here: the buffered way is tested";
  ASSERT_TRUE(store.grow(0, 8));
  EXPECT_EQ(store.reserved_slots(), 8u);
  for (unsigned slot = 0; slot < 8; ++slot) ASSERT_TRUE(store.write(slot, random_bucket(slot).get()));
  auto other = open_store(directory, 8);
  auto back = make_aligned_buffer(kStoreBucket);
  for (unsigned slot = 0; slot < 8; ++slot) {
    ASSERT_TRUE(other.read(slot, 0, kStoreBucket, back.get()));
    EXPECT_EQ(std::memcmp(back.get(), random_bucket(slot).get(), kStoreBucket), 0);
  }
}

TEST(BlockStore, ReadsAnyPartToAnywhere) {
  const TemporaryDirectory directory;
  auto store = open_store(directory, 2);
  ASSERT_TRUE(store.grow(0, 2));
  const auto bytes = random_bucket(1);
  ASSERT_TRUE(store.write(1, bytes.get()));
  auto back = make_aligned_buffer(kStoreBucket + 8193);
  std::mt19937_64 random(testing::choose_seed("BlockStore"));
  for (int round = 0; round < 500; ++round) {
    const auto offset = random() % kStoreBucket;
    const auto length = random() % (kStoreBucket - offset + 1);
    // Every third time source and target are misaligned alike.
    const auto shift = round % 3 == 0 ? offset % kBlock : random() % 8192;
    std::memset(back.get(), 0x5a, kStoreBucket + 8193);
    ASSERT_TRUE(store.read(1, offset, length, back.get() + shift));
    ASSERT_EQ(std::memcmp(back.get() + shift, bytes.get() + offset, length), 0) << offset << "+" << length;
    ASSERT_EQ(back[shift + length], std::byte{0x5a});
    ASSERT_TRUE(shift == 0 || back[shift - 1] == std::byte{0x5a});
  }
}

TEST(BlockStore, WritesPartsFromAnywhere) {
  const TemporaryDirectory directory;
  auto store = open_store(directory, 2);
  ASSERT_TRUE(store.grow(0, 2));
  const auto bytes = random_bucket(7);
  std::vector<std::byte> askew(kStoreBucket + 1);
  std::memcpy(askew.data() + 1, bytes.get(), kStoreBucket);
  ASSERT_TRUE(store.write(1, random_bucket(8).get()));
  ASSERT_TRUE(store.write(1, 8192, 12288, askew.data() + 1 + 8192));
  std::vector<std::byte> back(kStoreBucket);
  ASSERT_TRUE(store.read(1, 0, kStoreBucket, back.data()));
  EXPECT_EQ(std::memcmp(back.data() + 8192, bytes.get() + 8192, 12288), 0);
  EXPECT_EQ(std::memcmp(back.data(), random_bucket(8).get(), 8192), 0);
  EXPECT_EQ(std::memcmp(back.data() + 20480, random_bucket(8).get() + 20480, kStoreBucket - 20480), 0);
}

TEST(BlockStore, RefusesWhatDoesNotFit) {
  const TemporaryDirectory directory;
  auto store = open_store(directory, 2);
  const auto bytes = random_bucket(1);
  auto to = make_aligned_buffer(kStoreBucket);
  EXPECT_EQ(store.write(2, bytes.get()).error().code, EINVAL);
  EXPECT_EQ(store.write(0, 100, 4096, bytes.get()).error().code, EINVAL);
  EXPECT_EQ(store.write(0, 0, 100, bytes.get()).error().code, EINVAL);
  EXPECT_EQ(store.read(0, 1, kStoreBucket, to.get()).error().code, EINVAL);
  EXPECT_EQ(store.read(~std::uint64_t{0}, 0, 1, to.get()).error().code, EINVAL);
  EXPECT_EQ(store.grow(0, 3).error().code, EINVAL);
}

TEST(BlockStore, ATruncatedFileIsAnErrorThatNamesIt) {
  const TemporaryDirectory directory;
  auto store = open_store(directory, 4);
  ASSERT_TRUE(store.grow(0, 4));
  std::filesystem::resize_file(directory.file("nvme.data"), kStoreBucket);
  EXPECT_EQ(store.reserved_slots(), 1u);
  auto to = make_aligned_buffer(kStoreBucket);
  const auto status = store.read(2, 0, kStoreBucket, to.get());
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, EIO);
  EXPECT_NE(status.error().message.find("nvme.data"), std::string::npos);
}

TEST(BlockStore, ARemovedFileDoesNotGrow) {
  const TemporaryDirectory directory;
  auto store = open_store(directory, 4);
  std::filesystem::remove(directory.file("nvme.data"));
  EXPECT_EQ(store.grow(0, 4).error().code, ESTALE);
}

TEST(BlockStore, GrowsHonestlyOnAFullFileSystem) {
  const TemporaryDirectory directory;
  if (::mount("none", directory.path().c_str(), "tmpfs", 0, "size=1m,mode=0700") != 0) {
    GTEST_SKIP() << "SKIPPED: no right to mount a tmpfs here";
  }
  {
    const auto inside = open_private_directory(directory.path());
    auto store = BlockStore::open(*inside, "nvme.data", kStoreBucket, 64).value();
    ASSERT_TRUE(store.grow(0, 8));
    EXPECT_EQ(store.grow(8, 64).error().code, ENOSPC);
    EXPECT_EQ(store.reserved_slots(), 8u);
    EXPECT_TRUE(store.write(7, random_bucket(7).get()));
  }
  ::umount2(directory.path().c_str(), MNT_DETACH);
}

TEST(BlockStore, SharedNameCarriesTheHost) {
  std::array<char, 256> host{};
  ASSERT_EQ(::gethostname(host.data(), host.size() - 1), 0);
  EXPECT_EQ(BlockStore::shared_file_name("burst"), std::string("burst-") + host.data() + ".data");
}

}  // namespace
}  // namespace forebay
