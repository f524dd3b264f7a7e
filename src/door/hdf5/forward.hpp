// Most callbacks do nothing but call the connector below: `forward<H5VLattr_get>` is such a callback.
//
// The functions that call a connector differ from its callbacks by the connector's identifier, which stands
// after the object, or after what says where on it. What a callback returns is wrapped. A callback may free
// its own object before it returns (refresh does): nothing of it is used afterwards.
#pragma once

#include <hdf5.h>

#include <H5VLconnector.h>
#include <H5VLconnector_passthru.h>

#include <type_traits>

#include "door/hdf5/guarded.hpp"
#include "door/hdf5/object.hpp"
#include "door/hdf5/request.hpp"

namespace forebay::hdf5 {

namespace forward_detail {

inline void adopt_request(const std::shared_ptr<FileState>& file, void** request) { adopt(request, file); }
template <class Other>
void adopt_request(const std::shared_ptr<FileState>& /*file*/, const Other& /*argument*/) {}

template <class Answer, class Call, class... Rest>
Answer call(void* handle, const Call& below, Rest... rest) {
  const auto file = object(handle).file;
  const auto answer = below(object(handle).under, file->connector());
  (adopt_request(file, rest), ...);
  if constexpr (std::is_same_v<Answer, void*>) {
    return answer == nullptr ? nullptr : new Object(answer, file);
  } else {
    return answer;
  }
}

template <auto Below>
struct Forward;

template <class Answer, class... Rest, Answer (*Below)(void*, hid_t, Rest...)>
struct Forward<Below> {
  static Answer callback(void* handle, Rest... rest) {
    return call<Answer>(handle, [&](void* under, hid_t vol) { return Below(under, vol, rest...); }, rest...);
  }
};

// `Where` is what stands between the object and the connector.
template <class Answer, class Where, class... Rest, Answer (*Below)(void*, Where, hid_t, Rest...)>
  requires(!std::is_same_v<Where, hid_t>)
struct Forward<Below> {
  static Answer callback(void* handle, Where where, Rest... rest) {
    return call<Answer>(
        handle, [&](void* under, hid_t vol) { return Below(under, where, vol, rest...); }, rest...);
  }
};

}  // namespace forward_detail

template <auto Below>
inline constexpr auto forward = guarded<&forward_detail::Forward<Below>::callback>;

// The same for a callback that ends its object.
template <auto Below>
herr_t forward_close(void* handle, hid_t dxpl, void** request) {
  const auto file = object(handle).file;
  const auto result = Below(object(handle).under, file->connector(), dxpl, request);
  adopt(request, file);
  if (result >= 0) delete &object(handle);
  return result;
}

}  // namespace forebay::hdf5
