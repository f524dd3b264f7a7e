#include "door/hdf5/operation_numbers.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>

#include "door/hdf5/error_stack.hpp"
#include "door/hdf5/forward.hpp"

namespace forebay::hdf5 {
namespace {

template <std::size_t Count>
using Numbers = std::array<int, Count>;
constinit Numbers<std::size(kDatasetOperations)> dataset_numbers = {};
constinit Numbers<std::size(kFileOperations)> file_numbers = {};

template <std::size_t Count>
herr_t number(H5VL_subclass_t kind, const OperationName (&names)[Count], Numbers<Count>& numbers) {
  for (std::size_t i = 0; i < Count; ++i) {
    // There already, under our other name.
    {
      const ExpectFailure it_may_be_new;
      if (H5VLfind_opt_operation(kind, names[i].name, &numbers[i]) >= 0) continue;
    }
    if (H5VLregister_opt_operation(kind, names[i].name, &numbers[i]) < 0) return -1;
  }
  return 0;
}

template <class Operation, std::size_t Count>
std::optional<Operation> find(const Numbers<Count>& numbers, int wanted) {
  if (wanted < H5VL_RESERVED_NATIVE_OPTIONAL) return std::nullopt;
  const auto found = std::ranges::find(numbers, wanted);
  if (found == numbers.end()) return std::nullopt;
  return static_cast<Operation>(found - numbers.begin());
}

}  // namespace

herr_t register_operations() {
  if (number(H5VL_SUBCLS_DATASET, kDatasetOperations, dataset_numbers) < 0) return -1;
  return number(H5VL_SUBCLS_FILE, kFileOperations, file_numbers);
}

std::optional<DatasetOperation> dataset_operation(int wanted) {
  return find<DatasetOperation>(dataset_numbers, wanted);
}

std::optional<FileOperation> file_operation(int wanted) { return find<FileOperation>(file_numbers, wanted); }

herr_t query_operation(void* handle, H5VL_subclass_t kind, int wanted, uint64_t* flags) {
  if (kind == H5VL_SUBCLS_DATASET) {
    if (const auto ours = dataset_operation(wanted)) {
      *flags = kDatasetOperations[static_cast<std::size_t>(*ours)].flags;
      return 0;
    }
  } else if (kind == H5VL_SUBCLS_FILE) {
    if (const auto ours = file_operation(wanted)) {
      *flags = kFileOperations[static_cast<std::size_t>(*ours)].flags;
      return 0;
    }
  }
  return forward<H5VLintrospect_opt_query>(handle, kind, wanted, flags);
}

}  // namespace forebay::hdf5
