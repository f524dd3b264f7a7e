// One process of the model: it does what it is told, one operation at a time, and says what came of it.
#pragma once

#include <cstdint>
#include <string>

namespace model {

struct Order {
  std::uint32_t operation = 0;
  std::uint32_t random[6] = {};
};

inline constexpr int kFiles = 6;
inline constexpr int kSlots = 6;
inline constexpr int kStreams = 3;
unsigned operations();  // how many there are

// Carries out one order and returns a line: what was asked, the result, errno, a hash of what was read.
std::string carry_out(const Order& order);

// The process is to execute itself, and go on with what it has open (slots_to_words).
extern bool executes;
std::string slots_to_words();
void slots_from_words(const char* words);

// Closes everything, each with its result.
std::string finish();

}  // namespace model
