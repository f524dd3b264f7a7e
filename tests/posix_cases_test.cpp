// What programs do that is easily got wrong: bad pointers, signals, cancellation, vfork, descriptors by
// number. Each case says what came of its calls, in a home and in a plain folder.
#include <gtest/gtest.h>

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
    const auto compared = run("diff", {"-r", place.plain(), place.home()});
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
                      "modes", "appending", "spawned_unseen", "watched", "handlers_told", "handlers_that_exit", "handlers_that_jump",
                      "handlers_that_write", "executed", "table_of_descriptors"),
    [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace forebay::testing
