#include "base/json.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace forebay {
namespace {

TEST(Json, NestsWithCommasInPlace) {
  JsonWriter json;
  json.begin_object().member("name", "a").member("size", std::uint64_t{5}).key("list").begin_array();
  json.value(1).value(-2).begin_object().end_object().value(true).value(nullptr).value(0.5).end_array();
  json.member("end", std::string("x")).end_object();
  EXPECT_EQ(json.text(), R"({"name":"a","size":5,"list":[1,-2,{},true,null,0.5],"end":"x"})");
}

TEST(Json, EscapesWhatMustBe) {
  EXPECT_EQ(json_quote("a\"b\\c\n\t\r"), R"("a\"b\\c\n\t\r")");
  EXPECT_EQ(json_quote(std::string_view("\0\x1f\x7f", 3)), "\"\\u0000\\u001f\\u007f\"");
  EXPECT_EQ(json_quote("/päth/\xF0\x9F\x98\x80"), "\"/päth/\xF0\x9F\x98\x80\"");
}

TEST(Json, BytesThatAreNotUtf8BecomeReplacementCharacters) {
  const std::string replaced = "\"\xEF\xBF\xBD\"";
  EXPECT_EQ(json_quote("\xFF"), replaced);
  EXPECT_EQ(json_quote("\xC3"), replaced);
  EXPECT_EQ(json_quote("\xC0\xAF"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");
  EXPECT_EQ(json_quote("\xE9"
                       "a"),
            "\"\xEF\xBF\xBD"
            "a\"");
  EXPECT_EQ(json_quote("\xED\xA0\x80").size(), 2U + 9U);
}

TEST(Json, NumbersThatAreNotFiniteBecomeNull) {
  JsonWriter json;
  json.begin_array()
      .value(std::numeric_limits<double>::infinity())
      .value(std::numeric_limits<float>::quiet_NaN());
  json.value(std::numeric_limits<std::uint64_t>::max()).end_array();
  EXPECT_EQ(json.text(), "[null,null,18446744073709551615]");
}

}  // namespace
}  // namespace forebay
