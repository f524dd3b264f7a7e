// Named places between two steps of a state change at which the crash tests kill the process.
//
// They exist only in the engine built for those tests (FOREBAY_CRASH_POINTS); elsewhere they are nothing.
#pragma once

#ifdef FOREBAY_CRASH_POINTS
namespace forebay {
// Calls the hook, if one was set.
void crash_point(const char* name);
void set_crash_hook(void (*hook)(const char* name));
}  // namespace forebay
#define FOREBAY_CRASH_POINT(name) ::forebay::crash_point(name)
#else
#define FOREBAY_CRASH_POINT(name) ((void)0)
#endif
