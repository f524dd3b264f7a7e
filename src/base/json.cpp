#include "base/json.hpp"

#include <cmath>

#include "base/format.hpp"

namespace forebay {
namespace {

// Length of the UTF-8 sequence at the front of `text`, 0 if there is no valid one (overlong forms, surrogates
// and what lies beyond U+10FFFF are not valid).
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  const std::size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return 0;
  }
  if ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) >= 0xA0)) return 0;
  if ((first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) >= 0x90)) return 0;
  return length;
}

void append_escaped(std::string& out, char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      break;
    case '\\':
      out += "\\\\";
      break;
    case '\n':
      out += "\\n";
      break;
    case '\r':
      out += "\\r";
      break;
    case '\t':
      out += "\\t";
      break;
    default:
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
        out += format_text("\\u{:04x}", static_cast<unsigned>(c));
      } else {
        out += c;
      }
  }
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 1) {
      append_escaped(out, text.front());
    } else if (length == 0) {
      out += "\xEF\xBF\xBD";
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  out += '"';
}

}  // namespace

std::string json_quote(std::string_view text) {
  std::string out;
  append_quoted(out, text);
  return out;
}

void JsonWriter::separate() {
  if (comma_) text_ += ',';
  comma_ = true;
}

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  text_ += bracket;
  comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  text_ += bracket;
  comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  append_quoted(text_, name);
  text_ += ':';
  comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  separate();
  append_quoted(text_, text);
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view token) {
  separate();
  text_ += token;
  return *this;
}

JsonWriter& JsonWriter::real(double number) {
  return std::isfinite(number) ? raw(format_text("{}", number)) : raw("null");
}

JsonWriter& JsonWriter::integer(std::int64_t number) { return raw(format_text("{}", number)); }

JsonWriter& JsonWriter::natural(std::uint64_t number) { return raw(format_text("{}", number)); }

}  // namespace forebay
