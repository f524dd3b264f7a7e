// Pieces of a workload file: what stands at a key, or a sentence that begins with the key.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "tools/forebay/bench/workload.hpp"

namespace forebay {

// Old files of h5bench have several benchmarks in one object, in the order in which they are run.
using OrderedJson = nlohmann::ordered_json;

std::unexpected<Error> bad_key(const std::string& key, const std::string& why);

// h5bench writes numbers as texts; both are taken.
Result<std::string> text_of(const std::string& key, const OrderedJson& value);
Result<Texts> texts_of(const std::string& key, const OrderedJson& object);
// Empty when the key is not there.
Result<std::string> optional_text(const OrderedJson& object, const std::string& key);
// One text, or a list of them joined by colons, as h5bench's files have paths.
Result<std::string> optional_paths(const OrderedJson& object, const std::string& key);
Status only_keys(const OrderedJson& object, std::initializer_list<std::string_view> known);

}  // namespace forebay
