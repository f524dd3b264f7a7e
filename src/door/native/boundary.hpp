// The one way from C into C++: every function of forebay.h is a body handed to `cross`.
//
// A body returns Status or Result<int or std::uint64_t>. What comes out is 0 or the count, or the negative of
// an errno value with its words left for forebay_error_message(). No exception gets through, except the
// unwinding of a thread that is being cancelled, which nobody may stop.
#pragma once

#include <cxxabi.h>

#include <cerrno>
#include <concepts>
#include <cstdint>
#include <exception>
#include <limits>
#include <new>
#include <system_error>
#include <type_traits>

#include "base/error.hpp"
#include "door/native/last_error.hpp"

namespace forebay::native {

[[nodiscard]] inline int refuse(int code, std::string_view words) {
  set_last_error(words);
  return code > 0 ? -code : -EIO;
}

template <class Body>
auto cross(Body&& body) {
  using Value = typename std::invoke_result_t<Body>::value_type;
  using Answer = std::conditional_t<std::same_as<Value, std::uint64_t>, std::int64_t, int>;
  try {
    const auto result = body();
    if (!result) return Answer{refuse(result.error().code, result.error().message)};
    if constexpr (std::is_void_v<Value>) {
      return Answer{0};
    } else {
      return static_cast<Answer>(*result);
    }
  } catch (const abi::__forced_unwind&) {
    throw;
  } catch (const std::bad_alloc&) {
    return Answer{refuse(ENOMEM, "out of memory")};
  } catch (const std::system_error& error) {
    return Answer{refuse(error.code().value(), error.what())};
  } catch (const std::exception& error) {
    return Answer{refuse(EIO, error.what())};
  } catch (...) {
    return Answer{refuse(EIO, "an unknown exception")};
  }
}

}  // namespace forebay::native
