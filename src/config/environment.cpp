#include "config/environment.hpp"

#include <unistd.h>

#include <cerrno>

#include "base/format.hpp"

namespace forebay {

Environment Environment::current() {
  Variables variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos) variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return Environment(std::move(variables));
}

std::optional<std::string_view> Environment::get(std::string_view name) const {
  const auto found = variables_.find(name);
  return found == variables_.end() ? std::nullopt : std::optional<std::string_view>(found->second);
}

std::string_view Environment::get_or(std::string_view name, std::string_view otherwise) const {
  const auto value = get(name);
  return value && !value->empty() ? *value : otherwise;
}

Result<std::string> Environment::expand(std::string_view text) const {
  std::string expanded;
  for (std::size_t open = text.find("${"); open != std::string_view::npos; open = text.find("${")) {
    const std::size_t close = text.find('}', open);
    if (close == std::string_view::npos)
      return fail(EINVAL, format_text("\"{}\" has a ${{ without }}", text));
    const std::string_view inside = text.substr(open + 2, close - open - 2);
    const std::size_t dash = inside.find(":-");
    const std::string_view name = inside.substr(0, dash);
    const std::string_view otherwise = dash == std::string_view::npos ? "" : inside.substr(dash + 2);
    const std::string_view value = get_or(name, otherwise);
    if (value.empty()) return fail(EINVAL, format_text("${{{}}} is not set", name));
    expanded.append(text.substr(0, open)).append(value);
    text.remove_prefix(close + 1);
  }
  return expanded.append(text);
}

}  // namespace forebay
