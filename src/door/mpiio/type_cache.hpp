// Datatypes flattened once: predefined ones are kept by handle, others hang at the handle as an attribute and
// go with it. Thread-safe.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <functional>

#include "door/mpiio/flat_type.hpp"

namespace forebay::mpiio {

struct KnownType {
  const FlatType* flat = nullptr;  // null: it cannot be flattened. As long as the handle
  bool fresh = false;              // seen for the first time: nobody has checked yet that it was committed
};

// Can it be a datatype at all? Who asks MPI about what is none ends the program.
[[nodiscard]] inline bool may_be_type(MPI_Datatype type) {
#ifdef OPEN_MPI
  return type != MPI_DATATYPE_NULL;
#else
  // MPICH's handles are numbers that tell what they stand for: two bits of how it is stored, four of what it
  // is. (MPI_DATATYPE_NULL is one that is not stored.)
  constexpr unsigned kStored = 0xc0000000;
  constexpr unsigned kWhat = 0x3c000000;
  constexpr unsigned kDatatype = 0x0c000000;
  const auto handle = static_cast<unsigned>(type);
  return (handle & kWhat) == kDatatype && (handle & kStored) != 0;
#endif
}

// `type` is a valid handle.
KnownType known_type(MPI_Datatype type);

// A thread finds the predefined types that it uses here, without asking anybody: they live as long as MPI.
struct TypeSlot {
  MPI_Datatype type;
  const FlatType* flat;  // null: the slot is empty
};
inline constexpr std::size_t kTypeSlots = 16;
// The library is there when a program starts, so that its threads' memory has a fixed place.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local std::array<TypeSlot, kTypeSlots> type_slots;

[[nodiscard]] inline TypeSlot& slot_of(MPI_Datatype type) {
  const auto hash = std::hash<MPI_Datatype>{}(type);
  return type_slots[(hash ^ hash >> 4 ^ hash >> 8 ^ hash >> 16) % kTypeSlots];
}

// known_type() where it is one of those; null where that must be asked.
[[nodiscard]] inline const FlatType* remembered_type(MPI_Datatype type) {
  const auto& slot = slot_of(type);
  return slot.type == type ? slot.flat : nullptr;
}

// It will be fresh again.
void forget_type(MPI_Datatype type);

}  // namespace forebay::mpiio
