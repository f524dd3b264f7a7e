#include "policy/admission.hpp"

#include <gtest/gtest.h>

namespace forebay {
namespace {

constexpr std::uint64_t kMiB = 1u << 20;

TEST(ReadAdmission, KeepsWhatHomeIsSlowToGive) {
  ReadAdmission admission;
  EXPECT_TRUE(admission.admit(kMiB));
  admission.note(kMiB, 100'000);
  EXPECT_FALSE(admission.admit(kMiB));
  EXPECT_TRUE(admission.admit(4096)) << "of this size nothing is known";
  for (int i = 0; i < 20; ++i) admission.note(kMiB, 5'000'000);
  EXPECT_TRUE(admission.admit(kMiB));
}

TEST(WriteAdmission, StagesWhileNothingIsKnown) { EXPECT_TRUE(WriteAdmission().admit(kMiB)); }

TEST(WriteAdmission, AHomeAtTheSpeedOfMemoryTakesLargeWritesItself) {
  WriteAdmission admission;
  admission.note(kMiB, 400'000);
  EXPECT_FALSE(admission.admit(kMiB));
  EXPECT_TRUE(admission.admit(4096)) << "small writes gain by being merged";
  for (int i = 0; i < 20; ++i) admission.note(kMiB, 2'000'000);
  EXPECT_TRUE(admission.admit(kMiB)) << "home has become slow";
}

TEST(WriteAdmission, AProfileSpeaksUntilThereIsAMeasurement) {
  WriteAdmission fast(3'000'000'000, 1000);
  EXPECT_FALSE(fast.admit(kMiB));
  fast.note(kMiB, 10'000'000);
  EXPECT_TRUE(fast.admit(kMiB));
  EXPECT_TRUE(WriteAdmission(300'000'000, 1000).admit(kMiB));
  EXPECT_TRUE(WriteAdmission(3'000'000'000, 2'000'000).admit(kMiB));
}

}  // namespace
}  // namespace forebay
