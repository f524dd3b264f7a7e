#include "extent/page_weights.hpp"

#include "extent/weight.hpp"

namespace forebay {
namespace {

// From this length on a copy goes around the cache: no read for ownership, and the reader to come is the
// drain. For less, waiting until it is through costs more than that spares.
constexpr std::uint32_t kStreamFrom = 64u << 10;

bool whole(std::uint32_t begin, std::uint32_t end) { return end - begin == PageWeights::kPage; }

}  // namespace

void PageWeights::copy_in(std::byte* bucket, const std::byte* from, std::uint32_t offset,
                          std::uint32_t length, Old old) const {
  // Streaming stores are ordered with no other store: neither with what says that bytes are about to change
  // nor with what says that they have.
  const bool streams =
      length >= kStreamFrom && reinterpret_cast<std::uintptr_t>(bucket) % kStreamAlignment == 0;
  if (streams) fence_streaming();
  for_each_page(offset, offset + length, [&](std::uint32_t page, std::uint32_t begin, std::uint32_t end) {
    const auto* source = from + (begin - offset);
    if (whole(begin, end)) {
      set(page, streams ? stream_and_weigh(bucket + begin, source, begin, kPage)
                        : copy_and_weigh(bucket + begin, source, begin, kPage));
    } else {
      add(page, old == Old::kCounted ? replace_and_weigh(bucket + begin, source, begin, end - begin)
                                     : copy_and_weigh(bucket + begin, source, begin, end - begin));
    }
  });
  if (streams) fence_streaming();
}

void PageWeights::count_in(const std::byte* bucket, std::uint32_t offset, std::uint32_t length) const {
  for_each_page(offset, offset + length, [&](std::uint32_t page, std::uint32_t begin, std::uint32_t end) {
    const auto weight = weigh(bucket + begin, begin, end - begin);
    whole(begin, end) ? set(page, weight) : add(page, weight);
  });
}

void PageWeights::take_off(const std::byte* bucket, std::uint32_t from, std::uint32_t to) const {
  for_each_page(from, to, [&](std::uint32_t page, std::uint32_t begin, std::uint32_t end) {
    whole(begin, end) ? set(page, 0) : add(page, 0 - weigh(bucket + begin, begin, end - begin));
  });
}

void PageWeights::reset(std::uint32_t pages) const {
  for (std::uint32_t page = 0; page < pages; ++page) set(page, 0);
}

void PageWeights::copy_words(const PageWeights& other, std::uint32_t pages) const {
  for (std::uint32_t page = 0; page < pages; ++page) set(page, other.of(page));
}

}  // namespace forebay
