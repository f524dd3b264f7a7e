// Room for buffers of mixed sizes: taken, filled and released, from the engine's slots and from allocators.
//
// A step takes a burst of buffers, as an application that writes a checkpoint does, and releases them all
// once they are home. What an allocator gives back to the kernel in between it must touch again.
#include <dlfcn.h>

#include <numeric>

#include "bench/figures.hpp"
#include "bench/memory.hpp"
#include "engine/core.hpp"

namespace forebay::bench {
namespace {

constexpr std::uint64_t kBurst = 64 * kMi;
constexpr std::uint64_t kSmallest = 64u << 10;
constexpr std::uint64_t kLargest = 2 * kMi;

// Sizes that add up to kBurst, evenly spread in their logarithm.
std::vector<std::uint64_t> mixed_sizes() {
  std::mt19937_64 random(3);
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t sum = 0; sum < kBurst; sum += sizes.back()) {
    const auto exponent = std::uniform_real_distribution(0.0, 5.0)(random);
    const auto size = static_cast<std::uint64_t>(static_cast<double>(kSmallest) * std::exp2(exponent));
    sizes.push_back(std::min({size, kLargest, kBurst - sum}));
  }
  return sizes;
}

double with_allocator(void* (*take)(std::size_t), void (*release)(void*),
                      const std::vector<std::uint64_t>& sizes, const std::vector<std::byte>& data) {
  std::vector<void*> taken;
  taken.reserve(sizes.size());
  const auto start = Clock::now();
  for (const auto size : sizes) {
    taken.push_back(take(size));
    std::memcpy(taken.back(), data.data(), size);
  }
  for (void* one : taken) release(one);
  return seconds_since(start);
}

// A buffer is as many slots as its size needs.
double with_slots(Core& core, const std::vector<std::uint64_t>& sizes, const std::vector<std::byte>& data) {
  const std::uint64_t bucket_size = core.bucket_size();
  std::vector<std::uint32_t> taken;
  taken.reserve(kBurst / bucket_size + sizes.size());
  const auto start = Clock::now();
  for (const auto size : sizes) {
    for (std::uint64_t done = 0; done < size; done += bucket_size) {
      const auto slot = core.slots.take(0, 0);
      if (!slot) throw std::runtime_error("the tier is full");
      taken.push_back(*slot);
      const auto length = static_cast<std::uint32_t>(std::min(bucket_size, size - done));
      core.tiers.copy_in(*slot, 0, data.data() + done, length, core.control.weights(*slot, 0),
                         PageWeights::Old::kNone);
    }
  }
  for (const auto slot : taken) core.slots.give_back(slot);
  return seconds_since(start);
}

}  // namespace

void measure_pool(const Run& run) {
  const Node node(run, {.memory = "256MiB", .settings = {"drain.trigger=never"}});
  const auto buffer = node.attach();
  const auto sizes = mixed_sizes();
  const auto data = some_bytes(kLargest);
  const auto ours = [&] { return with_slots(buffer->core(), sizes, data); };
  const auto plain = [&] { return with_allocator(std::malloc, std::free, sizes, data); };
  ours();
  plain();
  const auto bytes = static_cast<double>(kBurst);
  run.report_rate("pool", compare(run.turns(25), ours, plain), bytes, "malloc, memcpy, free");

  void* library = ::dlopen("libtcmalloc_minimal.so.4", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(::dlerror());
  const auto take = reinterpret_cast<void* (*)(std::size_t)>(::dlsym(library, "tc_malloc"));
  const auto release = reinterpret_cast<void (*)(void*)>(::dlsym(library, "tc_free"));
  const auto tcmalloc = [&] { return with_allocator(take, release, sizes, data); };
  tcmalloc();
  run.report_rate("pool/tcmalloc", compare(run.turns(25), ours, tcmalloc), bytes, "tcmalloc, memcpy, free");
}

}  // namespace forebay::bench
