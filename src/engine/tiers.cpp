#include "engine/tiers.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/format.hpp"
#include "engine/data_owner.hpp"
#include "engine/geometry.hpp"
#include "os/private_file.hpp"
#include "tier/journal_directory.hpp"
#include "tier/replay.hpp"

namespace forebay {
namespace {

bool is_mapped(TierKind kind) { return kind == TierKind::Memory || kind == TierKind::Pmem; }

std::string data_file(TierKind kind, const std::string& tier) {
  return kind == TierKind::Shared ? BlockStore::shared_file_name(tier) : tier + ".data";
}

Result<std::unique_ptr<Tier>> open_tier(const Control& control, std::uint32_t index,
                                        const std::string& buffer_name, bool create) {
  const auto& layout = control.header().tiers[index];
  auto tier = std::make_unique<Tier>();
  tier->index = index;
  tier->first_slot = layout.first_slot;
  tier->slots = layout.slots;
  tier->kind = static_cast<TierKind>(layout.kind);
  tier->name = layout.name.data();
  tier->directory = layout.directory.data();
  tier->available = &control.shared().tiers[index].available;
  std::string path;
  FOREBAY_ASSIGN(const auto directory, open_buffer_directory(layout.directory.data(), buffer_name, path));
  const auto file = data_file(tier->kind, tier->name);
  FOREBAY_TRY(create ? claim_data_file(directory, file, control.directory())
                     : check_data_file(directory, file, control.directory()));
  if (create && ::unlinkat(directory.get(), file.c_str(), 0) != 0 && errno != ENOENT) {
    return fail_errno(errno, "remove", path + "/" + file);
  }
  const auto how = create ? Create::kExclusive : Create::kNever;
  const auto bucket_size = control.header().bucket_size;
  std::uint64_t there = 0;
  if (is_mapped(tier->kind)) {
    const auto kind = tier->kind == TierKind::Pmem ? MappedStore::Kind::kPmem : MappedStore::Kind::kMemory;
    FOREBAY_ASSIGN(tier->mapped, MappedStore::open(directory, file, bucket_size, layout.slots, kind, how));
    FOREBAY_ASSIGN(there, tier->mapped->reserved_slots());
  } else {
    FOREBAY_ASSIGN(tier->block, BlockStore::open(directory, file, bucket_size, layout.slots, how));
    FOREBAY_ASSIGN(there, tier->block->reserved_slots());
  }
  const auto claimed = control.shared().tiers[index].available.load();
  if (claimed > layout.slots || there < claimed) {
    return fail(EBADMSG, format_text("{}/{} holds {} buckets and should hold {}: it was cut short", path,
                                     file, there, claimed));
  }
  return tier;
}

}  // namespace

Result<Tiers> Tiers::open(const Control& control, const std::string& buffer_name, bool create) {
  Tiers tiers;
  tiers.bucket_size_ = control.header().bucket_size;
  for (std::uint32_t i = 0; i < control.header().tier_count; ++i) {
    FOREBAY_ASSIGN(auto tier, open_tier(control, i, buffer_name, create));
    if (tier->mapped)
      tiers.mapped_.push_back({tier->first_slot, tier->slots, tier->available, tier->mapped->slot(0)});
    tiers.tiers_.push_back(std::move(tier));
  }
  return tiers;
}

std::optional<std::uint32_t> Tiers::number_of(const std::string& name) const {
  const auto found = std::ranges::find_if(tiers_, [&](const auto& tier) { return tier->name == name; });
  if (name.empty() || found == tiers_.end()) return std::nullopt;
  return (*found)->index;
}

void Tiers::note_figures(const Settings& settings, const Profile& profile) {
  for (const auto& tier : tiers_) {
    const auto here = [&](TierKind kind, const std::string& path) {
      return kind == tier->kind && tier_base_directory(path) == tier->directory;
    };
    for (const auto& figures : profile.tiers) {
      if (here(figures.kind, figures.path)) tier->bandwidth = figures.bandwidth;
    }
    for (const auto& given : settings.tiers) {
      if (here(given.kind, given.path) && given.bandwidth) tier->bandwidth = *given.bandwidth;
    }
  }
}

Tier& Tiers::of_slot(std::uint32_t slot) {
  for (auto& tier : tiers_) {
    if (tier->holds(slot)) return *tier;
  }
  return *tiers_.back();
}

void Tiers::copy_in(std::uint32_t slot, std::uint32_t offset, const std::byte* from, std::uint32_t length,
                    const PageWeights& weights, PageWeights::Old old) {
  auto& tier = of_slot(slot);
  const auto number = slot - tier.first_slot;
  auto* const bucket = tier.mapped->slot(number);
  // What lies there now is counted: the caller's memory may have changed meanwhile.
  if (old == PageWeights::Old::kNone && tier.mapped->write_unentered(number, offset, from, length)) {
    weights.count_in(bucket, offset, length);
  } else {
    weights.copy_in(bucket, from, offset, length, old);
  }
}

Status Tiers::read(std::uint32_t slot, std::uint32_t offset, std::uint32_t length, std::byte* to) {
  if (!reserved(slot)) return fail(EBADMSG, format_text("the buffer has no bucket {}", slot));
  auto& tier = of_slot(slot);
  if (tier.mapped) {
    std::copy_n(tier.mapped->slot(slot - tier.first_slot) + offset, length, to);
    return {};
  }
  return tier.block->read(slot - tier.first_slot, offset, length, to);
}

std::string tier_file_path(TierKind kind, const std::string& tier, const std::string& directory,
                           const std::string& buffer_name) {
  return directory + "/" + buffer_name + "/" + data_file(kind, tier);
}

namespace {

// What a journal holds was promised to survive: one that is not home stays, for the next process that
// attaches.
void remove_empty_journals(const std::string& path) {
  const auto directory = open_private_directory(path, Create::kNever);
  if (!directory) return;
  const auto left = remove_finished_journals(*directory);
  const auto names = list_names(*directory);
  if (!left || *left != 0 || !names) return;
  for (const auto& name : *names) {
    if (!name.starts_with(kDamagedPrefix)) ::unlinkat(directory->get(), name.c_str(), 0);
  }
  ::rmdir(path.c_str());
}

}  // namespace

void remove_tier_file(TierKind kind, const std::string& tier, const std::string& directory,
                      const std::string& buffer_name, const std::string& control_directory,
                      std::vector<RemovedFile>& removed) {
  if (!open_private_directory(directory, Create::kNever)) return;
  const auto path = directory + "/" + buffer_name;
  const auto opened = open_private_directory(path, Create::kNever);
  if (!opened) return;
  const auto file = data_file(kind, tier);
  if (!release_data_file(*opened, file, control_directory)) return;
  struct stat found{};
  if (::fstatat(opened->get(), file.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0 &&
      ::unlinkat(opened->get(), file.c_str(), 0) == 0) {
    removed.push_back({path + "/" + file, static_cast<std::uint64_t>(found.st_blocks) * 512});
  }
  remove_empty_journals(path + "/" + kJournalDirectory);
  ::rmdir(path.c_str());
}

void remove_tier_files(const Control& control, const std::string& buffer_name,
                       std::vector<RemovedFile>& removed) {
  for (std::uint32_t i = 0; i < control.header().tier_count; ++i) {
    const auto& layout = control.header().tiers[i];
    remove_tier_file(static_cast<TierKind>(layout.kind), layout.name.data(), layout.directory.data(),
                     buffer_name, control.directory(), removed);
  }
}

}  // namespace forebay
