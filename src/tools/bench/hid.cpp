#include "tools/bench/hid.hpp"

#include <stdexcept>

namespace forebay::kernels {
namespace {

// The innermost entry says why.
herr_t keep_description(unsigned, const H5E_error2_t* entry, void* text) {
  if (entry->desc != nullptr) *static_cast<std::string*>(text) = entry->desc;
  return 0;
}

}  // namespace

hid_t must(hid_t code, const std::string& what) {
  if (code >= 0) return code;
  std::string why;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, keep_description, &why);
  throw std::runtime_error("cannot " + what + (why.empty() ? "" : ": " + why));
}

}  // namespace forebay::kernels
