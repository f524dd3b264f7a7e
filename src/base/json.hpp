// Writes one JSON value, compactly and always well-formed as to commas and escapes.
//
//   JsonWriter json;
//   json.begin_object().member("name", name).key("sizes").begin_array().value(1).end_array().end_object();
//   json.text()
//
// Bytes that are not UTF-8 (file names may hold any) become U+FFFD; a number that is not finite becomes null.
// Not thread-safe.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace forebay {

class JsonWriter {
 public:
  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }

  JsonWriter& key(std::string_view name);

  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(bool truth) { return raw(truth ? "true" : "false"); }
  JsonWriter& value(std::nullptr_t) { return raw("null"); }
  JsonWriter& value(std::floating_point auto number) { return real(static_cast<double>(number)); }
  JsonWriter& value(std::signed_integral auto number) { return integer(static_cast<std::int64_t>(number)); }
  JsonWriter& value(std::unsigned_integral auto number) {
    return natural(static_cast<std::uint64_t>(number));
  }

  template <class T>
  JsonWriter& member(std::string_view name, const T& content) {
    return key(name).value(content);
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  JsonWriter& raw(std::string_view token);
  JsonWriter& real(double number);
  JsonWriter& integer(std::int64_t number);
  JsonWriter& natural(std::uint64_t number);
  void separate();

  std::string text_;
  bool comma_ = false;  // the next value or key follows another
};

// `text` in double quotes.
std::string json_quote(std::string_view text);

}  // namespace forebay
