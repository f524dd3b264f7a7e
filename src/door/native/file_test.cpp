// Files through forebay.h.
#include <sys/stat.h>

#include <cerrno>

#include "door/native/test_place.hpp"

namespace forebay::native {
namespace {

class NativeFile : public ::testing::Test {
 protected:
  ~NativeFile() override { EXPECT_EQ(forebay_detach(buffer_), 0) << forebay_error_message(); }

  TestPlace place_;
  forebay_buffer* buffer_ = place_.attach({"drain.trigger=never"});
  const std::string path_ = place_.home("file");
};

TEST_F(NativeFile, ReadsWhatItWroteAndEndsTheSameAtHome) {
  auto* file = open_file(buffer_, path_);
  const std::string text(10'000, 'x');
  EXPECT_EQ(write_text(file, text, 5), 10'000);
  EXPECT_EQ(forebay_size(file), 10'005);
  EXPECT_EQ(read_text(file, 20'000, 5), text);
  EXPECT_EQ(read_text(file, 1, 10'005), "");
  EXPECT_EQ(forebay_append(file, "end", 3), 10'005);
  EXPECT_EQ(forebay_truncate(file, 10'006), 0);
  EXPECT_EQ(slurp(path_).size(), 10'006u) << "home is cut at once";
  EXPECT_EQ(forebay_close(file), 0) << forebay_error_message();
  EXPECT_EQ(slurp(path_), std::string(5, '\0') + text + "e");
}

TEST_F(NativeFile, SyncAndDrainBringItHome) {
  auto* file = open_file(buffer_, path_);
  EXPECT_EQ(write_text(file, "one", 0), 3);
  EXPECT_EQ(slurp(path_), "");
  EXPECT_EQ(forebay_sync(file), 0);
  EXPECT_EQ(slurp(path_), "one");
  EXPECT_EQ(write_text(file, "two", 3), 3);
  EXPECT_EQ(forebay_drain(file), 0);
  EXPECT_EQ(slurp(path_), "onetwo");
  EXPECT_EQ(forebay_close(file), 0);
}

TEST_F(NativeFile, OSyncBringsEachWriteHome) {
  const char* const settings[] = {"on_flush=stage", nullptr};
  auto* file = open_file(buffer_, path_, O_WRONLY | O_CREAT | O_DSYNC, settings);
  EXPECT_EQ(write_text(file, "one", 0), 3);
  EXPECT_EQ(slurp(path_), "one");
  EXPECT_EQ(forebay_append(file, "two", 3), 3);
  EXPECT_EQ(slurp(path_), "onetwo");
  EXPECT_EQ(forebay_close(file), 0);
}

TEST_F(NativeFile, OpensAsOpenDoes) {
  forebay_file* file = nullptr;
  EXPECT_EQ(forebay_open(buffer_, path_.c_str(), O_RDWR, 0, nullptr, &file), -ENOENT);
  EXPECT_EQ(file, nullptr);
  EXPECT_NE(std::string(forebay_error_message()).find(path_), std::string::npos);
  const auto mask = ::umask(022);
  ASSERT_EQ(forebay_open(buffer_, path_.c_str(), O_WRONLY | O_CREAT, 0666, nullptr, &file), 0);
  ::umask(mask);
  struct stat found{};
  ASSERT_EQ(::stat(path_.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0644u);
  char byte = 0;
  EXPECT_EQ(forebay_read(file, &byte, 1, 0), -EBADF);
  EXPECT_EQ(write_text(file, "old", 0), 3);
  EXPECT_EQ(forebay_close(file), 0);
  EXPECT_EQ(forebay_open(buffer_, path_.c_str(), O_RDWR | O_CREAT | O_EXCL, 0666, nullptr, &file), -EEXIST);
  file = open_file(buffer_, path_, O_RDONLY);
  EXPECT_EQ(write_text(file, "x", 0), -EBADF);
  EXPECT_EQ(forebay_close(file), 0);
  file = open_file(buffer_, path_, O_RDWR | O_TRUNC);
  EXPECT_EQ(forebay_size(file), 0);
  EXPECT_EQ(forebay_close(file), 0);
}

TEST_F(NativeFile, FlagsThatCannotHoldAreRefused) {
  forebay_file* file = nullptr;
  for (const int flag : {O_APPEND, O_DIRECTORY, O_PATH, O_TMPFILE}) {
    EXPECT_EQ(forebay_open(buffer_, path_.c_str(), O_RDWR | O_CREAT | flag, 0600, nullptr, &file), -EINVAL);
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
  EXPECT_EQ(forebay_open(buffer_, place_.home("").c_str(), O_RDONLY, 0, nullptr, &file), -EINVAL);
}

TEST_F(NativeFile, SettingsOfOneFileHoldForIt) {
  const char* const settings[] = {"on_close=detach", nullptr};
  auto* file = open_file(buffer_, path_, O_RDWR | O_CREAT, settings);
  EXPECT_EQ(write_text(file, "later", 0), 5);
  EXPECT_EQ(forebay_close(file), 0);
  EXPECT_EQ(forebay_drain_all(buffer_, -1), 0);
  EXPECT_EQ(slurp(path_), "later");
}

TEST_F(NativeFile, AWrongSettingMakesNoFile) {
  forebay_file* file = nullptr;
  const char* const unknown[] = {"mode=asinc", nullptr};
  EXPECT_EQ(forebay_open(buffer_, path_.c_str(), O_RDWR | O_CREAT, 0600, unknown, &file), -EINVAL);
  EXPECT_NE(std::string(forebay_error_message()).find("async, sync, scratch or bypass"), std::string::npos);
  const char* const not_of_files[] = {"drain.delay=1s", nullptr};
  EXPECT_EQ(forebay_open(buffer_, path_.c_str(), O_RDWR | O_CREAT, 0600, not_of_files, &file), -EINVAL);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(NativeFile, NoMemoryIsAnErrorNotACrash) {
  auto* file = open_file(buffer_, path_);
  EXPECT_EQ(forebay_write(file, nullptr, 1, 0), -EFAULT);
  EXPECT_EQ(forebay_read(file, nullptr, 1, 0), -EFAULT);
  EXPECT_EQ(forebay_write(file, nullptr, 0, 0), 0);
  EXPECT_EQ(forebay_write(file, path_.data(), 1, ~uint64_t{0}), -EFBIG);
  EXPECT_EQ(forebay_write(nullptr, path_.data(), 1, 0), -EINVAL);
  EXPECT_EQ(forebay_close(nullptr), -EINVAL);
  EXPECT_EQ(forebay_close(file), 0);
}

}  // namespace
}  // namespace forebay::native
