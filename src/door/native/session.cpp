#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <utility>
#include <vector>

#include "door/native/handles.hpp"

namespace forebay::native {
namespace {

// Sessions that live. A list that only grows, by compare-and-swap and without a lock or a destructor, so that
// it can be used in a forked child and while the process exits. An entry whose session has gone is used
// again.
struct Entry {
  std::atomic<Session*> session;
  Entry* next;
};
constinit std::atomic<Entry*> entries = nullptr;
constinit std::atomic<bool> handler_registered = false;

bool only_thread() {
  std::error_code failed;
  std::filesystem::directory_iterator tasks("/proc/self/task", failed);
  return !failed && std::distance(begin(tasks), end(tasks)) == 1;
}

// Runs at exit and when the library is unloaded; also in a forked child that exits, which finds nothing of
// its own.
void finish_all() {
  std::vector<Session*> finished;
  for (auto* entry = entries.load(); entry != nullptr; entry = entry->next) {
    auto* session = entry->session.load();
    if (session == nullptr || !session->engine()) continue;
    if (!entry->session.compare_exchange_strong(session, nullptr)) continue;
    if (session->finish()) finished.push_back(session);
  }
  if (!only_thread()) return;
  for (auto* session : finished) session->discard();
}

}  // namespace

void remember(Session& session) {
  if (!handler_registered.exchange(true)) std::atexit(finish_all);
  for (auto* entry = entries.load(); entry != nullptr; entry = entry->next) {
    Session* none = nullptr;
    if (entry->session.compare_exchange_strong(none, &session)) return;
  }
  auto* const entry = new Entry{&session, entries.load()};
  while (!entries.compare_exchange_weak(entry->next, entry)) {
  }
}

bool forget(Session& session) {
  for (auto* entry = entries.load(); entry != nullptr; entry = entry->next) {
    auto* found = &session;
    if (entry->session.compare_exchange_strong(found, nullptr)) return true;
  }
  return false;
}

Session::~Session() {
  auto* const engine = engine_.load();
  // A forked child has none of the engine's threads: it leaves the copy alone.
  if (engine != nullptr && engine->attached()) delete engine;
}

Result<Buffer*> Session::engine() const {
  auto* const engine = engine_.load(std::memory_order_acquire);
  if (engine == nullptr) return fail(ENOTCONN, "this process has detached from the buffer");
  if (!engine->attached()) {
    return fail(ENOTCONN,
                "the buffer was attached by the process that forked this one, which must attach by itself");
  }
  return engine;
}

void Session::add(forebay_file* file) {
  const std::scoped_lock lock(mutex_);
  files_.insert(file);
}

void Session::remove(forebay_file* file) {
  const std::scoped_lock lock(mutex_);
  files_.erase(file);
}

Status Session::close_files() {
  const std::scoped_lock lock(mutex_);
  Status result;
  for (auto* file : std::exchange(files_, {})) {
    if (auto status = file->engine->close(); !status && result) result = std::move(status);
    file->engine.reset();
  }
  return result;
}

Status Session::detach() {
  auto closed = close_files();
  const std::unique_ptr<Buffer> engine(engine_.exchange(nullptr));
  auto left = engine->detach();
  return left ? closed : left;
}

bool Session::finish() {
  finished_ = engine_.exchange(nullptr);
  return finished_->detach().has_value();
}

void Session::discard() {
  (void)close_files();
  delete std::exchange(finished_, nullptr);
}

}  // namespace forebay::native
