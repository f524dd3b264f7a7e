// What a file of particles holds, element by element: what was written first, what was written over it, and
// what nobody ever wrote.
#pragma once

#include <algorithm>
#include <cstdint>

namespace forebay::kernels {

// Elements of a dataset: none of them, all, or blocks at a stride in each rank's share.
class Layer {
 public:
  Layer() = default;
  static Layer everything() { return Layer(1, 1, 1, 1); }
  // `count` blocks of `block` elements, one at each `stride`, in shares of `share` elements.
  Layer(std::uint64_t stride, std::uint64_t block, std::uint64_t count, std::uint64_t share)
      : stride_(stride), block_(block), count_(count), share_(share) {}

  [[nodiscard]] bool is_nothing() const { return share_ == 0; }
  [[nodiscard]] bool is_everything() const { return share_ == 1; }
  [[nodiscard]] std::uint64_t stride() const { return stride_; }
  [[nodiscard]] std::uint64_t block() const { return block_; }
  [[nodiscard]] std::uint64_t count() const { return count_; }

  [[nodiscard]] bool has(std::uint64_t index) const {
    if (is_nothing()) return false;
    const auto local = index % share_;
    return local / stride_ < count_ && local % stride_ < block_;
  }
  // Up to there, at least, it is as it is at `index`.
  [[nodiscard]] std::uint64_t until(std::uint64_t index) const {
    if (is_nothing() || is_everything()) return ~std::uint64_t{0};
    const auto local = index % share_;
    const auto number = local / stride_;
    const auto begin = index - local % stride_;  // of the block before
    if (has(index)) return begin + block_;
    return number + 1 < count_ ? begin + stride_ : index - local + share_;
  }

 private:
  std::uint64_t stride_ = 0, block_ = 0, count_ = 0, share_ = 0;
};

struct Content {
  Layer written = Layer::everything();
  Layer overwritten{};

  // In the name of a dataset, for data that replaces other data.
  static constexpr const char* kOver = " (overwritten)";

  // visit(first, count, name) for stretches of one kind; `name` is what is appended to a dataset's, null
  // where nobody wrote.
  template <class Visit>
  void visit(std::uint64_t first, std::uint64_t count, Visit&& visit) const {
    for (const auto end = first + count; first < end;) {
      const auto next = std::min({end, written.until(first), overwritten.until(first)});
      visit(first, next - first, overwritten.has(first) ? kOver : written.has(first) ? "" : nullptr);
      first = next;
    }
  }
};

}  // namespace forebay::kernels
