#include "door/posix/shim/libc.hpp"

#include <dlfcn.h>
#include <stdarg.h>

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
struct Finding;
template <class R, class... A, bool safe>
struct Finding<R (*)(A...) noexcept(safe)> {
  template <auto member>
  static R call(A... arguments) noexcept(safe) {
    return found<member>()(arguments...);
  }
  template <auto member>
  static constexpr R (*first)(A...) noexcept(safe) = call<member>;
};

#ifdef __clang__
// To clang it is part of a function's type that it does not return.
template <class R, class... A, bool safe>
struct Finding<R(__attribute__((noreturn))*)(A...) noexcept(safe)> {
  template <auto member>
  __attribute__((noreturn)) static R call(A... arguments) noexcept(safe) {
    found<member>()(arguments...);
    __builtin_unreachable();
  }
  template <auto member>
  static constexpr R(__attribute__((noreturn)) * first)(A...) noexcept(safe) = call<member>;
};
#endif

// Those with arguments that nobody knows: no caller has more than these, and one that it has not is not
// looked at.
template <class R, class First, bool safe>
struct Finding<R (*)(First, ...) noexcept(safe)> {
  template <auto member>
  static R call(First one, ...) noexcept(safe) {
    va_list more;
    va_start(more, one);
    long a[6];
    for (auto& each : a) each = va_arg(more, long);
    va_end(more);
    return found<member>()(one, a[0], a[1], a[2], a[3], a[4], a[5]);
  }
  template <auto member>
  static constexpr R (*first)(First, ...) noexcept(safe) = call<member>;
};
template <class R, class First, class Second, bool safe>
struct Finding<R (*)(First, Second, ...) noexcept(safe)> {
  template <auto member>
  static R call(First one, Second two, ...) noexcept(safe) {
    va_list more;
    va_start(more, two);
    long a[2];
    for (auto& each : a) each = va_arg(more, long);
    va_end(more);
    return found<member>()(one, two, a[0], a[1]);
  }
  template <auto member>
  static constexpr R (*first)(First, Second, ...) noexcept(safe) = call<member>;
};
template <class R, class First, class Second, class Third, bool safe>
struct Finding<R (*)(First, Second, Third, ...) noexcept(safe)> {
  template <auto member>
  static R call(First one, Second two, Third three, ...) noexcept(safe) {
    va_list more;
    va_start(more, three);
    const long a = va_arg(more, long);
    va_end(more);
    return found<member>()(one, two, three, a);
  }
  template <auto member>
  static constexpr R (*first)(First, Second, Third, ...) noexcept(safe) = call<member>;
};
template <class R, class A, class B, class C, class D, bool safe>
struct Finding<R (*)(A, B, C, D, ...) noexcept(safe)> {
  template <auto member>
  static R call(A one, B two, C three, D four, ...) noexcept(safe) {
    va_list more;
    va_start(more, four);
    const long a = va_arg(more, long);
    va_end(more);
    return found<member>()(one, two, three, four, a);
  }
  template <auto member>
  static constexpr R (*first)(A, B, C, D, ...) noexcept(safe) = call<member>;
};

}  // namespace

// What headers say of these functions beyond their types is lost here, which is no loss.
#pragma GCC diagnostic ignored "-Wignored-attributes"
constinit Libc real{
#define FOREBAY_FIRST(name) .name = Finding<decltype(&::name)>::first<&Libc::name>,
    FOREBAY_LIBC_FUNCTIONS(FOREBAY_FIRST)
#undef FOREBAY_FIRST
};

void Libc::find_for_handlers() {
  (void)found<&Libc::read>();
  (void)found<&Libc::write>();
  (void)found<&Libc::close>();
  (void)found<&Libc::_exit>();
}

}  // namespace forebay::posix
