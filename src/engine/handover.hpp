// Leaving without waiting for home (`on_close: detach`): another process carries home what is left.
//
// That process is `forebay drain --detached`, a peer like any other. One at a time serves a buffer: it looks
// once more after it has given up its role, so that whoever finds the role taken may leave. Killed, it leaves
// what any killed process leaves: bytes for the next one to attach.
#pragma once

#include "engine/core.hpp"

namespace forebay {

// To be called when this process has no file open any more. False when nobody could be started: the caller
// carries its bytes home itself.
[[nodiscard]] bool hand_over_unsaved(const Core& core);

}  // namespace forebay
