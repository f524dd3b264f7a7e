#include "engine/control_reader.hpp"

#include <bit>

#include "config/choices.hpp"
#include "extent/byte_map.hpp"
#include "os/private_file.hpp"

namespace forebay {
namespace {

std::unexpected<Error> unusable(ControlFinding finding, const std::string& why) {
  const int code = finding == ControlFinding::kOtherVersion ? EPROTO
                   : finding == ControlFinding::kOtherBoot  ? ESTALE
                                                            : EBADMSG;
  return fail(code, why);
}

// The checksum holds what was written; these hold what this code relies on without looking again.
bool plausible(const Header& header) {
  if (header.tier_count > kTierLimit || header.lease_count > kLeaseLimit) return false;
  if (!std::has_single_bit(header.bucket_size) || header.bucket_size < ByteMap::kBytesPerWord) return false;
  for (std::uint32_t i = 0; i < header.tier_count; ++i) {
    const auto& tier = header.tiers[i];
    if (tier.kind >= kWords<TierKind>.size() || tier.name.back() != 0 || tier.directory.back() != 0)
      return false;
    if (std::uint64_t{tier.first_slot} + tier.slots > header.slot_count) return false;
  }
  return true;
}

}  // namespace

Result<ControlReader> ControlReader::open(const Fd& directory, ControlFinding& finding) {
  finding = ControlFinding::kDamaged;
  auto control = open_private_file(directory, kControlFile, Create::kNever);
  if (!control) {
    if (control.error().code == ENOENT) finding = ControlFinding::kMissing;
    return std::unexpected(control.error());
  }
  auto header = std::make_unique<Header>();
  std::string why;
  FOREBAY_ASSIGN(finding, Control::examine(directory, *control, *header, why));
  if (finding == ControlFinding::kUsable && !plausible(*header)) {
    finding = ControlFinding::kDamaged;
    why = "its header makes no sense";
  }
  if (finding != ControlFinding::kUsable) return unusable(finding, why);
  auto sparse = open_private_file(directory, kSparseFile, Create::kNever);
  if (!sparse) {
    finding = ControlFinding::kDamaged;
    return std::unexpected(sparse.error());
  }
  return ControlReader(std::move(*control), std::move(*sparse), std::move(header));
}

Status ControlReader::read_bytes(const Fd& file, void* to, std::uint64_t size, std::uint64_t offset) {
  FOREBAY_ASSIGN(const auto got, read_fully(file.get(), to, size, offset));
  if (got != size) return fail(EBADMSG, "a control file was cut short");
  return {};
}

Result<std::vector<std::uint32_t>> ControlReader::opens(std::uint32_t lease, std::uint32_t count) const {
  std::vector<std::uint32_t> words(std::min(count, header_->opens_per_lease));
  const auto first = std::uint64_t{lease} * header_->opens_per_lease;
  FOREBAY_TRY(read_bytes(sparse_, words.data(), words.size() * sizeof(Word),
                         header_->sparse.opens + first * sizeof(Word)));
  return words;
}

Result<std::vector<std::uint64_t>> ControlReader::map(std::uint32_t bucket) const {
  const auto stride = ByteMap::storage_for(header_->bucket_size);
  std::vector<std::uint64_t> words(stride / sizeof(std::uint64_t));
  FOREBAY_TRY(read_bytes(sparse_, words.data(), stride, header_->sparse.maps + bucket * stride));
  return words;
}

}  // namespace forebay
