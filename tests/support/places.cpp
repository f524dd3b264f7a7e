#include "support/places.hpp"

namespace forebay::testing {

std::string built(std::string_view path) { return std::string(FOREBAY_BUILD_DIR "/").append(path); }
std::string in_checkout(std::string_view path) { return std::string(FOREBAY_SOURCE_DIR "/").append(path); }

}  // namespace forebay::testing
