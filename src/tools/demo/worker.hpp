// One process of the demo: computes, writes a checkpoint, computes, writes a checkpoint, ...
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "tools/demo/board.hpp"
#include "tools/demo/plan.hpp"
#include "tools/demo/writer.hpp"

namespace forebay::demo {

// The name of a checkpoint's file: the same for both ways.
std::string checkpoint_name(unsigned rank, unsigned step);

// Does the work of process `rank` and leaves its figures on the board. `writer` is called once the run has
// started, so that what it takes to begin is counted too.
void work(const Plan& plan, unsigned rank, const std::string& folder, Board& board,
          const std::function<std::unique_ptr<Writer>()>& writer);

}  // namespace forebay::demo
