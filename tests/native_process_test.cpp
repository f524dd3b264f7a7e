// The native door and the life of processes: fork, exit without detaching, death.
#include <forebay/forebay.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <functional>
#include <thread>

#include "door/native/test_place.hpp"

namespace forebay::native {
namespace {

// Ends the child with what `body` returns; with `by_exit`, by way of its exit handlers.
int in_child(const std::function<int()>& body, bool by_exit = false) {
  const auto child = ::fork();
  if (child == 0) {
    ::alarm(60);
    const int result = body();
    if (by_exit) std::exit(result);
    ::_exit(result);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(NativeProcess, AForkedChildIsNotConnected) {
  const TestPlace place;
  auto* buffer = place.attach({"drain.trigger=never"});
  auto* file = open_file(buffer, place.home("a"));
  ASSERT_EQ(write_text(file, "parent", 0), 6);
  forebay_ticket* ticket = nullptr;
  ASSERT_EQ(forebay_prefetch(file, 0, 6, &ticket), 0);
  ASSERT_EQ(forebay_ticket_wait(ticket, -1), 0);
  const int left = in_child([&] {
    char byte = 0;
    forebay_file* another = nullptr;
    forebay_statistics statistics{};
    statistics.size = sizeof statistics;
    const int64_t answers[] = {
        forebay_write(file, &byte, 1, 0),
        forebay_append(file, &byte, 1),
        forebay_read(file, &byte, 1, 0),
        forebay_size(file),
        forebay_truncate(file, 0),
        forebay_sync(file),
        forebay_drain(file),
        forebay_prefetch(file, 0, 1, nullptr),
        forebay_pin(file, 0, 1),
        forebay_unpin(file, 0, 1),
        forebay_evict(file, 0, 1),
        forebay_hint(file, FOREBAY_HINT_RANDOM, 0, 0),
        forebay_open(buffer, place.home("b").c_str(), O_RDWR | O_CREAT, 0600, nullptr, &another),
        forebay_get_statistics(buffer, FOREBAY_SCOPE_NODE, &statistics),
        forebay_drain_all(buffer, 0),
        forebay_close(file),
        forebay_detach(buffer)};
    int connected = 0;
    for (const auto answer : answers) connected += answer == -ENOTCONN ? 0 : 1;
    forebay_ticket_free(ticket);
    return connected;
  });
  EXPECT_EQ(left, 0) << "calls of the child that were not refused";
  EXPECT_FALSE(std::filesystem::exists(place.home("b")));
  forebay_ticket_free(ticket);
  EXPECT_EQ(read_text(file, 10, 0), "parent");
  EXPECT_EQ(forebay_close(file), 0);
  EXPECT_EQ(slurp(place.home("a")), "parent");
  EXPECT_EQ(forebay_detach(buffer), 0);
}

TEST(NativeProcess, AForkedChildAttachesByItself) {
  const TestPlace place;
  auto* buffer = place.attach({"drain.trigger=never"});
  auto* file = open_file(buffer, place.home("a"));
  ASSERT_EQ(write_text(file, "parent", 0), 6);
  const int wrong = in_child([&] {
    auto* mine = place.attach({"drain.trigger=never"});
    auto* same = open_file(mine, place.home("a"));
    int failed = read_text(same, 10, 0) == "parent" ? 0 : 1;
    failed |= write_text(same, " and child", 6) == 10 ? 0 : 2;
    failed |= forebay_close(same) == 0 ? 0 : 4;
    failed |= forebay_detach(mine) == 0 ? 0 : 8;
    return failed;
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(read_text(file, 100, 0), "parent and child");
  EXPECT_EQ(forebay_close(file), 0);
  EXPECT_EQ(slurp(place.home("a")), "parent and child");
  EXPECT_EQ(forebay_detach(buffer), 0);
}

TEST(NativeProcess, AChildThatExitsLeavesTheParentAttached) {
  const TestPlace place;
  auto* buffer = place.attach({"drain.trigger=never"});
  auto* file = open_file(buffer, place.home("a"));
  ASSERT_EQ(write_text(file, "staged", 0), 6);
  EXPECT_EQ(in_child([] { return 0; }, true), 0);
  EXPECT_EQ(slurp(place.home("a")), "") << "the child's exit handlers have carried the parent's bytes";
  EXPECT_EQ(read_text(file, 10, 0), "staged");
  EXPECT_EQ(forebay_close(file), 0);
  EXPECT_EQ(forebay_detach(buffer), 0);
}

TEST(NativeProcess, ExitWithoutDetachingCarriesBytesHome) {
  const TestPlace place;
  EXPECT_EQ(in_child(
                [&] {
                  auto* one = place.attach({"drain.trigger=never"});
                  auto* two = place.attach({"drain.trigger=never"});
                  int failed = write_text(open_file(one, place.home("a")), "not closed", 0) == 10 ? 0 : 1;
                  const char* const detached[] = {"on_close=detach", nullptr};
                  auto* file = open_file(two, place.home("b"), O_RDWR | O_CREAT, detached);
                  failed |= write_text(file, "closed", 0) == 6 && forebay_close(file) == 0 ? 0 : 2;
                  return failed;
                },
                true),
            0);
  EXPECT_EQ(slurp(place.home("a")), "not closed");
  EXPECT_EQ(slurp(place.home("b")), "closed");
}

TEST(NativeProcess, ExitCarriesBytesHomeWhileAnotherThreadIsInACall) {
  const TestPlace place;
  EXPECT_EQ(in_child(
                [&] {
                  auto* buffer = place.attach({"drain.trigger=never"});
                  auto* file = open_file(buffer, place.home("a"));
                  auto* busy = open_file(buffer, place.home("busy"));
                  std::thread([busy] {
                    while (write_text(busy, "again and again", 0) > 0) {
                    }
                    ::pause();
                  }).detach();
                  return write_text(file, "mine", 0) == 4 ? 0 : 1;
                },
                true),
            0);
  EXPECT_EQ(slurp(place.home("a")), "mine");
}

forebay_file* used_after_exit_began = nullptr;

void use_it() {
  if (used_after_exit_began == nullptr) return;
  if (write_text(used_after_exit_began, "late", 0) != -ENOTCONN) ::_exit(8);
  if (forebay_close(used_after_exit_began) != -ENOTCONN) ::_exit(9);
}
// Registered before anybody can attach, so that it runs after the library's own.
const int registered = std::atexit(use_it);

TEST(NativeProcess, HandlersThatRunAfterOursGetAnError) {
  ASSERT_EQ(registered, 0);
  const TestPlace place;
  EXPECT_EQ(in_child(
                [&] {
                  used_after_exit_began = open_file(place.attach(), place.home("a"));
                  return write_text(used_after_exit_began, "in time", 0) == 7 ? 0 : 1;
                },
                true),
            0);
  EXPECT_EQ(slurp(place.home("a")), "in time");
}

TEST(NativeProcess, WhatAKilledProcessWroteGoesHomeWithTheNext) {
  const TestPlace place;
  EXPECT_EQ(in_child([&] {
              auto* file = open_file(place.attach({"drain.trigger=never"}), place.home("a"));
              if (write_text(file, "acknowledged", 0) != 12) return 1;
              ::kill(::getpid(), SIGKILL);
              return 2;
            }),
            -SIGKILL);
  EXPECT_EQ(slurp(place.home("a")), "");
  auto* buffer = place.attach();
  EXPECT_EQ(forebay_drain_all(buffer, -1), 0) << forebay_error_message();
  EXPECT_EQ(slurp(place.home("a")), "acknowledged");
  EXPECT_EQ(forebay_detach(buffer), 0);
}

}  // namespace
}  // namespace forebay::native
