#include "door/posix/shim/libc.hpp"

#include <dlfcn.h>

namespace forebay::posix {

constinit Libc real{};

void Libc::find() {
#define FOREBAY_FIND(function) function = reinterpret_cast<decltype(function)>(::dlsym(RTLD_NEXT, #function));
  FOREBAY_LIBC_FUNCTIONS(FOREBAY_FIND)
#undef FOREBAY_FIND
}

}  // namespace forebay::posix
