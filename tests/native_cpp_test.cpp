// forebay.hpp, as a program sees it: nothing of the engine is included here.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <forebay/forebay.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <type_traits>

namespace {

namespace fs = std::filesystem;

class NativeCpp : public ::testing::Test {
 protected:
  NativeCpp() {
    std::string pattern = "/dev/shm/forebay-test-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
    folder_ = pattern;
  }
  ~NativeCpp() override { fs::remove_all(folder_); }

  [[nodiscard]] forebay::Buffer attach(const std::string& more = "drain.trigger=never") const {
    return forebay::Buffer::attach(
        "", "cpp",
        {"buffer.directory=" + folder_.string() + "/control", "buffer.bucket_size=4KiB",
         "tiers=memory:" + folder_.string() + ":128KiB", more});
  }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ / name; }
  [[nodiscard]] static std::string slurp(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  fs::path folder_;
};

static_assert(!std::is_copy_constructible_v<forebay::File> &&
              std::is_nothrow_move_constructible_v<forebay::File>);
static_assert(!std::is_copy_constructible_v<forebay::Buffer> &&
              std::is_nothrow_move_constructible_v<forebay::Buffer>);

TEST_F(NativeCpp, WritesReadsAndCloses) {
  auto buffer = attach();
  auto file = buffer.open(path("a"), O_RDWR | O_CREAT);
  const std::string text(10'000, 'x');
  file.write(text.data(), text.size(), 0);
  EXPECT_EQ(file.append("end", 3), 10'000u);
  EXPECT_EQ(file.size(), 10'003u);
  std::string got(20'000, '?');
  got.resize(file.read(got.data(), got.size(), 0));
  EXPECT_EQ(got, text + "end");
  EXPECT_EQ(slurp(path("a")), "");
  file.drain();
  EXPECT_EQ(slurp(path("a")), text + "end");
  file.truncate(3);
  file.sync();
  file.close();
  EXPECT_FALSE(file);
  EXPECT_EQ(slurp(path("a")), "xxx");
  EXPECT_EQ(buffer.statistics().writes, 2u);
  buffer.detach();
  EXPECT_FALSE(buffer);
}

TEST_F(NativeCpp, AFailureIsAnErrorWithCodeAndWords) {
  auto buffer = attach();
  try {
    (void)buffer.open(path("none"), O_RDONLY);
    FAIL() << "there is no such file";
  } catch (const forebay::Error& error) {
    EXPECT_EQ(error.code(), ENOENT);
    EXPECT_NE(std::string(error.what()).find(path("none")), std::string::npos);
  }
  EXPECT_THROW((void)buffer.open(path("a"), O_RDWR | O_CREAT, 0600, {"mode=never"}), forebay::Error);
  EXPECT_THROW((void)forebay::Buffer::attach(path("none.yaml")), forebay::Error);
  EXPECT_THROW((void)attach("no.such=setting"), forebay::Error);
}

TEST_F(NativeCpp, DestructorsCarryBytesHome) {
  {
    const auto buffer_first = attach();
    auto buffer = attach();
    auto file = buffer.open(path("a"), O_RDWR | O_CREAT, 0600, {"on_close=detach"});
    file.write("kept", 4, 0);
    auto moved = std::move(file);
    EXPECT_FALSE(file);
    EXPECT_THROW(file.write("x", 1, 0), forebay::Error);
  }
  EXPECT_EQ(slurp(path("a")), "kept");
}

TEST_F(NativeCpp, AFileMayOutliveItsBuffer) {
  forebay::File file;
  {
    auto buffer = attach();
    file = buffer.open(path("a"), O_RDWR | O_CREAT);
    file.write("kept", 4, 0);
  }
  EXPECT_EQ(slurp(path("a")), "kept");
  try {
    file.sync();
    FAIL() << "its buffer has gone";
  } catch (const forebay::Error& error) {
    EXPECT_EQ(error.code(), ENOTCONN);
  }
}

TEST_F(NativeCpp, PrefetchesPinsAndHints) {
  std::ofstream(path("a")) << std::string(20'000, 'y');
  auto buffer = attach("readahead.max=0");
  auto file = buffer.open(path("a"), O_RDONLY);
  const auto ticket = file.prefetch(0, 20'000);
  EXPECT_EQ(ticket.wait(), 20'000u);
  EXPECT_TRUE(ticket.done());
  file.hint(forebay::Hint::Random);
  file.pin(0, 4096);
  file.evict(0, 20'000);
  file.unpin(0, 4096);
  char byte = 0;
  EXPECT_EQ(file.read(&byte, 1, 0), 1u);
  EXPECT_EQ(byte, 'y');
  EXPECT_EQ(buffer.statistics(forebay::Scope::Node).prefetched_bytes, 20'000u);
  buffer.drain();
}

}  // namespace
