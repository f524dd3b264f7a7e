#include "tools/forebay/bench/json.hpp"
#include "base/format.hpp"

#include <algorithm>
#include <cerrno>

namespace forebay {

using Json = OrderedJson;

std::unexpected<Error> bad_key(const std::string& key, const std::string& why) {
  return fail(EINVAL, format_text("{}: {}", key, why));
}

Result<std::string> text_of(const std::string& key, const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number() || value.is_boolean()) return value.dump();
  return bad_key(key, "a text or a number is wanted");
}

Result<Texts> texts_of(const std::string& key, const Json& object) {
  if (!object.is_object()) return bad_key(key, "an object is wanted");
  Texts texts;
  for (const auto& [name, value] : object.items()) {
    FOREBAY_ASSIGN(texts[name], text_of(name, value));
  }
  return texts;
}

Result<std::string> optional_text(const Json& object, const std::string& key) {
  const auto found = object.find(key);
  return found == object.end() ? Result<std::string>("") : text_of(key, *found);
}

Result<std::string> optional_paths(const Json& object, const std::string& key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return optional_text(object, key);
  std::string all;
  for (const auto& one : *found) {
    FOREBAY_ASSIGN(const auto text, text_of(key, one));
    all += (all.empty() ? "" : ":") + text;
  }
  return all;
}

Status only_keys(const Json& object, std::initializer_list<std::string_view> known) {
  for (const auto& [name, value] : object.items()) {
    if (!std::ranges::contains(known, std::string_view(name)))
      return bad_key(name, "there is no such key here");
  }
  return {};
}

}  // namespace forebay
