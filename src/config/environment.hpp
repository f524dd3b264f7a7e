// The process's environment as a value: the only place in the tree that looks at it.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace forebay {

class Environment {
 public:
  using Variables = std::map<std::string, std::string, std::less<>>;

  // A copy of what the process has now. As unsafe as getenv beside another thread's setenv.
  static Environment current();

  // Nothing set.
  Environment() = default;
  explicit Environment(Variables variables) : variables_(std::move(variables)) {}

  // Nothing when unset. Valid as long as this object.
  [[nodiscard]] std::optional<std::string_view> get(std::string_view name) const;
  // `otherwise` when unset or empty.
  [[nodiscard]] std::string_view get_or(std::string_view name, std::string_view otherwise) const;

  // Replaces ${NAME} and ${NAME:-otherwise} in `text`. EINVAL when NAME is unset or empty with nothing
  // to take instead, or when a brace is not closed.
  [[nodiscard]] Result<std::string> expand(std::string_view text) const;

  [[nodiscard]] const Variables& variables() const { return variables_; }

 private:
  Variables variables_;
};

}  // namespace forebay
