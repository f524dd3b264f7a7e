// What programs do that is easily got wrong: bad pointers, signals, cancellation, vfork, descriptors by
// number. Each case says what came of its calls, in a home and in a plain folder.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "support/forebay_run.hpp"
#include "support/places.hpp"

namespace forebay::testing {
namespace {

class PosixCases : public ::testing::TestWithParam<const char*> {};

TEST_P(PosixCases, SayTheSameAsPlainly) {
  const auto program = built("tests/posix/posix_cases");
  const std::vector<std::vector<std::string>> variants{
      {}, {"drain.trigger=never"}, {"on_close=detach", "drain.trigger=close", "buffer.bucket_size=4KiB"}};
  for (const auto& settings : variants) {
    const PosixPlace place;
    const auto plain = run("env", {"-C", place.plain(), program, GetParam()});
    const auto buffered = place.run({"env", "-C", place.home(), program, GetParam()}, settings);
    ASSERT_EQ(plain.code, 0) << plain.out << plain.err;
    EXPECT_EQ(buffered.code, 0) << "signal " << buffered.signal << "\n" << buffered.err;
    EXPECT_EQ(plain.out, buffered.out);
    auto compared = run("diff", {"-r", place.plain(), place.home()});
    // What one that died has left may go home after everybody's end.
    for (int turn = 0; compared.code != 0 && buffered.err.contains("in the background") && turn < 100;
         ++turn) {
      ::usleep(100'000);
      compared = run("diff", {"-r", place.plain(), place.home()});
    }
    EXPECT_EQ(compared.code, 0) << compared.out;
    EXPECT_EQ(place.reported("d['staged_bytes'] > 0"), "True");
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, PosixCases,
    ::testing::Values("bad_pointers", "interrupted", "cancelled", "vforked", "descriptors", "spawned",
                      "on_a_terminal", "numbers_of_pipes", "times_set", "change_times", "streams_at_the_end",
                      "streams_that_append", "numbers_of_streams", "bad_names", "several_names",
                      "without_name", "folders_renamed", "by_links", "not_files", "far_offsets", "limited",
                      "allocated", "mapped", "by_number", "streams_reopened", "walked", "in_background",
                      "modes", "appending", "spawned_unseen", "watched", "crashed", "truncated_by_name",
                      "dangling", "held_by_path", "handlers_told", "handlers_that_exit", "handlers_that_jump",
                      "handlers_that_write", "executed", "unnamed_across_exec", "first_names_gone",
                      "spawned_elsewhere", "many_open", "read_beside_writes", "by_handle",
                      "table_of_descriptors"),
    [](const auto& one) { return std::string(one.param); });

// Root is allowed everything.
TEST(PosixCasesOfAnother, RightsSayTheSameAsPlainly) {
  const auto program = built("tests/posix/posix_cases");
  std::vector<std::string> as;
  if (::geteuid() == 0) {
    as = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
    if (run("setpriv", {as[1], as[2], as[3], PosixPlace::program(), "--help"}).code != 0)
      GTEST_SKIP() << "other users may not run what lies here";
  }
  for (const auto* const setting : {"on_close=home", "drain.trigger=never", "on_close=detach"}) {
    const PosixPlace place;
    const auto buffer =
        std::filesystem::path("/dev/shm") / std::filesystem::path(place.root("")).parent_path().filename();
    std::filesystem::create_directory(buffer);
    for (const auto& folder :
         {std::filesystem::path(place.root("")).parent_path(), std::filesystem::path(place.home()),
          std::filesystem::path(place.plain()), buffer})
      std::filesystem::permissions(folder, std::filesystem::perms::all);
    const auto here = [&](const std::vector<std::string>& words) {
      auto all = as;
      all.insert(all.end(), words.begin(), words.end());
      const auto first = all.front();
      all.erase(all.begin());
      return run(first, all);
    };
    const auto plain = here({"env", "-C", place.plain(), program, "rights"});
    std::vector<std::string> words{PosixPlace::program()};
    for (const auto& word : place.words({"env", "-C", place.home(), program, "rights"},
                                        {setting, "buffer.directory=" + (buffer / "control").string(),
                                         "tiers=memory:" + buffer.string() + ":64MiB"}))
      words.push_back(word);
    const auto buffered = here(words);
    ASSERT_EQ(plain.code, 0) << plain.out << plain.err;
    EXPECT_EQ(buffered.code, 0) << buffered.err;
    EXPECT_EQ(plain.out, buffered.out) << setting << "\n" << buffered.err;
    const auto compared = run("diff", {"-r", place.plain(), place.home()});
    EXPECT_EQ(compared.code, 0) << compared.out;
    EXPECT_NE(buffered.err.find("staged"), std::string::npos) << buffered.err;
    std::filesystem::remove_all(buffer);
  }
}

}  // namespace
}  // namespace forebay::testing
