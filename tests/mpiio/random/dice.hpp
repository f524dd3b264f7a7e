// Chance from a seed.
#pragma once

#include <cstdint>
#include <random>

struct Dice {
  std::mt19937_64 engine;

  explicit Dice(std::uint64_t seed) : engine(seed) {}
  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(int percent) { return pick(1, 100) <= percent; }
};
