#include "os/steady_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include "os/temporary_directory.hpp"

namespace forebay {
namespace {

TEST(SteadyFile, SurvivesTheCloseOfItsDescriptor) {
  const TemporaryDirectory directory;
  const auto file = SteadyFile::open(directory.fd(), "a", Create::kIfMissing);
  ASSERT_TRUE(file);
  const int first = file->descriptor().value();
  ::close(first);
  // The application gets our number for a file of its own.
  const Fd theirs(::open(directory.file("theirs").c_str(), O_RDWR | O_CREAT, 0600));
  ASSERT_EQ(theirs.get(), first);
  const int second = file->descriptor().value();
  EXPECT_NE(second, first);
  ASSERT_TRUE(write_fully(second, "ours", 4, 0));
  EXPECT_EQ(std::filesystem::file_size(directory.file("theirs")), 0u);
  EXPECT_EQ(std::filesystem::file_size(directory.file("a")), 4u);
}

TEST(SteadyFile, NeverClosesANumberThatIsNotItsOwn) {
  const TemporaryDirectory directory;
  Fd theirs;
  {
    const auto file = SteadyFile::open(directory.fd(), "a", Create::kIfMissing);
    const int number = file->descriptor().value();
    ::close(number);
    theirs.reset(::open("/dev/null", O_RDONLY));
    ASSERT_EQ(theirs.get(), number);
  }
  EXPECT_NE(::fcntl(theirs.get(), F_GETFD), -1);
}

TEST(SteadyFile, RefusesAnotherFileAtItsPath) {
  const TemporaryDirectory directory;
  const auto file = SteadyFile::open(directory.fd(), "a", Create::kIfMissing);
  ASSERT_TRUE(file->still_there());
  std::filesystem::remove(directory.file("a"));
  EXPECT_EQ(file->still_there().error().code, ESTALE);
  ASSERT_TRUE(open_private_file(directory.fd(), "a", Create::kExclusive));
  EXPECT_TRUE(file->descriptor()) << "the old one is still open";
  ::close(file->descriptor().value());
  EXPECT_EQ(file->descriptor().error().code, ESTALE);
}

TEST(SteadyFile, MovesWithItsDescriptor) {
  const TemporaryDirectory directory;
  auto file = SteadyFile::open(directory.fd(), "a", Create::kIfMissing, O_DSYNC);
  const int number = file->descriptor().value();
  SteadyFile other = std::move(*file);
  EXPECT_EQ(other.descriptor(), number);
  SteadyFile third;
  third = std::move(other);
  EXPECT_EQ(third.descriptor(), number);
  EXPECT_EQ(third.path(), directory.file("a"));
  EXPECT_NE(::fcntl(number, F_GETFL) & O_DSYNC, 0);
}

}  // namespace
}  // namespace forebay
