// The model in the manner of fsx: the same random operations on files of a home and on plain ones.
#include <gtest/gtest.h>

#include <sstream>

#include "support/forebay_run.hpp"
#include "support/places.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"

namespace forebay::testing {
namespace {

namespace fs = std::filesystem;

// The first line in which two outputs differ, with those before it.
std::string difference(const std::string& one, const std::string& two) {
  std::istringstream a(one);
  std::istringstream b(two);
  std::string left;
  std::string right;
  std::vector<std::string> before;
  for (;;) {
    const bool more_left = static_cast<bool>(std::getline(a, left));
    const bool more_right = static_cast<bool>(std::getline(b, right));
    if (!more_left && !more_right) return {};
    if (left != right || more_left != more_right) break;
    before.push_back(left);
  }
  std::string text;
  for (std::size_t i = before.size() > 12 ? before.size() - 12 : 0; i < before.size(); ++i)
    text += before[i] + "\n";
  return text + "plain:    " + left + "\nbuffered: " + right + "\n";
}

void compare(std::uint64_t seed, const std::vector<std::string>& settings, int processes) {
  const PosixPlace place;
  const auto program = built("tests/posix/posix_model");
  const auto operations = std::to_string(scaled(400, 1500));
  const std::vector<std::string> words{std::to_string(seed % 4'000'000'000), operations,
                                       std::to_string(processes)};
  const auto in = [&](const std::string& folder) {
    std::vector<std::string> all{"env", "-C", folder, program};
    all.insert(all.end(), words.begin(), words.end());
    return all;
  };
  const auto plain = run("env", {"-C", place.plain(), program, words[0], words[1], words[2]});
  const auto buffered = place.run(in(place.home()), settings);
  EXPECT_EQ(plain.code, 0);
  EXPECT_EQ(buffered.code, 0) << buffered.err;
  EXPECT_EQ(difference(plain.out, buffered.out), "") << "seed " << words[0] << "\n" << buffered.err;
  const auto compared = run("diff", {"-rq", place.plain(), place.home()});
  EXPECT_EQ(compared.code, 0) << "seed " << words[0] << "\n" << compared.out;
  // A run that had no door would say the same, too.
  EXPECT_EQ(place.reported("d['doors'] == ['posix'] and d['staged_bytes'] > 0"), "True")
      << "seed " << words[0] << "\n"
      << buffered.err;
}

class PosixModel : public ::testing::TestWithParam<std::vector<std::string>> {};

TEST_P(PosixModel, SaysTheSameAsPlainFiles) {
  const auto seed = choose_seed("PosixModel");
  for (int i = 0; i < scaled(3, 1000) && !HasFailure(); ++i)
    compare(seed + static_cast<unsigned>(i), GetParam(), 1 + i % 3);
}

// All at once: what must hold whoever comes first, while they run and at home in the end.
TEST_P(PosixModel, HoldsWhatPlainFilesHoldWithManyAtOnce) {
  const auto seed = choose_seed("PosixModelTogether");
  for (int i = 0; i < scaled(1, 50) && !HasFailure(); ++i) {
    const PosixPlace place;
    const auto program = built("tests/posix/posix_model");
    const auto number = std::to_string((seed + static_cast<unsigned>(i)) % 4'000'000'000);
    const auto plain = run("env", {"-C", place.plain(), program, "together", number, "3"});
    ASSERT_EQ(plain.code, 0) << plain.out;
    const auto ran = place.run({"env", "-C", place.home(), program, "together", number, "3"}, GetParam());
    EXPECT_EQ(ran.code, 0) << "seed " << number << "\n" << ran.out << ran.err;
    EXPECT_EQ(ran.out, "all holds\n");
    EXPECT_TRUE(slurp(place.home("parts")) == slurp(place.plain("parts")));
    for (const auto* const name : {"log", "shared"})
      EXPECT_EQ(fs::file_size(place.home(name)), fs::file_size(place.plain(name))) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Settings, PosixModel,
                         ::testing::Values(std::vector<std::string>{},
                                           std::vector<std::string>{"drain.trigger=never"},
                                           std::vector<std::string>{"on_close=detach", "drain.trigger=close"},
                                           std::vector<std::string>{"buffer.bucket_size=4KiB",
                                                                    "drain.delay=0ms",
                                                                    "admission.read=always"}));

}  // namespace
}  // namespace forebay::testing
