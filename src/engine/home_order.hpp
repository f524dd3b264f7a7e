// In which order, and how much at a time, blocks go home.
#pragma once

#include <algorithm>
#include <vector>

#include "engine/core.hpp"
#include "engine/dirty_filter.hpp"
#include "policy/ripeness.hpp"

namespace forebay {

// Pieces that lie apart go home one after the other: few in a shipment, so that all hands have some.
inline constexpr std::size_t kMaxRuns = 8;

// Many file systems let only one write at a time extend a file, and others beside each other inside it. If
// there is more than one write to come, the one that reaches furthest goes first, so that the rest need not
// queue.
inline std::vector<UnsavedBlock> longest_reach_first(std::vector<UnsavedBlock> blocks, const Core& core,
                                                     std::uint32_t file) {
  const auto a_write = std::max<std::uint64_t>(kGoodWrite / core.bucket_size(), 1);
  const bool several = blocks.size() * core.bucket_size() > core.settings.drain.write_size;
  if (several && (blocks.back().block + 1) * core.bucket_size() > core.control.file(file).home_size.load()) {
    std::ranges::rotate(blocks, blocks.end() - static_cast<std::ptrdiff_t>(std::min(a_write, blocks.size())));
  }
  return blocks;
}

}  // namespace forebay
