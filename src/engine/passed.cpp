#include "engine/passed.hpp"

#include <algorithm>
#include <cstring>
#include <span>

namespace forebay {
namespace {

constexpr std::string_view kOthers = "other reasons";

bool holds(const PassedRecord& record, std::string_view why) {
  return std::string_view(record.why.data(), ::strnlen(record.why.data(), record.why.size())) == why;
}

bool take(PassedRecord& record, std::string_view why) {
  std::uint32_t state = kPassedFree;
  if (!record.state.compare_exchange_strong(state, kPassedTaken)) return false;
  record.why.fill('\0');
  std::memcpy(record.why.data(), why.data(), why.size());
  record.state.store(kPassedReady, std::memory_order_release);
  return true;
}

PassedRecord& place_of(PassedTable& table, std::string_view why) {
  for (auto& record : std::span(table).first(table.size() - 1)) {
    if (record.state.load(std::memory_order_acquire) == kPassedFree && take(record, why)) return record;
    if (record.state.load(std::memory_order_acquire) == kPassedReady && holds(record, why)) return record;
  }
  auto& last = table.back();
  (void)take(last, kOthers);
  return last;
}

std::vector<Passed> most_first(const std::map<std::string, std::uint64_t, std::less<>>& counts) {
  std::vector<Passed> all;
  for (const auto& [why, times] : counts) all.push_back({why, times});
  std::ranges::stable_sort(all, [](const Passed& a, const Passed& b) { return a.times > b.times; });
  return all;
}

}  // namespace

std::vector<Passed> passed_of(const PassedTable& table) {
  std::map<std::string, std::uint64_t, std::less<>> counts;  // two who named a reason at once took two places
  for (const auto& record : table) {
    if (record.state.load(std::memory_order_acquire) != kPassedReady) continue;
    counts[{record.why.data(), ::strnlen(record.why.data(), record.why.size())}] += record.times.load();
  }
  return most_first(counts);
}

void PassedNotes::note(std::string_view why) {
  why = why.substr(0, PassedRecord{}.why.size());
  place_of(table_, why).times.fetch_add(1, std::memory_order_relaxed);
  const std::scoped_lock lock(mutex_);
  const auto found = own_.find(why);
  found != own_.end() ? void(++found->second) : void(own_.emplace(why, 1));
}

std::vector<Passed> PassedNotes::own() const {
  const std::scoped_lock lock(mutex_);
  return most_first(own_);
}

}  // namespace forebay
