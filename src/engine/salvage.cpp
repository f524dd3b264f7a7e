#include "engine/salvage.hpp"

#include <algorithm>
#include <cerrno>
#include <vector>

#include "engine/drain.hpp"
#include "engine/truncate.hpp"

namespace forebay {
namespace {

struct Run {
  std::uint32_t begin, end;
};

// What one bucket holds, copied under its lock so that `visit` runs without it.
struct Copy {
  std::vector<Run> runs;
  std::vector<std::byte> bytes;
  Soundness soundness = Soundness::kWhole;
};

Result<Copy> copy_of(Core& core, std::uint32_t index, Key key) {
  Copy copy;
  FOREBAY_ASSIGN(const auto guard, core.buckets.lock(index, key));
  if (!guard) return copy;
  const auto& bucket = core.control.bucket(index);
  const auto states = core.buckets.view(index);
  const auto place = bucket.place.load();
  copy.bytes.resize(states.size());
  const bool known = states.states_intact();
  const bool readable = place != 0 && place <= core.control.header().slot_count &&
                        core.tiers.read(place - 1, 0, states.size(), copy.bytes.data()).has_value();
  if (!known || (!readable && states.any_unsaved())) {
    copy.soundness = Soundness::kUnreadable;
    return copy;
  }
  states.for_each(0, states.size(), [&](std::uint32_t b, std::uint32_t e, ByteState s) {
    if (!unsaved(s)) return;
    if (!copy.runs.empty() && copy.runs.back().end == b) {
      copy.runs.back().end = e;
    } else {
      copy.runs.push_back({b, e});
    }
  });
  if (!copy.runs.empty() && !states.bytes_intact(copy.bytes.data(), 0, states.size())) {
    copy.soundness = Soundness::kDamaged;
  }
  return copy;
}

}  // namespace

Status salvage(Core& core, std::uint32_t file, const SalvageVisit& visit) {
  const auto base = core.files.key(file, 0);
  std::vector<std::pair<std::uint64_t, std::uint32_t>> blocks;
  // Not by the dirty filter and the size: they may be damaged too.
  for (std::uint32_t i = 0, count = core.control.buckets_ready(); i < count; ++i) {
    const auto key = core.control.bucket(i).key.load(std::memory_order_acquire);
    if ((key & ~kMaxBlock) == base) blocks.emplace_back(key_block(key), i);
  }
  std::ranges::sort(blocks);
  for (const auto& [block, index] : blocks) {
    FOREBAY_ASSIGN(const auto copy, copy_of(core, index, core.files.key(file, block)));
    const auto start = block * core.bucket_size();
    if (copy.soundness == Soundness::kUnreadable) FOREBAY_TRY(visit(start, {}, copy.soundness));
    for (const auto& [begin, end] : copy.runs) {
      FOREBAY_TRY(visit(start + begin, std::span(copy.bytes).subspan(begin, end - begin), copy.soundness));
    }
  }
  return {};
}

Status abandon(Core& core, std::uint32_t file) {
  Drain drain(core);
  return give_up(core, drain, file, core.files.key(file, 0));
}

}  // namespace forebay
