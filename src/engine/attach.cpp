#include "engine/attach.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <thread>

#include "base/format.hpp"
#include "base/log.hpp"
#include "config/resolve.hpp"
#include "engine/batch.hpp"
#include "engine/bucket_view.hpp"
#include "engine/crash_point.hpp"
#include "engine/geometry.hpp"
#include "os/lease.hpp"
#include "os/private_file.hpp"

namespace forebay {
namespace {

constexpr std::chrono::seconds kCreationPatience{30};
constexpr int kEntryAttempts = 100;
constexpr std::uint64_t kWindow = 32u << 20;

bool is_mapped(TierKind kind) { return kind == TierKind::Memory || kind == TierKind::Pmem; }

// Bytes change only in mapped tiers: a small window stands above tiers that are none.
Settings with_window(Settings settings) {
  const auto mapped = [](const TierSettings& tier) { return is_mapped(tier.kind); };
  if (settings.tiers.empty() || std::ranges::any_of(settings.tiers, mapped)) return settings;
  TierSettings window;
  window.kind = TierKind::Memory;
  window.path = "/dev/shm";
  window.name = "window";
  window.size = Amount::of_bytes(std::max(kWindow, 16 * settings.buffer.bucket_size));
  settings.tiers.insert(settings.tiers.begin(), std::move(window));
  return settings;
}

// Tiers that lie on one file system share what is free there.
Status check_room(const Settings& settings) {
  struct Shared {
    std::uint64_t wanted = 0;
    std::string names;
  };
  std::map<dev_t, Shared> devices;
  for (const auto& tier : settings.tiers) {
    struct statvfs found{};
    struct stat place{};
    if (::statvfs(tier.path.c_str(), &found) != 0 || ::stat(tier.path.c_str(), &place) != 0)
      return fail_errno(errno, "examine the tier at", tier.path);
    const auto free = std::uint64_t{found.f_bavail} * found.f_frsize;
    auto& [wanted, names] = devices[place.st_dev];
    wanted += tier.size.bytes;
    names += names.empty() ? "tier " + tier.name : " and " + tier.name;
    if (free < wanted) {
      return fail(ENOSPC, format_text("{} {} {} in {}, which has {} free: make it smaller (tiers: size) "
                                      "or make room",
                                      names, wanted == tier.size.bytes ? "wants" : "together want",
                                      format_bytes(wanted), tier.path, format_bytes(free)));
    }
  }
  return {};
}

// The caller holds the whole lock, so that nobody is joining. A process that left may still be seen to hold
// its lease while the kernel takes its io_uring apart: its record says that it left.
bool anybody_attached(const Control& control, const LeaseFile& leases) {
  for (std::uint32_t slot = 0; slot < control.header().lease_count; ++slot) {
    if (control.lease(slot).attached.load() != 0 && leases.held(slot)) return true;
  }
  return false;
}

// The same where no record can be trusted: a lease that is merely ending is waited for.
bool anybody_attached_to_damaged(const LeaseFile& leases) {
  for (std::uint32_t slot = 0; slot < kLeaseLimit; ++slot) {
    for (int i = 0; leases.held(slot); ++i) {
      if (i == 100) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  return false;
}

bool anything_unsaved(const Control& control) {
  for (std::uint32_t i = 0, count = control.buckets_ready(); i < count; ++i) {
    if (control.bucket(i).key.load() != 0 && BucketView(control, i).any_unsaved()) return true;
  }
  return false;
}

// Is the buffer what the settings ask for, as far as they say anything?
bool fits(const Header& header, const Settings& settings) {
  if (header.bucket_size != settings.buffer.bucket_size) return false;
  if (settings.tiers.empty()) return true;
  if (header.tier_count != settings.tiers.size()) return false;
  for (std::uint32_t i = 0; i < header.tier_count; ++i) {
    const auto& mine = settings.tiers[i];
    const auto& there = header.tiers[i];
    if (there.kind != static_cast<std::uint32_t>(mine.kind)) return false;
    if (there.directory.data() != tier_base_directory(mine.path)) return false;
    if (mine.size.is_bytes() && there.slots != mine.size.bytes / header.bucket_size) return false;
  }
  return true;
}

std::unexpected<Error> unusable(ControlFinding finding, const std::string& path, const std::string& why) {
  return fail(
      finding == ControlFinding::kOtherVersion ? EPROTO : EBADMSG,
      format_text(
          "the buffer in {} cannot be used: its control file is not to be trusted: {} (`forebay clean "
          "--force` removes it with all it holds)",
          path, why));
}

std::uint64_t storage_of(const Fd& directory, const char* name) {
  struct stat found{};
  if (::fstatat(directory.get(), name, &found, AT_SYMLINK_NOFOLLOW) != 0) return 0;
  return static_cast<std::uint64_t>(found.st_blocks) * 512;
}

struct Place {
  Fd directory;
  std::string path;
  LeaseFile leases;
  Fd whole;
};

Result<Place> try_to_enter(const Settings& settings, bool create) {
  std::string path;
  auto opened = open_buffer_directory(settings.buffer.directory, settings.buffer.name, path,
                                      create ? Create::kIfMissing : Create::kNever);
  if (!opened && opened.error().code == ENOENT && !create)
    return fail(ENOENT, "there is no buffer in " + path);
  FOREBAY_ASSIGN(auto directory, std::move(opened));
  FOREBAY_TRY(open_private_file(directory, kLeaseFileName, Create::kIfMissing));
  FOREBAY_ASSIGN(auto leases, LeaseFile::open(path + "/" + kLeaseFileName));
  FOREBAY_ASSIGN(auto whole, leases.lock_whole(kCreationPatience));
  FOREBAY_TRY(leases.still_there());
  return Place{std::move(directory), std::move(path), std::move(leases), std::move(whole)};
}

Result<Place> enter(const Settings& settings, bool create) {
  // Somebody may remove the buffer while we come in: then what we have locked is no longer what others will
  // lock.
  for (int attempt = 0; attempt < kEntryAttempts; ++attempt) {
    auto place = try_to_enter(settings, create);
    const bool removed = !place && (place.error().code == ESTALE || (place.error().code == ENOENT && create));
    if (!removed) return place;
  }
  return fail(EBUSY, "the buffer in " + settings.buffer.directory + " is being removed again and again");
}

// An existing control file, or none if it should be made (again).
Result<std::unique_ptr<Control>> find_control(const Place& place, const Settings& settings, bool create) {
  std::string why;
  FOREBAY_ASSIGN(const auto finding, Control::examine(place.directory, why));
  switch (finding) {
    case ControlFinding::kMissing:
    case ControlFinding::kUnfinished:
      return std::unique_ptr<Control>{};
    case ControlFinding::kOtherBoot:
      log_warn("the buffer in {} is made anew: {}", place.path, why);
      return std::unique_ptr<Control>{};
    case ControlFinding::kOtherVersion:
    case ControlFinding::kDamaged:
      return unusable(finding, place.path, why);
    case ControlFinding::kUsable:
      break;
  }
  FOREBAY_ASSIGN(auto opened, Control::open(place.directory));
  auto control = std::make_unique<Control>(std::move(opened));
  if (!create || fits(control->header(), settings)) return control;
  if (!anybody_attached(*control, place.leases) && !anything_unsaved(*control)) {
    // The control file first: one without its tiers' files would be refused.
    FOREBAY_TRY(Control::remove(place.directory));
    std::vector<RemovedFile> removed;
    remove_tier_files(*control, settings.buffer.name, removed);
    return std::unique_ptr<Control>{};
  }
  log_info(
      "the buffer in {} is in use as it was made: sizes and tiers of these settings wait until it is empty",
      place.path);
  return control;
}

}  // namespace

Result<Joined> join_buffer(const Settings& given, bool create) {
  auto settings = with_window(resolve_paths(given));
  FOREBAY_ASSIGN(auto place, enter(settings, create));
  FOREBAY_ASSIGN(auto control, find_control(place, settings, create));
  const bool fresh = control == nullptr;
  if (fresh) {
    if (!create) return fail(ENOENT, "there is no buffer in " + place.path);
    FOREBAY_ASSIGN(auto resolved, resolve(given));
    settings = with_window(std::move(resolved));
    FOREBAY_TRY(check_room(settings));
    FOREBAY_ASSIGN(auto made, Control::create(place.directory, settings));
    control = std::make_unique<Control>(std::move(made));
  }
  auto tiers = Tiers::open(*control, settings.buffer.name, fresh);
  if (!tiers && fresh) (void)Control::remove(place.directory);
  if (!tiers) return std::unexpected(tiers.error());
  FOREBAY_CRASH_POINT("create.tiers");
  if (fresh) control->publish();
  Fd ring_lease;
  FOREBAY_ASSIGN(auto peers, Peers::join(*control, place.leases, ring_lease));
  peers.set_lock_wait(settings.limits.lock_wait);
  auto profile = read_profile(settings.profile.file).value_or(Profile{});
  tiers->note_figures(settings, profile);
  return Joined{std::move(settings),
                std::move(profile),
                std::move(control),
                std::move(peers),
                std::move(*tiers),
                std::move(ring_lease),
                fresh};
}

Result<std::vector<RemovedFile>> remove_buffer(const Settings& given, bool force) {
  auto settings = with_window(resolve_paths(given));
  // Where the tiers of a buffer lie whose control file does not say.
  if (settings.tiers.empty()) {
    if (auto resolved = resolve(given)) settings = std::move(*resolved);
  }
  const bool left_behind = std::ranges::any_of(settings.tiers, [&](const TierSettings& tier) {
    const auto path =
        tier_file_path(tier.kind, tier.name, tier_base_directory(tier.path), settings.buffer.name);
    return ::faccessat(AT_FDCWD, path.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
  });
  FOREBAY_ASSIGN(auto place, enter(settings, left_behind));
  const auto in_use = [&] { return fail(EBUSY, "the buffer in " + place.path + " is in use"); };
  std::string why;
  FOREBAY_ASSIGN(const auto finding, Control::examine(place.directory, why));
  const bool distrusted = finding == ControlFinding::kDamaged || finding == ControlFinding::kOtherVersion;
  if (distrusted && !force) return unusable(finding, place.path, why);
  if (distrusted && anybody_attached_to_damaged(place.leases)) return in_use();
  std::vector<RemovedFile> removed;
  if (finding == ControlFinding::kUsable || finding == ControlFinding::kOtherBoot) {
    FOREBAY_ASSIGN(const auto control, Control::open(place.directory));
    if (anybody_attached(control, place.leases)) return in_use();
    if (!force && finding == ControlFinding::kUsable && anything_unsaved(control)) {
      return fail(ENOTEMPTY, "the buffer in " + place.path +
                                 " holds bytes that are not home yet: `forebay recover` carries "
                                 "them home, --force gives them up");
    }
    remove_tier_files(control, settings.buffer.name, removed);
  } else {
    for (const auto& tier : settings.tiers) {
      remove_tier_file(tier.kind, tier.name, tier_base_directory(tier.path), settings.buffer.name,
                       path_of(place.directory.get()), removed);
    }
  }
  const auto bytes = storage_of(place.directory, kControlFile) + storage_of(place.directory, kSparseFile);
  FOREBAY_TRY(Control::remove(place.directory));
  discard_all_batches(place.directory);
  // A process that waits for the whole lock finds a new lease file; the old one must not be found again.
  ::unlinkat(place.directory.get(), kLeaseFileName, 0);
  if (::rmdir(place.path.c_str()) == 0 || bytes != 0) removed.push_back({place.path, bytes});
  return removed;
}

}  // namespace forebay
