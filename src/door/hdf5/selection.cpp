#include "door/hdf5/selection.hpp"

#include <H5Spublic.h>

#include <algorithm>
#include <numeric>

namespace forebay::hdf5 {

Selection::Selection(std::uint64_t count) : elements_(count), looked_(count), ready_(count == 0 ? 0 : 1) {
  offsets_[0] = 0;
  lengths_[0] = count;
}

Selection::Selection(hid_t space) {
  const auto count = H5Sget_select_npoints(space);
  good_ = count >= 0;
  if (count <= 0) return;
  elements_ = static_cast<std::uint64_t>(count);
  const auto kind = H5Sget_select_type(space);
  points_ = kind == H5S_SEL_POINTS;
  if (kind == H5S_SEL_ALL) {
    offsets_[0] = 0;
    lengths_[0] = elements_;
    looked_ = elements_;
    ready_ = 1;
    return;
  }
  // With elements of size 1, offsets and lengths count elements.
  iterator_ = Hid(H5Ssel_iter_create(space, 1, H5S_SEL_ITER_SHARE_WITH_DATASPACE));
  good_ = static_cast<bool>(iterator_);
  unseen_ = elements_;
  if (good_) look();
}

void Selection::look() {
  std::size_t elements = 0;
  good_ = H5Ssel_iter_get_seq_list(iterator_.get(), offsets_.size(), unseen_, &ready_, &elements,
                                   offsets_.data(), lengths_.data()) >= 0 &&
          elements != 0;
  next_ = 0;
  looked_ = elements;
  unseen_ -= elements;
}

Run Selection::take(std::uint64_t most) {
  if (next_ == ready_ && unseen_ != 0) look();
  if (!good_ || next_ == ready_) return {0, 0};
  const auto count = std::min<std::uint64_t>(most, lengths_[next_]);
  const Run run{offsets_[next_], count};
  offsets_[next_] += count;
  lengths_[next_] -= count;
  if (lengths_[next_] == 0) ++next_;
  return run;
}

}  // namespace forebay::hdf5
