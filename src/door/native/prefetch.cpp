// forebay.h: what is kept close by.
#include <forebay/forebay.h>

#include <array>
#include <cerrno>
#include <memory>

#include "base/format.hpp"
#include "door/native/arguments.hpp"
#include "door/native/boundary.hpp"
#include "door/native/handles.hpp"

using namespace forebay;
using namespace forebay::native;

namespace {

// In the order of forebay_hint_kind.
constexpr std::array kHints{Hint::kNormal,   Hint::kSequential, Hint::kRandom,
                            Hint::kWillNeed, Hint::kDontNeed,   Hint::kExclusive};
static_assert(kHints[FOREBAY_HINT_EXCLUSIVE] == Hint::kExclusive);

}  // namespace

int forebay_prefetch(forebay_file* file, uint64_t offset, uint64_t length, forebay_ticket** ticket) {
  return cross([&]() -> Status {
    if (ticket != nullptr) *ticket = nullptr;
    FOREBAY_ASSIGN(auto* const engine, engine_of(file));
    FOREBAY_ASSIGN(auto* const buffer, file->session->engine());
    auto handle = std::make_unique<forebay_ticket>();
    handle->session = file->session;
    handle->patience = buffer->core().settings.limits.home_wait;
    handle->ticket = engine->prefetch(offset, length);
    if (handle->ticket.done()) FOREBAY_TRY(handle->ticket.wait(std::chrono::nanoseconds(0)));
    if (ticket != nullptr) *ticket = handle.release();
    return {};
  });
}

int64_t forebay_ticket_wait(forebay_ticket* ticket, int64_t timeout_ms) {
  return cross([&]() -> Result<std::uint64_t> {
    FOREBAY_TRY(given(ticket, "the ticket"));
    // What has ended is known even after detaching.
    if (!ticket->ticket.done()) FOREBAY_TRY(ticket->session->engine());
    return ticket->ticket.wait(patience(timeout_ms, ticket->patience));
  });
}

int forebay_ticket_test(forebay_ticket* ticket) {
  return cross([&]() -> Result<int> {
    FOREBAY_TRY(given(ticket, "the ticket"));
    if (ticket->ticket.done()) return 1;
    FOREBAY_TRY(ticket->session->engine());
    return 0;
  });
}

void forebay_ticket_free(forebay_ticket* ticket) { delete ticket; }

int forebay_pin(forebay_file* file, uint64_t offset, uint64_t length) {
  return cross([&]() -> Status {
    FOREBAY_ASSIGN(auto* const engine, engine_of(file));
    return engine->pin(offset, length);
  });
}

int forebay_unpin(forebay_file* file, uint64_t offset, uint64_t length) {
  return cross([&]() -> Status {
    FOREBAY_ASSIGN(auto* const engine, engine_of(file));
    return engine->unpin(offset, length);
  });
}

int forebay_evict(forebay_file* file, uint64_t offset, uint64_t length) {
  return cross([&]() -> Status {
    FOREBAY_ASSIGN(auto* const engine, engine_of(file));
    return engine->evict(offset, length);
  });
}

int forebay_hint(forebay_file* file, int hint, uint64_t offset, uint64_t length) {
  return cross([&]() -> Status {
    FOREBAY_ASSIGN(auto* const engine, engine_of(file));
    const auto index = static_cast<std::size_t>(hint);  // a negative one is larger than any
    if (index >= kHints.size()) return fail(EINVAL, format_text("there is no hint {}", hint));
    return engine->hint(kHints[index], offset, length);
  });
}
