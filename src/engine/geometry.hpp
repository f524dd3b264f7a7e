// How large everything in a buffer is, worked out from the settings.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.hpp"
#include "config/settings.hpp"
#include "engine/layout.hpp"

namespace forebay {

// Fills the header's figures and region offsets (not magic, boot, times or check). EINVAL with words when the
// settings ask for what the layout cannot hold.
Status lay_out(const Settings& settings, Header& header);

// Regions begin on a page of their own; Shared begins where the header's pages end.
[[nodiscard]] constexpr std::uint64_t round_to_page(std::uint64_t size) {
  return (size + 4095) / 4096 * 4096;
}

// The private directory below a tier's path: every user's buffers lie in one of their own.
std::string tier_base_directory(const std::string& path);

}  // namespace forebay
