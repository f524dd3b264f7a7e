// While one of these lives, an HDF5 call that fails prints nothing: the failure is an answer. Its entries
// stay on the error stack until HDF5 is called again: ExpectFailure (error_stack.hpp) is for where that
// matters.
#pragma once

#include <hdf5.h>

namespace forebay::hdf5 {

// The program may have set how errors are printed in the way of HDF5 1.6, and finds it as it was.
class Quiet {
 public:
  Quiet() {
#ifndef H5_NO_DEPRECATED_SYMBOLS
    unsigned is_new = 1;
    H5Eauto_is_v2(H5E_DEFAULT, &is_new);
    if (is_new == 0) {
      is_old_ = true;
      H5Eget_auto1(&old_print_, &data_);
      H5Eset_auto1(nullptr, nullptr);
      return;
    }
#endif
    H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;
  ~Quiet() {
#ifndef H5_NO_DEPRECATED_SYMBOLS
    if (is_old_) {
      H5Eset_auto1(old_print_, data_);
      return;
    }
#endif
    H5Eset_auto2(H5E_DEFAULT, print_, data_);
  }

 private:
#ifndef H5_NO_DEPRECATED_SYMBOLS
  bool is_old_ = false;
  H5E_auto1_t old_print_ = nullptr;
#endif
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

}  // namespace forebay::hdf5
