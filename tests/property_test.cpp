// Random operations by one to four processes on shared files, with tiers so small that pressure is constant,
// against what each byte must be.
#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "base/format.hpp"
#include "base/log.hpp"
#include "support/child.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include "support/worker.hpp"

namespace forebay::testing {
namespace {

// Settings that change which paths a byte takes.
std::string some_settings(std::mt19937_64& random, Stack stack) {
  const auto pick = [&](std::initializer_list<const char*> choices) {
    return std::string(choices.begin()[random() % choices.size()]);
  };
  return "buffer.max_files=16 limits.fragment_memory=64KiB readahead.min=4KiB readahead.max=64KiB "
         "drain.period=10ms"
         " pressure.wait=" +
         pick({"0s", "1ms", "30ms"}) + " drain.delay=" + pick({"0s", "3ms", "50ms"}) +
         " drain.trigger=" + pick({"write", "write", "write", "never", "periodic", "close"}) +
         " drain.in_flight=" + pick({"1", "2", "8"}) +
         " admission.read=" + pick({"always", "always", "auto", "never"}) +
         " eviction=" + pick({"lru", "lfu", "fifo"}) + " on_close=" + pick({"home", "home", "detach"}) +
         " pressure.low_water=" + pick({"0%", "10%", "40%"}) + " pressure.high_water=50%" +
         some_promises(random, stack);
}

struct Case {
  Stack stack;
  unsigned workers;
};

class Property : public ::testing::TestWithParam<Case> {};

// Bytes of its own among those of others, all at once; then all meet and everyone looks at everything.
void among_others(Truth& truth, Worker& worker, std::uint64_t operations) {
  worker.work(operations);
  truth.barrier.meet(truth.workers);
  worker.verify(Worker::Reach::kAll);
  truth.barrier.meet(truth.workers);
}

// One at a time, each anywhere: what one does, the next must see.
void in_turns(Truth& truth, Worker& worker, unsigned me, std::uint64_t operations, std::uint64_t seed) {
  // All draw the same turns.
  std::mt19937_64 turns(seed);
  for (std::uint64_t done = 0; done < operations;) {
    const auto whose = turns() % truth.workers;
    const auto count = 1 + turns() % 8;
    if (whose == me) {
      worker.work(count, Worker::Reach::kAll);
    }
    done += count;
    truth.barrier.meet(truth.workers);
  }
  worker.verify(Worker::Reach::kAll);
  truth.barrier.meet(truth.workers);
}

int be_worker(Truth& truth, const Place& place, unsigned me, std::uint64_t seed, std::uint64_t operations) {
  set_log_level(LogLevel::Off);
  Worker worker(truth, me, place, seed * kMaxWorkers + me);
  worker.attach();
  truth.barrier.meet(truth.workers);
  for (int phase = 0; phase < 2; ++phase) {
    among_others(truth, worker, operations);
    in_turns(truth, worker, me, operations, seed + static_cast<std::uint64_t>(phase));
  }
  worker.detach();
  return 0;
}

// Waits for all; a worker that fails ends the others, one that makes no progress fails the test.
void watch(Truth& truth, std::vector<Child>& children) {
  std::uint64_t last = 0;
  auto since = std::chrono::steady_clock::now();
  for (std::size_t left = children.size(); left > 0;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    left = 0;
    std::uint64_t progress = 0;
    for (std::size_t i = 0; i < children.size(); ++i) {
      progress += truth.worker[i].operations.load();
      const auto status = children[i].ended();
      if (!status) ++left;
      if (status && !Child::was_well(*status)) {
        ADD_FAILURE() << "worker " << i << " ended with status " << *status << " while doing "
                      << truth.worker[i].doing.data();
        children.clear();
        return;
      }
    }
    const auto now = std::chrono::steady_clock::now();
    if (progress + left != last) since = now;
    last = progress + left;
    if (now - since > std::chrono::seconds(90)) {
      for (std::size_t i = 0; i < children.size(); ++i) {
        ADD_FAILURE() << "no progress: worker " << i << " is doing " << truth.worker[i].doing.data();
      }
      children.clear();
      return;
    }
  }
}

TEST_P(Property, ProcessesAgreeWithPlainFiles) {
  const auto [stack, workers] = GetParam();
  const auto seed = choose_seed("property");
  const auto rounds = scaled(2, 60);
  for (int round = 0; round < rounds && !HasFailure(); ++round) {
    std::mt19937_64 random(seed + static_cast<std::uint64_t>(round));
    const auto settings = some_settings(random, stack);
    const unsigned bucket_kib = random() % 3 == 0 ? 16 : 4;
    SCOPED_TRACE(format_text("seed {} round {}: buckets of {} KiB, {}", seed, round, bucket_kib, settings));
    const Place place({.stack = stack, .bucket_kib = bucket_kib, .overrides = settings});
    const SharedMemory<Truth> truth;
    found(*truth, place, workers, random());
    std::vector<Child> children;
    const auto worker_seed = random();
    for (unsigned i = 0; i < workers; ++i) {
      children.emplace_back([&, i] { return be_worker(*truth, place, i, worker_seed, scaled(400u, 4000u)); });
    }
    watch(*truth, children);
    if (HasFailure()) break;
    // What was left to be carried home by others (on_close=detach) is, by now.
    Child last([&] {
      auto buffer = place.attach();
      const auto status = buffer->drain(std::chrono::seconds(20));
      if (!status) throw std::runtime_error(status.error().message);
      return 0;
    });
    EXPECT_TRUE(last.finished());
    for (unsigned f = 0; f < kFiles; ++f) EXPECT_EQ(compare_home(*truth, place, f), "");
  }
}

std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  const char* names[] = {"memory", "memory_and_disk", "three_tiers"};
  return format_text("{}_by_{}", names[static_cast<int>(info.param.stack)], info.param.workers);
}

INSTANTIATE_TEST_SUITE_P(Shapes, Property,
                         ::testing::Values(Case{Stack::kMemory, 1}, Case{Stack::kMemory, 3},
                                           Case{Stack::kMemoryAndDisk, 1}, Case{Stack::kMemoryAndDisk, 2},
                                           Case{Stack::kMemoryAndDisk, 4}, Case{Stack::kThree, 3}),
                         case_name);

}  // namespace
}  // namespace forebay::testing
