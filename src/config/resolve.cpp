#include "config/resolve.hpp"

#include <algorithm>
#include <cerrno>

#include "base/format.hpp"
#include "base/log.hpp"
#include "config/profile.hpp"
#include "config/reader.hpp"
#include "config/validate.hpp"

namespace forebay {
namespace {

constexpr std::uint64_t kMaxAutoDisk = 16 * kGiB;

std::uint64_t share(std::uint64_t whole, double percent) {
  return static_cast<std::uint64_t>(static_cast<double>(whole) * (percent / 100));
}

std::uint64_t auto_size(TierKind kind, const Space& space, const Machine& machine) {
  switch (kind) {
    case TierKind::Memory:
      return std::min(machine.memory / 4, space.free / 2);
    case TierKind::Pmem:
      return space.free / 2;
    case TierKind::Nvme:
    case TierKind::Shared:
      return std::min(kMaxAutoDisk, space.free / 4);
  }
  std::unreachable();
}

// As much as can be had without taking all there is.
std::uint64_t most(TierKind kind, const Space& space, const Machine& machine) {
  if (kind == TierKind::Memory) return std::min(machine.memory / 2, space.free / 2);
  return space.free / 10 * 9;
}

// Turns the tier's size into bytes, whole buckets of it.
Status resolve_size(TierSettings& tier, std::uint64_t bucket_size, const Machine& machine) {
  FOREBAY_ASSIGN(const Space space, machine.space(tier.path));
  std::uint64_t bytes = tier.size.bytes;
  if (tier.size.is_auto()) bytes = auto_size(tier.kind, space, machine);
  if (tier.size.kind == Amount::Kind::Percent) bytes = share(space.free, tier.size.percent);
  if (tier.at_most) bytes = std::min(bytes, most(tier.kind, space, machine));
  bytes -= bytes % bucket_size;
  if (bytes < kMinTierBuckets * bucket_size) {
    return fail(ENOSPC, format_text("{} of the {} free in {} is less than {} buckets of {}",
                                    format_amount(tier.size), format_bytes(space.free), tier.path,
                                    kMinTierBuckets, format_bytes_exact(bucket_size)));
  }
  tier.size = Amount::of_bytes(bytes);
  return {};
}

// Empty when there is none.
std::string first_on_disk(std::initializer_list<std::string_view> candidates, const Machine& machine) {
  for (const std::string_view candidate : candidates) {
    if (!candidate.starts_with('/')) continue;
    const auto space = machine.space(std::string(candidate));
    if (space && !space->in_memory) return std::string(candidate);
  }
  return {};
}

Status choose_tiers(Settings& settings, const Environment& environment, const Machine& machine) {
  std::string reason = "no temporary directory lies on a disk";
  const auto add = [&](TierKind kind, std::string path) {
    TierSettings tier{.kind = kind, .path = std::move(path), .name = std::string(to_string(kind))};
    if (const auto sized = resolve_size(tier, settings.buffer.bucket_size, machine)) {
      settings.tiers.push_back(std::move(tier));
    } else {
      reason = sized.error().message;
      log_info("no {} tier by default: {}", to_string(kind), reason);
    }
  };
  add(TierKind::Memory, "/dev/shm");
  const std::string disk = first_on_disk({environment.get_or("TMPDIR", ""), "/tmp", "/var/tmp"}, machine);
  if (!disk.empty()) add(TierKind::Nvme, disk);
  if (settings.tiers.empty()) return fail(ENOSPC, "tiers: none can be had by default: " + reason);
  return {};
}

Status size_tiers(Settings& settings, const Machine& machine) {
  for (std::size_t i = 0; i < settings.tiers.size(); ++i) {
    TierSettings& tier = settings.tiers[i];
    if (const auto sized = resolve_size(tier, settings.buffer.bucket_size, machine); !sized) {
      auto error = fail_at(tier.origin, format_text("tiers[{}]", i), sized.error().message);
      error.error().code = sized.error().code;
      return error;
    }
  }
  return {};
}

void resolve_fragment_memory(Settings& settings) {
  std::uint64_t whole = 0;
  for (const TierSettings& tier : settings.tiers)
    whole += tier.kind == TierKind::Memory ? tier.size.bytes : 0;
  if (whole == 0) whole = settings.tiers.front().size.bytes;
  Amount& amount = settings.limits.fragment_memory;
  if (amount.is_auto()) amount = LimitSettings{}.fragment_memory;
  if (!amount.is_bytes()) amount = Amount::of_bytes(share(whole, amount.percent));
}

// Figures are an advantage, not a need: without readable ones placement goes by the order of the tiers.
void apply_profile(Settings& settings) {
  const auto profile = read_profile(settings.profile.file);
  if (!profile) {
    if (profile.error().code != ENOENT) log_warn("{}", profile.error().message);
    return;
  }
  for (TierSettings& tier : settings.tiers) {
    const auto same = [&](const TierFigures& figures) {
      return figures.kind == tier.kind && figures.path == tier.path;
    };
    const auto figures = std::ranges::find_if(profile->tiers, same);
    if (figures == profile->tiers.end()) continue;
    if (!tier.bandwidth) tier.bandwidth = figures->bandwidth;
    if (!tier.latency) tier.latency = figures->latency;
  }
}

void add_real_homes(std::vector<std::string>& homes, const Machine& machine) {
  for (std::size_t i = 0, written = homes.size(); i < written; ++i) {
    std::string real = machine.real_path(homes[i]);
    if (!std::ranges::contains(homes, real)) homes.push_back(std::move(real));
  }
}

}  // namespace

Settings resolve_paths(Settings settings, const Machine& machine) {
  if (settings.buffer.directory.empty())
    settings.buffer.directory = format_text("/dev/shm/forebay-{}", machine.user);
  if (settings.profile.file.empty()) settings.profile.file = settings.buffer.directory + "/profile.yaml";
  add_real_homes(settings.choice.homes, machine);
  return settings;
}

Result<Settings> resolve(Settings settings, const Environment& environment, const Machine& machine) {
  settings = resolve_paths(std::move(settings), machine);
  FOREBAY_TRY(settings.tiers.empty() ? choose_tiers(settings, environment, machine)
                                     : size_tiers(settings, machine));
  resolve_fragment_memory(settings);
  apply_profile(settings);
  FOREBAY_TRY(validate(settings));
  return settings;
}

}  // namespace forebay
