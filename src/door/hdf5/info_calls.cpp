#include <cstring>

#include "door/hdf5/calls.hpp"
#include "door/hdf5/error_stack.hpp"
#include "door/hdf5/guarded.hpp"
#include "door/hdf5/info.hpp"

namespace forebay::hdf5 {
namespace {
namespace infos {

const ConnectorInfo& info(const void* handle) { return *static_cast<const ConnectorInfo*>(handle); }

void* copy(const void* handle) { return new ConnectorInfo(info(handle)); }

herr_t compare(int* result, const void* one, const void* two) {
  *result = info(one).compare(info(two));
  return 0;
}

herr_t free_info(void* handle) {
  delete static_cast<ConnectorInfo*>(handle);
  return 0;
}

herr_t to_text(const void* handle, char** text) {
  const auto made = info(handle).text();
  *text = static_cast<char*>(H5allocate_memory(made.size() + 1, false));
  if (*text == nullptr) return -1;
  std::memcpy(*text, made.c_str(), made.size() + 1);
  return 0;
}

herr_t from_text(const char* text, void** handle) {
  const auto parsed = ConnectorInfo::parse(text);
  if (!parsed) {
    push_error(parsed.error(), H5E_VOL, H5E_BADVALUE);
    return -1;
  }
  *handle = *parsed;
  return 0;
}

}  // namespace infos
}  // namespace

H5VL_info_class_t info_calls() {
  return {.size = sizeof(ConnectorInfo),
          .copy = guarded<infos::copy>,
          .cmp = guarded<infos::compare>,
          .free = guarded<infos::free_info>,
          .to_str = guarded<infos::to_text>,
          .from_str = guarded<infos::from_text>};
}

}  // namespace forebay::hdf5
