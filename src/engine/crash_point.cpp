#include "engine/crash_point.hpp"

#ifdef FOREBAY_CRASH_POINTS
#include <atomic>

namespace forebay {
namespace {
constinit std::atomic<void (*)(const char*)> hook{nullptr};
}

void crash_point(const char* name) {
  if (auto* call = hook.load(std::memory_order_relaxed)) call(name);
}

void set_crash_hook(void (*call)(const char*)) { hook.store(call); }

}  // namespace forebay
#endif
