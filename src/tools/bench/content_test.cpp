#include "tools/bench/content.hpp"

#include <gtest/gtest.h>

#include <string>

namespace forebay::kernels {
namespace {

// A letter for each element: w written, o overwritten, a dot for neither.
std::string drawn(const Content& content, std::uint64_t first, std::uint64_t count) {
  std::string text;
  content.visit(first, count, [&](std::uint64_t at, std::uint64_t many, const char* name) {
    EXPECT_EQ(at, first + text.size()) << "stretches follow each other";
    text.append(many, name == nullptr ? '.' : *name == '\0' ? 'w' : 'o');
  });
  return text;
}

TEST(Content, EverythingIsWrittenUnlessOtherwiseSaid) {
  EXPECT_EQ(drawn({}, 3, 5), "wwwww");
  EXPECT_EQ(drawn({.written = {}, .overwritten = {}}, 0, 3), "...");
  EXPECT_EQ(drawn({.overwritten = Layer::everything()}, 0, 3), "ooo");
}

TEST(Content, StridedBlocksBeginAnewInEachShare) {
  const Content content{.written = Layer(4, 2, 2, 10)};
  EXPECT_EQ(drawn(content, 0, 20), "ww..ww....ww..ww....");
  for (std::uint64_t first = 0; first < 20; ++first)
    EXPECT_EQ(drawn(content, first, 20 - first),
              std::string("ww..ww....ww..ww....").substr(static_cast<std::size_t>(first)));
}

TEST(Content, WhatIsWrittenOverHidesWhatWasThere) {
  EXPECT_EQ(drawn({.written = Layer(4, 2, 2, 8), .overwritten = Layer(3, 1, 2, 8)}, 0, 16),
            "ow.oww..ow.oww..");
}

TEST(Content, BlocksThatTouchAreOne) {
  EXPECT_EQ(drawn({.written = Layer(3, 3, 2, 7)}, 0, 14), "wwwwww.wwwwww.");
}

}  // namespace
}  // namespace forebay::kernels
