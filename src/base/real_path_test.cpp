#include "base/real_path.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace forebay {
namespace {

namespace fs = std::filesystem;

class RealPath : public ::testing::Test {
 protected:
  RealPath() {
    fs::create_directories(folder_ / "there" / "deep");
    fs::create_directory_symlink(folder_ / "there", folder_ / "link");
    fs::create_symlink("loop", folder_ / "loop");
    std::ofstream(folder_ / "there" / "file") << "x";
  }
  ~RealPath() override { fs::remove_all(folder_); }
  [[nodiscard]] std::string in(const std::string& name) const { return (folder_ / name).string(); }

  const fs::path folder_ =
      fs::canonical(fs::temp_directory_path()) / ("forebay-real-path-" + std::to_string(::getpid()));
};

TEST_F(RealPath, FollowsLinksOfWhatIsThere) {
  EXPECT_EQ(real_path(in("link/deep")), in("there/deep"));
  EXPECT_EQ(real_path(in("link/deep/../file")), in("there/file"));
  EXPECT_EQ(real_path(in("link/")), in("there"));
  EXPECT_EQ(real_path("/"), "/");
}

TEST_F(RealPath, KeepsTheRestOfWhatIsNotThereYet) {
  EXPECT_EQ(real_path(in("link/new/file")), in("there/new/file"));
  EXPECT_EQ(real_path(in("link/new/../other")), in("there/other"));
  EXPECT_EQ(real_path(in("there/file/below")), in("there/file/below"));
  EXPECT_EQ(real_path("/nothing-of-this-name/x"), "/nothing-of-this-name/x");
}

TEST_F(RealPath, IsTheSameAsTheLibrarysWhereBothKnow) {
  for (const auto* name : {"link", "link/deep/.", "there/../link/file", "new", "link/new/more", "./there"})
    EXPECT_EQ(real_path(in(name)), fs::weakly_canonical(in(name)).string()) << name;
  const auto before = fs::current_path();
  fs::current_path(folder_);
  EXPECT_EQ(real_path("link/deep"), in("there/deep"));
  EXPECT_EQ(real_path("."), folder_.string());
  fs::current_path(before);
}

TEST_F(RealPath, LeavesALoopAsItIs) { EXPECT_EQ(real_path(in("loop")), in("loop")); }

}  // namespace
}  // namespace forebay
