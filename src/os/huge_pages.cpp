#include "os/huge_pages.hpp"

#include <fcntl.h>
#include <sys/mman.h>

#include <chrono>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

namespace forebay {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::uint64_t kSmallPage = 4096;
// Small pages for the same room take about 1 ms. The kernel may have to move others' pages out of the way
// first, and waits for a thread of its own on every processor, seconds where those are all busy.
constexpr auto kSlow = std::chrono::milliseconds(3);
constexpr auto kPatience = 4 * kSlow;

}  // namespace

Result<Mapping> map_for_huge_pages(int fd, std::size_t size, const std::string& name, int flags) {
  if (size < kHugePage) return Mapping::shared(fd, size, name, flags);
  // Address space with room to choose an aligned part of; the file goes over it, and what is left of it goes.
  const auto room = size + kHugePage;
  void* reserved = ::mmap(nullptr, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return Mapping::shared(fd, size, name, flags);
  auto* const low = static_cast<std::byte*>(reserved);
  auto* const start = low + (kHugePage - reinterpret_cast<std::uintptr_t>(low) % kHugePage) % kHugePage;
  auto mapping = Mapping::shared_at(start, fd, size, name, flags);
  if (!mapping) {
    ::munmap(reserved, room);
    return mapping;
  }
  const auto end = (size + kSmallPage - 1) / kSmallPage * kSmallPage;
  if (start > low) ::munmap(low, static_cast<std::size_t>(start - low));
  ::munmap(start + end, static_cast<std::size_t>(low + room - (start + end)));
  return mapping;
}

std::uint64_t put_huge_pages(int fd, std::byte* start, std::uint64_t from, std::uint64_t to) {
  Clock::duration waited{};
  auto end = from;
  for (auto at = (from + kHugePage - 1) / kHugePage * kHugePage; at + kHugePage <= to && waited < kPatience;
       at += kHugePage) {
    const auto begin = Clock::now();
    // The kernel collapses only where there is something to collapse: one small page will do.
    if (::fallocate(fd, 0, static_cast<off_t>(at), kSmallPage) != 0) return end;
    if (::madvise(start + at, kHugePage, MADV_COLLAPSE) != 0) return end;
    end = at + kHugePage;
    if (const auto took = Clock::now() - begin; took > kSlow) waited += took;
  }
  return end;
}

}  // namespace forebay
