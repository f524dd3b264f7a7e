#include "door/hdf5/held_writes.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace forebay::hdf5 {
namespace {

std::uint64_t end_of(const HeldWrites::Pieces::value_type& piece) {
  return piece.first + piece.second.size();
}

// The first piece that ends behind `offset`.
template <class Pieces>
auto first_behind(Pieces& pieces, std::uint64_t offset) {
  auto at = pieces.upper_bound(offset);
  if (at != pieces.begin() && end_of(*std::prev(at)) > offset) --at;
  return at;
}

}  // namespace

void HeldWrites::write(std::uint64_t offset, std::span<const std::byte> data) {
  if (data.empty()) return;
  // The same node or header once more, mostly.
  if (const auto at = first_behind(pieces_, offset);
      at != pieces_.end() && at->first <= offset && offset + data.size() <= end_of(*at)) {
    std::memcpy(at->second.data() + (offset - at->first), data.data(), data.size());
    return;
  }
  forget(offset, offset + data.size());
  pieces_.emplace(offset, std::vector(data.begin(), data.end()));
  bytes_ += data.size();
}

void HeldWrites::forget(std::uint64_t begin, std::uint64_t end) {
  for (auto at = first_behind(pieces_, begin); at != pieces_.end() && at->first < end;) {
    const auto first = at->first;
    const auto last = end_of(*at);
    auto bytes = std::move(at->second);
    at = pieces_.erase(at);
    bytes_ -= bytes.size();
    if (last > end) {
      const auto rest = std::span(bytes).subspan(end - first);
      at = pieces_.emplace(end, std::vector(rest.begin(), rest.end())).first;
      bytes_ += rest.size();
      ++at;
    }
    if (first < begin) {
      bytes.resize(begin - first);
      bytes_ += bytes.size();
      pieces_.emplace(first, std::move(bytes));
    }
  }
}

void HeldWrites::lay_over(std::uint64_t offset, std::span<std::byte> out) const {
  const auto end = offset + out.size();
  for (auto at = first_behind(pieces_, offset); at != pieces_.end() && at->first < end; ++at) {
    const auto from = std::max(at->first, offset);
    const auto to = std::min(end_of(*at), end);
    std::memcpy(out.data() + (from - offset), at->second.data() + (from - at->first), to - from);
  }
}

void HeldWrites::clear() {
  pieces_.clear();
  bytes_ = 0;
}

}  // namespace forebay::hdf5
