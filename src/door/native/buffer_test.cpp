// Attaching and leaving.
#include <cerrno>

#include "door/native/test_place.hpp"

namespace forebay::native {
namespace {

TEST(NativeBuffer, TellsItsVersion) {
  const auto expected = std::to_string(FOREBAY_VERSION_MAJOR) + "." + std::to_string(FOREBAY_VERSION_MINOR) +
                        "." + std::to_string(FOREBAY_VERSION_PATCH);
  EXPECT_EQ(forebay_version(), expected);
}

TEST(NativeBuffer, AWrongSettingIsRefusedWithWords) {
  const char* const settings[] = {"modus=async", nullptr};
  forebay_buffer* buffer = nullptr;
  EXPECT_EQ(forebay_attach(nullptr, nullptr, settings, &buffer), -EINVAL);
  EXPECT_EQ(buffer, nullptr);
  EXPECT_STREQ(forebay_error_message(), "forebay_attach: modus: unknown setting; did you mean mode?");
}

TEST(NativeBuffer, AMissingConfigurationFileIsAnError) {
  const TestPlace place;
  forebay_buffer* buffer = nullptr;
  EXPECT_EQ(forebay_attach(place.home("none.yaml").c_str(), nullptr, nullptr, &buffer), -ENOENT);
  EXPECT_NE(std::string(forebay_error_message()).find("none.yaml"), std::string::npos);
}

TEST(NativeBuffer, TakesFileNameAndOverridesInThatOrder) {
  const TestPlace place;
  const auto config = place.home("forebay.yaml");
  std::ofstream(config) << "buffer: {name: from_file, bucket_size: 4KiB, directory: "
                        << place.memory("control") << "}\ntiers: [{kind: memory, path: " << place.memory("")
                        << ", size: 64KiB}]\n";
  forebay_buffer* buffer = nullptr;
  ASSERT_EQ(forebay_attach(config.c_str(), "by_name", nullptr, &buffer), 0) << forebay_error_message();
  EXPECT_TRUE(std::filesystem::exists(place.memory("control/by_name")));
  EXPECT_FALSE(std::filesystem::exists(place.memory("control/from_file")));
  EXPECT_EQ(forebay_detach(buffer), 0);
}

TEST(NativeBuffer, NoHandleIsAnErrorNotACrash) {
  const TestPlace place;
  EXPECT_EQ(forebay_attach(nullptr, nullptr, nullptr, nullptr), -EINVAL);
  EXPECT_EQ(forebay_detach(nullptr), -EINVAL);
  EXPECT_EQ(forebay_drain_all(nullptr, 0), -EINVAL);
  EXPECT_STREQ(forebay_error_message(), "the buffer is NULL");
}

TEST(NativeBuffer, DetachCarriesHomeWhatIsStillOpen) {
  const TestPlace place;
  auto* buffer = place.attach({"drain.trigger=never"});
  auto* file = open_file(buffer, place.home("a"));
  EXPECT_EQ(write_text(file, "staged", 0), 6);
  EXPECT_EQ(slurp(place.home("a")), "");
  EXPECT_EQ(forebay_detach(buffer), 0) << forebay_error_message();
  EXPECT_EQ(slurp(place.home("a")), "staged");
  EXPECT_EQ(write_text(file, "late", 0), -ENOTCONN);
  EXPECT_EQ(forebay_size(file), -ENOTCONN);
  EXPECT_EQ(forebay_close(file), -ENOTCONN);
}

TEST(NativeBuffer, DrainAllBringsEverythingHome) {
  const TestPlace place;
  auto* buffer = place.attach({"drain.trigger=never"});
  auto* a = open_file(buffer, place.home("a"));
  auto* b = open_file(buffer, place.home("b"));
  EXPECT_EQ(write_text(a, "one", 0), 3);
  EXPECT_EQ(write_text(b, "two", 0), 3);
  EXPECT_EQ(forebay_drain_all(buffer, -1), 0) << forebay_error_message();
  EXPECT_EQ(slurp(place.home("a")) + slurp(place.home("b")), "onetwo");
  EXPECT_EQ(forebay_close(a), 0);
  EXPECT_EQ(forebay_close(b), 0);
  EXPECT_EQ(forebay_detach(buffer), 0);
}

TEST(NativeBuffer, TwoMembershipsOfOneProcessShareTheBytes) {
  const TestPlace place;
  auto* one = place.attach({"drain.trigger=never"});
  auto* two = place.attach({"drain.trigger=never"});
  auto* writer = open_file(one, place.home("a"));
  auto* reader = open_file(two, place.home("a"), O_RDONLY);
  EXPECT_EQ(write_text(writer, "shared", 3), 6);
  EXPECT_EQ(read_text(reader, 100, 0), std::string("\0\0\0shared", 9));
  EXPECT_EQ(forebay_close(reader), 0);
  EXPECT_EQ(forebay_detach(two), 0);
  EXPECT_EQ(forebay_close(writer), 0);
  EXPECT_EQ(forebay_detach(one), 0);
}

}  // namespace
}  // namespace forebay::native
