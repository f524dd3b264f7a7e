#include "door/posix/shim/libc.hpp"

#include <dlfcn.h>

#include <type_traits>

namespace forebay::posix {
namespace {

template <auto member>
const char* const kName = nullptr;
#define FOREBAY_NAME(name) \
  template <>              \
  const char* const kName<&Libc::name> = #name;
FOREBAY_LIBC_FUNCTIONS(FOREBAY_NAME)
#undef FOREBAY_NAME

// Two threads may both do so, and find the same.
template <auto member>
auto found() {
  auto& pointer = real.*member;
  const auto function =
      reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(::dlsym(RTLD_NEXT, kName<member>));
  __atomic_store_n(&pointer, function, __ATOMIC_RELAXED);
  return function;
}

template <class Function>
struct Finding {  // those with arguments that nobody knows
  template <auto member>
  static constexpr Function first = nullptr;
};
template <class R, class... A, bool safe>
struct Finding<R (*)(A...) noexcept(safe)> {
  template <auto member>
  static R call(A... arguments) noexcept(safe) {
    return found<member>()(arguments...);
  }
  template <auto member>
  static constexpr R (*first)(A...) noexcept(safe) = call<member>;
};

}  // namespace

// What headers say of these functions beyond their types is lost here, which is no loss.
#pragma GCC diagnostic ignored "-Wignored-attributes"
constinit Libc real{
#define FOREBAY_FIRST(name) .name = Finding<decltype(&::name)>::first<&Libc::name>,
    FOREBAY_LIBC_FUNCTIONS(FOREBAY_FIRST)
#undef FOREBAY_FIRST
};

void Libc::find() {
#define FOREBAY_FIND(name) \
  if (name == nullptr) (void)found<&Libc::name>();
  FOREBAY_LIBC_FUNCTIONS(FOREBAY_FIND)
#undef FOREBAY_FIND
  (void)found<&Libc::read>();
  (void)found<&Libc::write>();
  (void)found<&Libc::close>();
  (void)found<&Libc::_exit>();
}

}  // namespace forebay::posix
