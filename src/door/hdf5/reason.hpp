// Why raw data goes to the native call instead of the engine.
#pragma once

#include <string_view>

namespace forebay::hdf5 {

enum class Reason {
  // Of a dataset. They follow from its metadata and are the same on every rank.
  kCompact,
  kExternal,
  kVirtual,
  kFiltered,
  kVariableLength,
  kReference,
  kNotAllocated,
  kPartlyAllocated,
  kTooManyChunks,
  kNoElements,
  kUnlinked,
  kGrowsByLittle,
  kNotNative,
  kAtomic,
  // Of one call. A rank may meet them alone.
  kTransform,
  kSelectionInPlist,
  kSelection,
  kNoConversion,
  kNoBuffer,
  kAnotherRank,
};

// Can it differ from rank to rank? Then ranks must agree before any of them makes a collective call.
[[nodiscard]] constexpr bool of_one_call(Reason reason) { return reason >= Reason::kTransform; }

[[nodiscard]] std::string_view words(Reason reason);

}  // namespace forebay::hdf5
