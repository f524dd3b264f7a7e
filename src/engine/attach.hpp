// Finding or making a buffer's files.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "config/profile.hpp"
#include "config/settings.hpp"
#include "engine/control.hpp"
#include "engine/peers.hpp"
#include "engine/tiers.hpp"

namespace forebay {

struct Joined {
  Settings settings;  // with a mapped tier on top, if there was none
  Profile profile;    // what `forebay profile` measured; empty if nothing
  std::unique_ptr<Control> control;
  Peers peers;
  Tiers tiers;
  Fd ring_lease;
  bool fresh;  // the buffer was made now
};

// Joins the buffer of loaded settings; makes it if `create`, and makes it again if it is unfinished or from
// before the last boot, or if the settings explicitly ask for another geometry and nobody and nothing unsaved
// is in it. Sizes that depend on the machine are settled by whoever makes it.
Result<Joined> join_buffer(const Settings& settings, bool create);

// Removes the buffer's files, also those of a tier that a restart of the machine left without a control file,
// and says which. ENOENT: there are none. EBUSY while a living process is attached; ENOTEMPTY while unsaved
// bytes are in it, unless `force`. Damaged ones only with `force`.
Result<std::vector<RemovedFile>> remove_buffer(const Settings& settings, bool force);

}  // namespace forebay
