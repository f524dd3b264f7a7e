// The environment for a library that needs nothing but libc: see config/environment.hpp for everybody else.
#pragma once

#include <cstring>

namespace forebay {

// The value of `name` in `environment` (as `environ`), or null. Allocates nothing; valid until it is changed.
inline const char* raw_variable(char* const* environment, const char* name) {
  const auto length = std::strlen(name);
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    if (std::strncmp(*environment, name, length) == 0 && (*environment)[length] == '=')
      return *environment + length + 1;
  }
  return nullptr;
}

}  // namespace forebay
