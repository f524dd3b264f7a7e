// One run: all processes of the plan, from fork to figures.
#pragma once

#include <csignal>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include "tools/demo/plan.hpp"
#include "tools/demo/writer.hpp"

namespace forebay::demo {

// The user has had enough: the signal that said so.
struct Interrupted {
  int signal;
};

// Set by the signal handler of main.
extern volatile std::sig_atomic_t interrupted_by;
inline void check_interrupted() {
  if (interrupted_by != 0) throw Interrupted{interrupted_by};
}

// Called while a run goes on, with the part of its checkpoints that are written.
using OnProgress = std::function<void(unsigned done, unsigned all)>;

// Runs the plan in processes of its own, which write into `folder` with what `make_writer` gives each.
// However it returns, none of them is left. Throws std::runtime_error with the words of the first that
// failed, or Interrupted.
Figures run(const Plan& plan, const std::string& folder,
            const std::function<std::unique_ptr<Writer>()>& make_writer, const OnProgress& on_progress);

}  // namespace forebay::demo
