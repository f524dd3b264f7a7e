// Memory for the data of timesteps.
//
// Making data or checking it between two measured operations would give whatever works in the background time
// that nobody counts. So all of it is made before the first one, or checked after the last one, if the job
// allows so much memory; otherwise buffers are used in turn, and the result says that it was so.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace forebay::kernels {

template <class T>
class StepBuffers {
 public:
  // `size` elements for each of `steps`; of these, `together` are in use at the same time.
  StepBuffers(std::uint64_t steps, std::uint64_t together, std::uint64_t size, std::uint64_t allowed)
      : all_(steps * size * sizeof(T) <= allowed), buffers_(all_ ? steps : std::min(steps, together)) {
    for (auto& buffer : buffers_) buffer.resize(size);
  }
  // Each step has its own.
  [[nodiscard]] bool all() const { return all_; }
  [[nodiscard]] std::vector<T>& of(std::uint64_t step) { return buffers_[step % buffers_.size()]; }

 private:
  bool all_;
  std::vector<std::vector<T>> buffers_;
};

}  // namespace forebay::kernels
