#include "door/mpiio/type_cache.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

namespace forebay::mpiio {
namespace {

// What hangs at a handle.
using Hung = std::optional<FlatType>;

int drop(MPI_Datatype /*type*/, int /*key*/, void* value, void* /*state*/) {
  delete static_cast<Hung*>(value);
  return MPI_SUCCESS;
}

int attribute_key() {
  static const int kKey = [] {
    int made = MPI_KEYVAL_INVALID;
    PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, drop, &made, nullptr);
    return made;
  }();
  return kKey;
}

bool is_predefined(MPI_Datatype type) {
  int integers = 0;
  int addresses = 0;
  int types = 0;
  int combiner = MPI_COMBINER_NAMED;
  PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  return combiner == MPI_COMBINER_NAMED;
}

// Whoever flattens a type: what hangs at a handle must not be exchanged under another thread's hands.
constinit std::mutex flattening;

// There are few of them, and they live as long as MPI: flattened once for all threads.
const FlatType* predefined_type(MPI_Datatype type) {
  static auto* const kAll = new std::unordered_map<MPI_Datatype, const FlatType*>;  // guarded by flattening
  auto& flat = (*kAll)[type];
  if (flat == nullptr) {
    auto made = flatten(type);
    if (made) flat = new FlatType(std::move(*made));
  }
  return flat;
}

std::optional<KnownType> hanging_at(MPI_Datatype type) {
  void* found = nullptr;
  int there = 0;
  PMPI_Type_get_attr(type, attribute_key(), static_cast<void*>(&found), &there);
  if (there == 0) return std::nullopt;
  const auto& hung = *static_cast<const Hung*>(found);
  return KnownType{.flat = hung ? &*hung : nullptr};
}

}  // namespace

constinit thread_local std::array<TypeSlot, kTypeSlots> type_slots{};

KnownType known_type(MPI_Datatype type) {
  if (const auto* const remembered = remembered_type(type)) return {.flat = remembered};
  if (const auto known = hanging_at(type)) return *known;
  const std::scoped_lock lock(flattening);
  if (const auto known = hanging_at(type)) return *known;
  if (is_predefined(type)) {
    slot_of(type) = {type, predefined_type(type)};
    return {.flat = slot_of(type).flat};
  }
  auto flat = std::make_unique<Hung>(flatten(type));
  const auto* const result = *flat ? &**flat : nullptr;
  PMPI_Type_set_attr(type, attribute_key(), flat.release());
  return {.flat = result, .fresh = true};
}

void forget_type(MPI_Datatype type) { PMPI_Type_delete_attr(type, attribute_key()); }

}  // namespace forebay::mpiio
