#include "engine/geometry.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "extent/byte_map.hpp"
#include "extent/page_weights.hpp"

namespace forebay {
namespace {

constexpr std::uint64_t kMaxBuckets = 1u << 30;
constexpr std::uint32_t kMaxFiles = 1u << 20;  // file numbers have 20 bits in a key
// Unless asked for: a record for each slot of 22 GiB was two thirds of the control file, which whoever comes
// first waits for.
constexpr std::uint32_t kUsualFiles = 1u << 14;

std::uint64_t take(std::uint64_t& end, std::uint64_t size) {
  const auto at = end;
  end = round_to_page(end + size);
  return at;
}

template <std::size_t N>
Status copy_text(std::array<char, N>& to, const std::string& text, const char* what) {
  if (text.size() >= N) {
    return fail(ENAMETOOLONG,
                std::string(what) + " is longer than " + std::to_string(N - 1) + " characters: " + text);
  }
  to = {};
  std::memcpy(to.data(), text.data(), text.size());
  return {};
}

}  // namespace

std::string tier_base_directory(const std::string& path) {
  return path + "/forebay-" + std::to_string(::geteuid());
}

Status lay_out(const Settings& settings, Header& h) {
  h.bucket_size = static_cast<std::uint32_t>(settings.buffer.bucket_size);
  h.tier_count = static_cast<std::uint32_t>(settings.tiers.size());
  std::uint64_t slots = 0;
  for (std::uint32_t i = 0; i < h.tier_count; ++i) {
    const auto& tier = settings.tiers[i];
    auto& out = h.tiers[i];
    const auto count = tier.size.bytes / h.bucket_size;
    out.kind = static_cast<std::uint32_t>(tier.kind);
    out.first_slot = static_cast<std::uint32_t>(slots);
    out.slots = static_cast<std::uint32_t>(count);
    slots += count;
    if (slots > kMaxBuckets)
      return fail(EINVAL, "the tiers hold too many buckets: choose a larger buffer.bucket_size");
    FOREBAY_TRY(copy_text(out.name, tier.name, "the tier's name"));
    FOREBAY_TRY(copy_text(out.directory, tier_base_directory(tier.path), "the tier's path"));
  }
  h.slot_count = static_cast<std::uint32_t>(slots);
  // Beyond one descriptor a slot: room for blocks that are written straight home.
  h.bucket_count = static_cast<std::uint32_t>(slots + std::max<std::uint64_t>(16, slots / 64));
  h.chain_count = std::bit_ceil(2 * h.bucket_count);
  h.file_count = settings.buffer.max_files != 0
                     ? std::min(settings.buffer.max_files, kMaxFiles)
                     : static_cast<std::uint32_t>(std::clamp<std::uint64_t>(slots, 256, kUsualFiles));
  h.file_chain_count = std::bit_ceil(h.file_count);
  h.long_path_count = std::clamp(h.file_count / 64, 4u, 1024u);
  const auto& fragments = settings.limits.fragment_memory;
  const auto for_maps = fragments.is_bytes() ? fragments.bytes : slots * h.bucket_size / 20;
  h.map_limit = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(for_maps / ByteMap::storage_for(h.bucket_size), 1, h.bucket_count));
  h.lease_count = std::min(settings.buffer.max_processes, kLeaseLimit - 1);
  h.opens_per_lease = settings.limits.open_files;

  std::uint64_t end = 0;
  take(end, sizeof(Header));
  h.regions.shared = take(end, sizeof(Shared));
  h.regions.leases = take(end, std::uint64_t{h.lease_count} * sizeof(LeaseRecord));
  h.regions.files = take(end, std::uint64_t{h.file_count} * sizeof(FileRecord));
  h.regions.long_paths = take(end, std::uint64_t{h.long_path_count} * sizeof(LongPath));
  h.regions.file_chains = take(end, std::uint64_t{h.file_chain_count} * sizeof(Word));
  h.regions.chains = take(end, std::uint64_t{h.chain_count} * sizeof(Chain));
  h.regions.buckets = take(end, std::uint64_t{h.bucket_count} * sizeof(Bucket));
  h.regions.owners = take(end, std::uint64_t{h.bucket_count} * sizeof(Word));
  h.regions.slots = take(end, std::uint64_t{h.slot_count} * sizeof(SlotWord));
  h.regions.end = end;

  end = 0;
  h.sparse.opens = take(end, std::uint64_t{h.lease_count} * h.opens_per_lease * sizeof(Word));
  h.sparse.maps = take(end, std::uint64_t{h.bucket_count} * ByteMap::storage_for(h.bucket_size));
  h.sparse.weights = take(end, std::uint64_t{h.slot_count} * PageWeights::storage_for(h.bucket_size));
  h.sparse.end = end;
  return {};
}

}  // namespace forebay
