// The keys that each kernel's configuration may have: h5bench's names, their kinds, and what is meant when
// one is not given.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "tools/forebay/bench/workload.hpp"

namespace forebay {

enum class KeyKind {
  kCount,    // "5", "16 M" (powers of 1024)
  kCounts,   // "8 16 16"
  kLimit,    // a count, or -1: none
  kSeconds,  // "1 s", "100 ms", "0"
  kReal,     // "0.5"
  kFlag,     // YES, NO, true, false, 1, 0
  kWord,     // one of some words
  kText,     // anything
};

struct Key {
  std::string_view name;
  KeyKind kind;
  std::string_view usual;    // empty: it must be given, unless it is a text
  std::string_view words{};  // of kWord, separated by spaces
};

// The kernel that does one of h5bench's benchmarks: the same name, mostly.
std::string kernel_of(std::string_view benchmark);
// Why a benchmark cannot be had here, in a sentence; empty if it can.
std::string why_not(std::string_view benchmark);

// Nothing when there is no such kernel.
std::vector<Key> keys_of(std::string_view kernel);

// The value in the form that the kernels read: plain numbers, seconds, 1 or 0. EINVAL with words.
Result<std::string> plain_value(const Key& key, const std::string& text);

// Of a checked configuration of a kernel on particles, which elements of a share it writes, as the kernels
// read it: "all", or stride, size and number of blocks.
std::string written_layer(const Texts& all);

// Checks and completes a configuration. The error begins with the key.
Result<Texts> complete(std::string_view kernel, const Texts& given);

}  // namespace forebay
