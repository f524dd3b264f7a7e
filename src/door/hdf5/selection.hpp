// The elements that a dataspace selects, as runs of consecutive ones in the order of the selection.
//
// Used once, from front to back, in the thread that made it.
#pragma once

#include <H5Ipublic.h>

#include <array>
#include <cstdint>

#include "door/hdf5/hid.hpp"
#include "door/hdf5/scratch.hpp"

namespace forebay::hdf5 {

class Selection {
 public:
  // `count` elements from the first one on.
  explicit Selection(std::uint64_t count);
  // What `space` selects. It must live and stay as it is while it is read.
  explicit Selection(hid_t space);

  // Did HDF5 say what is selected?
  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] std::uint64_t elements() const { return elements_; }
  // Before anything was taken: is it one run?
  [[nodiscard]] bool one_run() const { return ready_ == 1 && lengths_[0] == elements_; }
  // Of the part looked at so far: how many elements has a run?
  [[nodiscard]] std::uint64_t typical_run() const { return ready_ == 0 ? 0 : looked_ / ready_; }
  // May an element be selected more than once?
  [[nodiscard]] bool may_repeat() const { return points_; }
  // The run at the front, cut to at most `most` elements. Only while elements are left.
  Run take(std::uint64_t most);

 private:
  void look();

  Hid iterator_;
  std::uint64_t elements_ = 0;
  std::uint64_t unseen_ = 0;  // not yet asked for
  std::uint64_t looked_ = 0;  // elements of the runs below
  std::size_t ready_ = 0;     // runs below
  std::size_t next_ = 0;
  bool good_ = true;
  bool points_ = false;
  std::array<hsize_t, 128> offsets_;
  std::array<std::size_t, 128> lengths_;
};

}  // namespace forebay::hdf5
