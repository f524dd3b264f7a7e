#include "tier/mapped_store.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "os/temporary_directory.hpp"

namespace forebay {
namespace {

constexpr std::uint64_t kMappedBucket = 64 << 10;
constexpr auto kMemory = MappedStore::Kind::kMemory;

MappedStore open_mapped(const TemporaryDirectory& directory, std::uint64_t slots,
                        MappedStore::Kind kind = kMemory) {
  return MappedStore::open(directory.fd(), "memory.data", kMappedBucket, slots, kind).value();
}

TEST(MappedStore, TwoOpenersSeeTheSameBytes) {
  const TemporaryDirectory directory;
  auto one = open_mapped(directory, 8);
  ASSERT_TRUE(one.grow(0, 4));
  auto two = open_mapped(directory, 8);
  EXPECT_EQ(two.reserved_slots(), 4u);
  std::memset(one.slot(3), 'x', kMappedBucket);
  EXPECT_EQ(std::memcmp(one.slot(3), two.slot(3), kMappedBucket), 0);
  ASSERT_TRUE(two.grow(4, 8));
  EXPECT_EQ(one.reserved_slots(), 8u);
  std::memset(one.slot(7), 'y', kMappedBucket);
  EXPECT_EQ(static_cast<char>(*two.slot(7)), 'y');
}

TEST(MappedStore, RefusesImpossibleShapes) {
  const TemporaryDirectory directory;
  for (const std::uint64_t size : {0u, 2048u, 5000u, 32u << 20}) {
    EXPECT_EQ(MappedStore::open(directory.fd(), "a", size, 4, kMemory).error().code, EINVAL) << size;
  }
  EXPECT_EQ(MappedStore::open(directory.fd(), "a", kMappedBucket, 0, kMemory).error().code, EINVAL);
  auto store = open_mapped(directory, 4);
  EXPECT_EQ(store.grow(0, 5).error().code, EINVAL);
  EXPECT_EQ(store.grow(3, 2).error().code, EINVAL);
}

TEST(MappedStore, ATruncatedFileHasFewerSlots) {
  const TemporaryDirectory directory;
  auto store = open_mapped(directory, 8);
  ASSERT_TRUE(store.grow(0, 8));
  std::filesystem::resize_file(directory.file("memory.data"), 3 * kMappedBucket + 17);
  EXPECT_EQ(store.reserved_slots(), 3u);
}

TEST(MappedStore, ASparseFileHasFewerSlots) {
  const TemporaryDirectory directory;
  auto store = open_mapped(directory, 8);
  ASSERT_TRUE(store.grow(0, 2));
  std::filesystem::resize_file(directory.file("memory.data"), 8 * kMappedBucket);
  EXPECT_EQ(store.reserved_slots(), 2u);
}

TEST(MappedStore, ARemovedFileDoesNotGrow) {
  const TemporaryDirectory directory;
  auto store = open_mapped(directory, 8);
  ASSERT_TRUE(store.grow(0, 2));
  std::filesystem::remove(directory.file("memory.data"));
  const auto status = store.grow(2, 4);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ESTALE);
  EXPECT_NE(status.error().message.find("memory.data"), std::string::npos);
}

TEST(MappedStore, PopulateStaysWithinWhatIsReserved) {
  const TemporaryDirectory directory("/dev/shm");
  auto store = open_mapped(directory, 1024);
  ASSERT_TRUE(store.grow(0, 3));
  store.populate(0, 1024);
  EXPECT_EQ(std::filesystem::file_size(directory.file("memory.data")), 3 * kMappedBucket);
  std::vector<unsigned char> present(kMappedBucket * 3 / 4096);
  ASSERT_EQ(::mincore(store.slot(0), kMappedBucket * 3, present.data()), 0);
  for (const auto page : present) EXPECT_EQ(page & 1, 1);
}

TEST(MappedStore, LongWritesIntoWhatIsNotEnteredLieWhereTheMappingShowsThem) {
  const TemporaryDirectory directory("/dev/shm");
  constexpr std::uint64_t kLargeBucket = 256u << 10;
  auto store = MappedStore::open(directory.fd(), "memory.data", kLargeBucket, 6, kMemory).value();
  ASSERT_TRUE(store.grow(0, 3));  // less than a huge page
  std::vector<std::byte> data(kLargeBucket - 5000);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * 7 >> 3);
  EXPECT_FALSE(store.write_unentered(1, 4096, data.data(), 4096)) << "short ones are not worth it";
  ASSERT_TRUE(store.write_unentered(1, 3000, data.data(), data.size()));
  EXPECT_EQ(std::memcmp(store.slot(1) + 3000, data.data(), data.size()), 0);
  EXPECT_EQ(store.slot(1)[2999], std::byte{0});
  EXPECT_FALSE(store.write_unentered(1, 3000, data.data(), data.size())) << "once a slot";
  store.populate(0, 1);
  EXPECT_FALSE(store.write_unentered(0, 0, data.data(), data.size()));
  EXPECT_TRUE(store.write_unentered(2, 0, data.data(), data.size()));
}

TEST(MappedStore, PmemKindPersistsWithoutRealPmem) {
  const TemporaryDirectory directory;
  auto store = open_mapped(directory, 4, MappedStore::Kind::kPmem);
  ASSERT_TRUE(store.grow(0, 4));
  store.populate(0, 4);
  std::memset(store.slot(1) + 100, 'p', 300);
  EXPECT_TRUE(store.persist(store.slot(1) + 100, 300));
  EXPECT_TRUE(store.is_persistent());
}

TEST(MappedStore, MemoryOnTmpfsIsNeverCalledPersistent) {
  const TemporaryDirectory directory("/dev/shm");
  EXPECT_FALSE(open_mapped(directory, 4).is_persistent());
  EXPECT_FALSE(open_mapped(directory, 4, MappedStore::Kind::kPmem).is_persistent());
}

TEST(MappedStore, AFullTmpfsIsAnErrorAndNothingElse) {
  const TemporaryDirectory directory;
  if (::mount("none", directory.path().c_str(), "tmpfs", 0, "size=1m,mode=0700") != 0) {
    GTEST_SKIP() << "SKIPPED: no right to mount a tmpfs here";
  }
  {
    const auto inside = open_private_directory(directory.path());
    auto store = MappedStore::open(*inside, "memory.data", kMappedBucket, 1024, kMemory).value();
    ASSERT_TRUE(store.grow(0, 8));
    const auto status = store.grow(8, 1024);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ENOSPC);
    EXPECT_EQ(store.reserved_slots(), 8u);
    std::memset(store.slot(0), 'x', 8 * kMappedBucket);
    EXPECT_TRUE(store.grow(8, 12));
    store.populate(0, 1024);
    std::memset(store.slot(8), 'y', 4 * kMappedBucket);
  }
  ::umount2(directory.path().c_str(), MNT_DETACH);
}

TEST(MappedStore, MoreThanTheMachineHasIsRefusedBeforeAnythingIsTaken) {
  const TemporaryDirectory directory("/dev/shm");
  const auto memory = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * 4096;
  auto store = open_mapped(directory, 2 * memory / kMappedBucket);
  const auto status = store.grow(0, store.slots());
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ENOSPC);
  EXPECT_EQ(store.reserved_slots(), 0u);
}

}  // namespace
}  // namespace forebay
