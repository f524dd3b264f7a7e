// What is on its way home, and whoever it is claimed by lives: D2, and that nobody waits for it who need not.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <future>

#include "crash/interleaving.hpp"
#include "engine/salvage.hpp"

namespace forebay::testing {
namespace {

using LivingClaim = Interleaving;

// A file is given up while its bytes are on their way home: they are written from the bucket, which therefore
// must not be given to another file before they have arrived.
TEST_F(LivingClaim, OfAFileThatIsGivenUpKeepsItsBucket) {
  const Place place({.overrides = "drain.delay=0s limits.home_wait=100ms"});
  Child writer([&] {
    auto buffer = place.attach();
    buffer->pause_drain(true);
    auto file = open(*buffer, place);
    put(*file, 0, letters(4096, 'a'));
    ::kill(::getpid(), SIGKILL);
    return 0;
  });
  (void)writer.wait(20s);
  Child heir([&] {
    stop_at_point("ship.before_write");
    auto buffer = place.attach();
    if (!reached()) return 2;
    must(abandon(buffer->core(), 0));
    auto other = buffer->open(place.home("b"), O_RDWR | O_CREAT).value();
    put(*other, 0, letters(16 * 4096, 'b'));
    gate_->open.store(true);
    must(other->drain(20s));
    must(other->close());
    return 0;
  });
  EXPECT_TRUE(heir.finished(30s));
  EXPECT_EQ(Place::slurp(place.home("a")).find('b'), std::string::npos);
  EXPECT_EQ(Place::slurp(place.home("b")), letters(16 * 4096, 'b'));
}

// Of a bucket on disk a copy goes home: who writes to it need not wait for a home that does not answer.
TEST_F(LivingClaim, OfABucketOnDiskDoesNotHoldAWriter) {
  const Place place({.overrides = std::string(kQuiet) + " pressure.low_water=60% pressure.high_water=90%"});
  Child writer([&] {
    auto buffer = place.attach();
    auto file = open(*buffer, place);
    const auto on_disk = [&](std::uint64_t block) {
      const auto& core = buffer->core();
      const auto found = core.buckets.find(core.files.key(file->number(), block));
      return found && core.buckets.data(core.control.bucket(*found)) == nullptr;
    };
    put(*file, 0, letters(12 * 4096, 'o'));
    for (int i = 0; i < 20'000 && !on_disk(0); ++i) std::this_thread::sleep_for(1ms);
    if (!on_disk(0)) return 2;
    stop_at_point("ship.before_write");
    auto drained = std::async(std::launch::async, [&] { return file->drain(); });
    if (!reached()) return 3;
    auto written = std::async(std::launch::async, [&] { put(*file, 10, letters(10, 'n')); });
    const bool waited = written.wait_for(20s) != std::future_status::ready;
    gate_->open.store(true);
    must(drained.get());
    written.get();
    must(file->close());
    return waited ? 1 : 0;
  });
  EXPECT_TRUE(writer.finished(60s));
  auto expected = letters(12 * 4096, 'o');
  expected.replace(10, 10, letters(10, 'n'));
  EXPECT_TRUE(Place::slurp(place.home("a")) == expected);
}

}  // namespace
}  // namespace forebay::testing
