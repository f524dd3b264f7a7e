// The settings that are one word out of a few, and the words themselves.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/log.hpp"

namespace forebay {

enum class TierKind : std::uint8_t { Memory, Pmem, Nvme, Shared };

enum class Placement : std::uint8_t { MaxBandwidth, MaxLocality, User };

enum class Mode : std::uint8_t {
  Async,    // staged, carried home in the background
  Sync,     // staged and written home before the write returns; reads are still served from the tiers
  Scratch,  // never goes home, removed with its last user
  Bypass,   // not buffered at all
};

// What an acknowledged write survives.
enum class Durability : std::uint8_t {
  Process,  // the death of every process on the node
  Node,     // the death of the node: persisted on a non-volatile tier first
  Home,     // everything home survives: written through
};

enum class OnClose : std::uint8_t { Home, Detach };
enum class OnFlush : std::uint8_t { Home, Stage };
// What becomes of clean bytes when nobody has their file open any more.
enum class AfterClose : std::uint8_t { Keep, Drop };
enum class Eviction : std::uint8_t { Lru, Lfu, Fifo };
enum class Admission : std::uint8_t { Auto, Always, Never };

// When dirty bytes start on their way home. A sync, a flush, a close that waits for home and pressure always
// drain, whatever the trigger.
enum class DrainTrigger : std::uint8_t { Write, Close, Periodic, Exit, Never };

enum class ReserveKind : std::uint8_t { Soft, Hard };

// What is brought in the background when it is opened.
enum class PrefetchAtOpen : std::uint8_t { None, Dataset, File, Part };

// The words of an enum, in the order of its values.
template <class E>
inline constexpr auto kWords = nullptr;

template <>
inline constexpr auto kWords<TierKind> =
    std::to_array<std::string_view>({"memory", "pmem", "nvme", "shared"});
template <>
inline constexpr auto kWords<Placement> =
    std::to_array<std::string_view>({"max_bandwidth", "max_locality", "user"});
template <>
inline constexpr auto kWords<Mode> = std::to_array<std::string_view>({"async", "sync", "scratch", "bypass"});
template <>
inline constexpr auto kWords<Durability> = std::to_array<std::string_view>({"process", "node", "home"});
template <>
inline constexpr auto kWords<OnClose> = std::to_array<std::string_view>({"home", "detach"});
template <>
inline constexpr auto kWords<OnFlush> = std::to_array<std::string_view>({"home", "stage"});
template <>
inline constexpr auto kWords<AfterClose> = std::to_array<std::string_view>({"keep", "drop"});
template <>
inline constexpr auto kWords<Eviction> = std::to_array<std::string_view>({"lru", "lfu", "fifo"});
template <>
inline constexpr auto kWords<Admission> = std::to_array<std::string_view>({"auto", "always", "never"});
template <>
inline constexpr auto kWords<DrainTrigger> =
    std::to_array<std::string_view>({"write", "close", "periodic", "exit", "never"});
template <>
inline constexpr auto kWords<ReserveKind> = std::to_array<std::string_view>({"soft", "hard"});
template <>
inline constexpr auto kWords<PrefetchAtOpen> =
    std::to_array<std::string_view>({"none", "dataset", "file", "part"});
template <>
inline constexpr auto kWords<LogLevel> = kLogLevelNames;

template <class E>
concept Choice = requires { kWords<E>.size(); };

template <Choice E>
constexpr std::string_view to_string(E value) {
  return kWords<E>[static_cast<std::size_t>(value)];
}

template <Choice E>
constexpr std::optional<E> parse_choice(std::string_view word) {
  for (std::size_t i = 0; i < kWords<E>.size(); ++i) {
    if (kWords<E>[i] == word) return static_cast<E>(i);
  }
  return std::nullopt;
}

}  // namespace forebay
