// forebay.h: statistics.
#include <forebay/forebay.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/format.hpp"
#include "door/native/arguments.hpp"
#include "door/native/boundary.hpp"
#include "door/native/handles.hpp"

using namespace forebay;
using namespace forebay::native;

namespace {

struct Figure {
  std::uint64_t forebay_statistics::* told;
  Wide Counters::* counted;
};

#define FOREBAY_FIGURE(name) \
  Figure { &forebay_statistics::name, &Counters::name }
constexpr std::array kFigures{FOREBAY_FIGURE(writes),          FOREBAY_FIGURE(written_bytes),
                              FOREBAY_FIGURE(staged_bytes),    FOREBAY_FIGURE(straight_home_bytes),
                              FOREBAY_FIGURE(reads),           FOREBAY_FIGURE(read_bytes),
                              FOREBAY_FIGURE(hit_bytes),       FOREBAY_FIGURE(miss_bytes),
                              FOREBAY_FIGURE(home_writes),     FOREBAY_FIGURE(home_written_bytes),
                              FOREBAY_FIGURE(home_reads),      FOREBAY_FIGURE(home_read_bytes),
                              FOREBAY_FIGURE(home_errors),     FOREBAY_FIGURE(prefetched_bytes),
                              FOREBAY_FIGURE(readahead_bytes), FOREBAY_FIGURE(filled_bytes),
                              FOREBAY_FIGURE(evictions),       FOREBAY_FIGURE(demotions),
                              FOREBAY_FIGURE(promotions),      FOREBAY_FIGURE(damaged),
                              FOREBAY_FIGURE(waits_for_room),  FOREBAY_FIGURE(wait_ns),
                              FOREBAY_FIGURE(take_overs),      FOREBAY_FIGURE(recovered_bytes),
                              FOREBAY_FIGURE(passed_through),  FOREBAY_FIGURE(home_write_ns),
                              FOREBAY_FIGURE(home_read_ns),    FOREBAY_FIGURE(home_wait_ns),
                              FOREBAY_FIGURE(close_wait_ns)};
#undef FOREBAY_FIGURE
static_assert(kFigures.size() == kCounterCount, "a counter of the engine is missing in forebay_statistics");

void add(forebay_statistics& sum, const Counters& counters) {
  for (const auto& figure : kFigures)
    sum.*figure.told += (counters.*figure.counted).load(std::memory_order_relaxed);
  sum.read_bytes = sum.hit_bytes + sum.miss_bytes;
}
void add(forebay_statistics& sum, const LeaseRecord& record) {
  add(sum, record.counters);
  add(sum, record.own_counters);
}

}  // namespace

int forebay_get_statistics(forebay_buffer* buffer, int scope, forebay_statistics* statistics) {
  return cross([&]() -> Status {
    FOREBAY_TRY(given(buffer, "the buffer"));
    FOREBAY_TRY(given(statistics, "the place for the statistics"));
    const auto size = statistics->size;
    if (size < sizeof statistics->size)
      return fail(EINVAL, "set statistics.size to sizeof(forebay_statistics) first");
    FOREBAY_ASSIGN(auto* const engine, buffer->session->engine());
    const auto& core = engine->core();
    forebay_statistics sum{};
    if (scope == FOREBAY_SCOPE_PROCESS) {
      add(sum, core.peers.record());
    } else if (scope == FOREBAY_SCOPE_NODE) {
      add(sum, core.control.shared().gone);
      for (std::uint32_t i = 0; i < core.control.header().lease_count; ++i) add(sum, core.control.lease(i));
    } else {
      return fail(EINVAL, format_text("there is no scope {}", scope));
    }
    sum.size = size;
    // The caller's structure may be older or newer than this library's.
    std::memset(statistics, 0, size);
    std::memcpy(statistics, &sum, std::min(size, sizeof sum));
    return {};
  });
}
