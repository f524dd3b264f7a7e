// The C boundary: HDF5 calls nothing of ours but through here, and no exception goes through its frames. What
// was thrown becomes an entry on the error stack, and the callback fails.
#pragma once

#include <hdf5.h>

#include <cxxabi.h>

#include <type_traits>

namespace forebay::hdf5 {

namespace guarded_detail {

// Puts the exception under way onto the error stack.
void push_exception() noexcept;

template <class Answer>
[[nodiscard]] constexpr Answer failed() {
  if constexpr (std::is_pointer_v<Answer>) {
    return nullptr;
  } else if constexpr (std::is_same_v<Answer, haddr_t>) {
    return HADDR_UNDEF;
  } else {
    static_assert(std::is_same_v<Answer, herr_t>);
    return -1;
  }
}

template <auto Callback>
struct Guarded;

template <class Answer, class... Arguments, Answer (*Callback)(Arguments...)>
struct Guarded<Callback> {
  static Answer call(Arguments... arguments) {
    try {
      return Callback(arguments...);
    } catch (const abi::__forced_unwind&) {
      throw;  // a thread is being cancelled: HDF5's frames are unwound as well
    } catch (...) {
      push_exception();
      return failed<Answer>();
    }
  }
};

}  // namespace guarded_detail

// `guarded<callback>` is what HDF5 is given of a callback.
template <auto Callback>
inline constexpr auto guarded = &guarded_detail::Guarded<Callback>::call;

}  // namespace forebay::hdf5
