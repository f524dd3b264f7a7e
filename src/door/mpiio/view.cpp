#include "door/mpiio/view.hpp"

namespace forebay::mpiio {

View::View(std::int64_t displacement, std::int64_t etype_size, FlatType filetype)
    : displacement_(static_cast<std::uint64_t>(displacement)),
      etype_size_(etype_size),
      contiguous_(filetype.runs.size() == 1 && filetype.runs.front().length == filetype.extent),
      filetype_(std::move(filetype)) {
  if (contiguous_) {
    displacement_ += static_cast<std::uint64_t>(filetype_.runs.front().offset);
    return;
  }
  before_.reserve(filetype_.runs.size());
  std::uint64_t sum = 0;
  for (const auto& run : filetype_.runs) {
    before_.push_back(sum);
    sum += static_cast<std::uint64_t>(run.length);
  }
}

}  // namespace forebay::mpiio
