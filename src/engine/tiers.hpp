// The tiers' stores as this process has them open, addressed by the buffer-wide slot number.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "config/profile.hpp"
#include "config/settings.hpp"
#include "engine/control.hpp"
#include "tier/block_store.hpp"
#include "tier/mapped_store.hpp"

namespace forebay {

struct Tier {
  std::uint32_t index;
  std::uint32_t first_slot;
  std::uint32_t slots;
  TierKind kind;
  std::string name;
  std::string directory;
  std::uint64_t bandwidth = 0;        // bytes per second, as measured or given; 0: not known
  std::optional<MappedStore> mapped;  // memory and persistent memory
  std::optional<BlockStore> block;    // nvme and shared
  const Word* available = nullptr;    // slots whose storage is reserved

  [[nodiscard]] bool holds(std::uint32_t slot) const { return slot - first_slot < slots; }
  // What has no storage must not be touched: only a damaged control file names such a slot.
  [[nodiscard]] bool reserved(std::uint32_t slot) const {
    return slot - first_slot < available->load(std::memory_order_relaxed);
  }
};

// Below a buffer's directory on a tier that keeps its content.
inline constexpr const char* kJournalDirectory = "journals";

class Tiers {
 public:
  // What settings or a profile say of how fast they are.
  void note_figures(const Settings& settings, const Profile& profile);

  // `create` makes the data files anew; otherwise they must be there and as long as the control file says.
  static Result<Tiers> open(const Control& control, const std::string& buffer_name, bool create);

  [[nodiscard]] std::size_t count() const { return tiers_.size(); }
  [[nodiscard]] Tier& operator[](std::size_t i) { return *tiers_[i]; }
  [[nodiscard]] Tier& of_slot(std::uint32_t slot);
  // None has the empty name.
  [[nodiscard]] std::optional<std::uint32_t> number_of(const std::string& name) const;

  // Is there storage for the slot, and so for its checksums?
  [[nodiscard]] bool reserved(std::uint32_t slot) {
    const auto& tier = of_slot(slot);
    return tier.holds(slot) && tier.reserved(slot);
  }
  // Where the slot's bytes lie in memory; null if its tier is not mapped, or there is no such slot.
  [[nodiscard]] std::byte* data(std::uint32_t slot) const {
    for (const auto& tier : mapped_) {
      const auto number = slot - tier.first_slot;
      if (number >= tier.slots) continue;
      if (number >= tier.available->load(std::memory_order_relaxed)) return nullptr;
      return tier.start + std::uint64_t{number} * bucket_size_;
    }
    return nullptr;
  }
  // Copies into a reserved slot of a mapped tier, as PageWeights::copy_in does.
  void copy_in(std::uint32_t slot, std::uint32_t offset, const std::byte* from, std::uint32_t length,
               const PageWeights& weights, PageWeights::Old old);
  // Reads a part of a slot of any tier. EBADMSG: there is no such slot.
  Status read(std::uint32_t slot, std::uint32_t offset, std::uint32_t length, std::byte* to);

 private:
  // What data() needs of the mapped tiers, side by side.
  struct Mapped {
    std::uint32_t first_slot;
    std::uint32_t slots;
    const Word* available;
    std::byte* start;
  };

  std::vector<std::unique_ptr<Tier>> tiers_;
  std::vector<Mapped> mapped_;
  std::uint64_t bucket_size_ = 0;
};

struct RemovedFile {
  std::string path;
  std::uint64_t bytes;  // storage given back
};
// Removes the data file of one tier of a buffer, if it is there, and its directory, if that is then empty.
// `directory` is the tier's base directory. Links are not followed; what belongs to another buffer (see
// data_owner.hpp) stays.
void remove_tier_file(TierKind kind, const std::string& tier, const std::string& directory,
                      const std::string& buffer_name, const std::string& control_directory,
                      std::vector<RemovedFile>& removed);
// Those of all tiers.
void remove_tier_files(const Control& control, const std::string& buffer_name,
                       std::vector<RemovedFile>& removed);

// Where a tier of a buffer would have its data file.
[[nodiscard]] std::string tier_file_path(TierKind kind, const std::string& tier, const std::string& directory,
                                         const std::string& buffer_name);

}  // namespace forebay
