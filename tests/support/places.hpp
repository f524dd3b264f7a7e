// Where the build and the checkout lie. places.cpp alone is told their paths, so that ccache knows every
// other source again in another checkout.
#pragma once

#include <string>
#include <string_view>

namespace forebay::testing {

// What has this path below the build folder, or below the checkout: "docs/settings.md".
std::string built(std::string_view path);
std::string in_checkout(std::string_view path);

}  // namespace forebay::testing
