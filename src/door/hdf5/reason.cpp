#include "door/hdf5/reason.hpp"

namespace forebay::hdf5 {

std::string_view words(Reason reason) {
  switch (reason) {
    case Reason::kCompact:
      return "compact: its data lie in the object header";
    case Reason::kExternal:
      return "external: its data lie in other files";
    case Reason::kVirtual:
      return "virtual: its data lie in other datasets";
    case Reason::kFiltered:
      return "filtered, on the MPI-IO driver";
    case Reason::kVariableLength:
      return "of variable length, on the MPI-IO driver";
    case Reason::kReference:
      return "references, on the MPI-IO driver";
    case Reason::kNotAllocated:
      return "not allocated in the file";
    case Reason::kPartlyAllocated:
      return "chunks missing in a file open for writing";
    case Reason::kTooManyChunks:
      return "too many chunks to remember where they are";
    case Reason::kNoElements:
      return "without elements";
    case Reason::kUnlinked:
      return "unlinked while open";
    case Reason::kGrowsByLittle:
      return "extended very often, with many chunks";
    case Reason::kNotNative:
      return "the connector below does not tell where its data lie";
    case Reason::kAtomic:
      return "the file is in atomic mode";
    case Reason::kTransform:
      return "data transform";
    case Reason::kSelectionInPlist:
      return "selection given in the transfer properties";
    case Reason::kSelection:
      return "selections that do not fit the dataset or each other";
    case Reason::kNoConversion:
      return "no conversion between the types";
    case Reason::kNoBuffer:
      return "no buffer";
    case Reason::kAnotherRank:
      return "another rank's part of a collective call";
  }
  return "unknown";
}

}  // namespace forebay::hdf5
