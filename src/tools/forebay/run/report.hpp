// What a run says when its command has ended.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "config/settings.hpp"
#include "engine/layout.hpp"
#include "tools/forebay/run/buffer.hpp"
#include "tools/forebay/run/child.hpp"
#include "tools/forebay/run/doors.hpp"

namespace forebay {

// The counters of one run.
struct RunFigures {
  std::uint64_t staged = 0;              // bytes written to the tiers
  std::uint64_t straight_home = 0;       // bytes of writes that went past them
  std::uint64_t carried_home = 0;        // bytes
  std::uint64_t hit = 0;                 // bytes read from the tiers
  std::uint64_t missed = 0;              // bytes read from home
  std::uint64_t passed_bytes = 0;        // bytes of files that were open and not buffered
  std::chrono::nanoseconds writing{};    // home was being written to this long, summed over processes
  std::chrono::nanoseconds waited{};     // programs waited for that, or for room, this long
  std::chrono::nanoseconds in_closes{};  // of it: in closes, whose bytes were to be home
  std::chrono::nanoseconds for_room{};   // of it: for room in the tiers
  // What programs did not wait for: writing home beside them, and reading what was hit, at the speed at which
  // home was read.
  std::chrono::nanoseconds hidden{};
  std::chrono::nanoseconds saved{};
};
RunFigures figures_of(const Counters& before, const Counters& after);

struct RunReport {
  std::string buffer;
  std::vector<std::string> homes;
  std::vector<std::string> doors{};
  std::vector<Leftover> leftovers{};
  std::vector<std::string> unseen{};  // programs that touch a home and are not seen
  std::chrono::nanoseconds elapsed{};
  Ended ended{};
  RunFigures figures{};
  std::vector<Passed> passed{};
  Ending ending{};
};

// Of what an earlier run left: said before the command starts.
std::string report_leftovers(const std::vector<Leftover>& leftovers);

// Short, for people.
std::string report_text(const RunReport& report);

std::string report_json(const RunReport& report);

}  // namespace forebay
