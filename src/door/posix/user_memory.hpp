// The caller's memory, which may not be there: the kernel then says EFAULT, where a copy of ours would end
// the program.
//
// Pages that were found good are remembered, for each thread a few ranges, so that a buffer that is used
// again costs nothing. Whoever unmaps or protects memory makes all threads forget. What is not seen to be
// good is not bad yet (a stack that grows, memory of a device): then the kernel copies, through a file in
// memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace forebay::posix {

enum class Touch { kRead, kWrite };

// Is this part of the address space a program's at all? The kernel asks before anything else.
[[nodiscard]] inline bool may_be_mapped(const void* memory, std::size_t size) {
  constexpr std::uintptr_t kEnd = std::uintptr_t{1} << 47;
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  return address < kEnd && size <= kEnd - address;
}

// Can these bytes be touched without harm? Its first and last page are looked at, and that nothing between
// them is unmapped.
[[nodiscard]] bool touchable(const void* memory, std::size_t size, Touch how);

// Mappings have changed.
void forget_memory();

// `use` gets what could be read of the caller's bytes, in pieces, and says how much of each it took. How many
// it took in all, or a negative errno (EFAULT) if none could be.
long read_carefully(const void* from, std::size_t size,
                    const std::function<long(std::span<const std::byte>)>& use);
// `fill` is given room and says how much it put there. How much of that the caller has now.
long write_carefully(void* to, std::size_t size, const std::function<long(std::span<std::byte>)>& fill);

}  // namespace forebay::posix
