#include "tools/forebay/doctor/logind.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "os/temporary_directory.hpp"

namespace forebay {
namespace {

struct Logind : ::testing::Test {
  TemporaryDirectory etc;
  TemporaryDirectory usr;

  [[nodiscard]] bool removes() const { return logind_removes_ipc({etc.path(), usr.path()}); }
  static void write(const TemporaryDirectory& folder, const std::string& name, const std::string& text) {
    std::filesystem::create_directories(folder.file("logind.conf.d"));
    std::ofstream(folder.file(name)) << "[Login]\n" << text << "\n";
  }
};

TEST_F(Logind, RemovesUnlessSomethingSaysOtherwise) {
  EXPECT_TRUE(removes());
  write(etc, "logind.conf", "#HandleLidSwitch=suspend");
  EXPECT_TRUE(removes());
  write(etc, "logind.conf", "RemoveIPC = No");
  EXPECT_FALSE(removes());
  write(usr, "logind.conf", "RemoveIPC=yes");
  EXPECT_FALSE(removes()) << "the first file counts";
}

TEST_F(Logind, ACommentShowsWhatItWasBuiltWith) {
  write(usr, "logind.conf", "#RemoveIPC=no");
  EXPECT_FALSE(removes());
  write(usr, "logind.conf", "RemoveIPC=yes\n#RemoveIPC=no");
  EXPECT_TRUE(removes());
}

TEST_F(Logind, FilesInTheFolderWinInTheOrderOfTheirNames) {
  write(etc, "logind.conf", "RemoveIPC=yes");
  write(usr, "logind.conf.d/50.conf", "RemoveIPC=no");
  EXPECT_FALSE(removes());
  write(usr, "logind.conf.d/60.conf", "RemoveIPC=yes");
  EXPECT_TRUE(removes());
  write(etc, "logind.conf.d/60.conf", "RemoveIPC=off");
  EXPECT_FALSE(removes());
  write(etc, "logind.conf.d/70.ignored", "RemoveIPC=yes");
  EXPECT_FALSE(removes());
}

}  // namespace
}  // namespace forebay
