#include "session/session.hpp"

#include <pthread.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include "base/log.hpp"
#include "config/load.hpp"

namespace forebay {
namespace {

struct Member {
  Membership wanted;
  std::unique_ptr<Buffer> buffer;
};

struct Registry {
  std::mutex mutex;
  std::vector<Member> members;  // guarded by mutex
  std::vector<Buffer*> left;    // likewise: files that were left open still point to them
};

// Never freed, and a child leaves its parent's alone: a thread that is not there any more may hold its mutex.
constinit std::atomic<Registry*> registry = nullptr;
constinit std::atomic<std::uint32_t> generation = 1;

void start_anew_in_child() {
  registry.store(new Registry);
  generation.fetch_add(1);
}

Registry& the_registry() {
  if (auto* const there = registry.load()) return *there;
  auto* const made = new Registry;
  Registry* none = nullptr;
  if (!registry.compare_exchange_strong(none, made)) {
    delete made;
    return *none;
  }
  ::pthread_atfork(nullptr, nullptr, start_anew_in_child);
  return *made;
}

Result<Settings> load_settings(const Membership& wanted) {
  FOREBAY_ASSIGN(
      auto loaded,
      load({.file = wanted.config, .overrides = wanted.overrides, .overrides_from = wanted.overrides_from}));
  if (loaded.origins.contains("log.level")) set_log_level(loaded.log.level);
  if (!loaded.log.file.empty()) FOREBAY_TRY(set_log_file(loaded.log.file));
  for (const auto& remark : loaded.remarks) log_warn("{}", remark);
  return loaded;
}

}  // namespace

std::uint32_t fork_generation() { return generation.load(std::memory_order_relaxed); }

Result<Buffer*> join(const Membership& wanted) {
  auto& all = the_registry();
  const std::scoped_lock lock(all.mutex);
  for (const auto& member : all.members) {
    if (member.wanted == wanted) return member.buffer.get();
  }
  FOREBAY_ASSIGN(const auto settings, load_settings(wanted));
  FOREBAY_ASSIGN(auto buffer, Buffer::attach(settings, {.idle_at_first = true}));
  all.members.push_back({wanted, std::move(buffer)});
  return all.members.back().buffer.get();
}

Buffer* joined(const Membership& wanted) {
  auto* const all = registry.load();
  if (all == nullptr) return nullptr;
  const std::scoped_lock lock(all->mutex);
  for (const auto& member : all->members) {
    if (member.wanted == wanted) return member.buffer.get();
  }
  return nullptr;
}

Status leave_all() {
  auto* const all = registry.load();
  if (all == nullptr) return {};
  const std::scoped_lock lock(all->mutex);
  Status result;
  for (auto& member : all->members) {
    if (auto status = member.buffer->detach(); !status && result) result = std::move(status);
    all->left.push_back(member.buffer.release());
  }
  all->members.clear();
  return result;
}

}  // namespace forebay
