#include "door/hdf5/guarded.hpp"

#include <exception>
#include <new>

#include "door/hdf5/error_stack.hpp"

namespace forebay::hdf5::guarded_detail {

void push_exception() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    push_words("there is no memory left", H5E_RESOURCE, H5E_NOSPACE);
  } catch (const std::exception& thrown) {
    push_words(thrown.what(), H5E_INTERNAL, H5E_SYSTEM);
  } catch (...) {
    push_words("an exception of an unknown kind", H5E_INTERNAL, H5E_SYSTEM);
  }
}

}  // namespace forebay::hdf5::guarded_detail
