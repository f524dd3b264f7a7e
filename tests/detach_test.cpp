// `on_close: detach`: a process leaves at once, and what it left arrives at home without it.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "engine/status.hpp"
#include "support/child.hpp"
#include "support/node.hpp"
#include "support/owner.hpp"

namespace forebay::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kSize = 200'000;

bool eventually(const std::function<bool()>& holds) {
  for (int i = 0; i < 2000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

class Detach : public ::testing::Test {
 protected:
  // Home takes so little that nobody is through before somebody looks.
  explicit Detach(std::vector<std::string> more = {"drain.program=" + Node::program(), "drain.rate=256KiB/s",
                                                   "drain.write_size=64KiB"})
      : node_(std::move(more)) {}
  // The heir must be gone before its files are.
  ~Detach() override {
    eventually([&] { return heirs().empty(); });
  }

  [[nodiscard]] std::vector<pid_t> heirs() const {
    std::vector<pid_t> pids;
    const auto status = look_at_buffer(node_.settings());
    if (!status) return pids;
    for (const auto& process : status->processes) {
      if (process.alive && process.command == "forebay") pids.push_back(process.pid);
    }
    return pids;
  }
  [[nodiscard]] std::uint64_t unsaved() const { return look_at_buffer(node_.settings()).value().unsaved(); }
  void leave_behind(const std::string& name, const std::string& text) const {
    Owner owner(node_.settings(), [&](Buffer& buffer) { put(buffer, node_.home(name), 0, text); });
    owner.leave();
  }
  [[nodiscard]] bool arrives(const std::string& name, const std::string& text) const {
    return eventually([&] { return slurp(node_.home(name)) == text; });
  }

  Node node_;
};

TEST_F(Detach, AProcessLeavesAtOnceAndItsBytesArriveWithoutIt) {
  const auto text = pattern(kSize);
  leave_behind("a", text);
  EXPECT_NE(unsaved(), 0u) << "it waited for home";
  EXPECT_TRUE(arrives("a", text));
  EXPECT_TRUE(eventually([&] { return heirs().empty(); })) << "the heir stays";
  EXPECT_EQ(unsaved(), 0u);
}

TEST_F(Detach, TheyArriveThoughTheProcessIsKilledAfterLeaving) {
  const auto text = pattern(kSize);
  Child child([&] {
    auto buffer = Buffer::attach(node_.settings()).value();
    put(*buffer, node_.home("a"), 0, text);
    if (!buffer->detach()) return 1;
    ::kill(::getpid(), SIGKILL);
    return 0;
  });
  ASSERT_TRUE(Child::was_killed(child.wait(60s).value_or(0)));
  EXPECT_TRUE(arrives("a", text));
}

TEST_F(Detach, ManyWhoLeaveTogetherNeedOneHeir) {
  std::vector<std::unique_ptr<Owner>> owners;
  for (int i = 0; i < 5; ++i) {
    owners.push_back(std::make_unique<Owner>(node_.settings(), [&, i](Buffer& buffer) {
      put(buffer, node_.home("own" + std::to_string(i)), 0, pattern(20'000, static_cast<unsigned>(i)));
      put(buffer, node_.home("shared"), static_cast<std::uint64_t>(i) * 5000, pattern(5000, 99));
    }));
  }
  for (auto& owner : owners) owner->leave();
  EXPECT_LE(heirs().size(), 1u);
  for (int i = 0; i < 5; ++i)
    EXPECT_TRUE(arrives("own" + std::to_string(i), pattern(20'000, static_cast<unsigned>(i)))) << i;
  std::string shared;
  for (int i = 0; i < 5; ++i) shared += pattern(5000, 99);
  EXPECT_TRUE(arrives("shared", shared));
}

TEST_F(Detach, BytesOfAFileThatSomebodyOnlyReadsArriveToo) {
  const auto text = pattern(kSize);
  leave_behind("a", pattern(kSize, 2));
  ASSERT_TRUE(arrives("a", pattern(kSize, 2)));
  const Owner reader(node_.settings(), [&](Buffer& buffer) {
    static auto file = buffer.open(node_.home("a"), O_RDONLY).value();
  });
  leave_behind("a", text);
  EXPECT_TRUE(arrives("a", text));
}

TEST_F(Detach, AKilledHeirLosesNothing) {
  const auto text = pattern(kSize);
  leave_behind("a", text);
  ASSERT_TRUE(eventually([&] { return !heirs().empty(); }));
  for (const auto pid : heirs()) ::kill(pid, SIGKILL);
  // Whoever attaches next takes over, and leaves it to an heir of its own.
  leave_behind("b", text);
  EXPECT_TRUE(arrives("a", text));
  EXPECT_TRUE(arrives("b", text));
}

class DetachWithoutProgram : public Detach {
 protected:
  DetachWithoutProgram() : Detach({"drain.program=/no/such/program"}) {}
};

TEST_F(DetachWithoutProgram, LeavingWaitsForHome) {
  const auto text = pattern(kSize);
  leave_behind("a", text);
  EXPECT_EQ(slurp(node_.home("a")), text);
  EXPECT_EQ(unsaved(), 0u);
}

}  // namespace
}  // namespace forebay::testing
