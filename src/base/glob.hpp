// Path patterns.
//
//   ?        one character but '/'          [abc] [a-z] [!x]  one of (not of) these, never '/'
//   *        any run without '/'            \x                the character x itself
//   **       any run, '/' included; as a whole component ("a/**/b") also no component at all
//
// A pattern without '/' is held against the last component of the path, any other against the whole path.
// A leading dot is nothing special. An unclosed '[' stands for itself.
#pragma once

#include <string_view>

namespace forebay {

// Allocates nothing. Time is at worst pattern times path squared, never exponential.
bool glob_match(std::string_view pattern, std::string_view path);

}  // namespace forebay
