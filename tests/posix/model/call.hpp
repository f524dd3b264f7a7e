// What the operations of the model share: their choices, the descriptors and streams that a process has, and
// how results are said.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "model/worker.hpp"

namespace model {

inline constexpr std::size_t kMost = 70'000;  // bytes of one transfer
inline constexpr off_t kReach = 300'000;

extern std::array<int, kSlots> slots;  // -1: nothing
extern std::array<FILE*, kStreams> streams;

// An operation that is carried out: what it chooses is a function of its order, and goes into `words`.
struct Call {
  const Order& order;
  int at = 0;
  std::string words;

  std::uint32_t next() { return order.random[at++ % 6]; }
  template <class T>
  T pick(std::initializer_list<T> values) {
    return values.begin()[next() % values.size()];
  }
  int slot();
  int fd() { return slots[static_cast<std::size_t>(slot())]; }
  FILE*& stream();
  std::string name();
  std::size_t length();
  off_t offset();
};

std::uint64_t hash(const void* data, std::size_t size);
std::vector<char> bytes(std::uint32_t seed, std::size_t size);  // and one more

// A result, with errno if it is a failure; with what was read.
std::string said(long result);
std::string got(long result, const std::vector<char>& data);

// Those that are made more often stand more often in their table.
struct Named {
  const char* name;
  std::string (*operation)(Call&);
};
std::span<const Named> transfers();
std::span<const Named> descriptors();
std::span<const Named> names();
std::span<const Named> streams_of_files();
std::span<const Named> processes();

}  // namespace model
