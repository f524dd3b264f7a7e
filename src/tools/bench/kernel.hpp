// A kernel: the file operations of a kind of program, in three stages.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "tools/bench/checker.hpp"
#include "tools/bench/job.hpp"
#include "tools/bench/recorder.hpp"
#include "tools/bench/world.hpp"

namespace forebay::kernels {

// What every kernel works with.
struct Context {
  const Job& job;
  const World& world;
  Recorder& recorder;
  Checker& checker;

  // Data to be written. This is where tests plant what is wrong.
  template <class T>
  void fill(const std::string& dataset, std::uint64_t timestep, std::uint64_t first,
            std::span<T> elements) const {
    if (job.plant == "swapped" && timestep < 2) timestep = 1 - timestep;
    Source(job.seed, dataset, timestep).fill(first, elements);
    if (job.plant == "wrong_byte" && !planted && !elements.empty()) {
      auto& one = elements[elements.size() / 2];
      one = static_cast<T>(one ^ 1);
      planted = true;
    }
  }

  mutable bool planted = false;  // the first data that is made has it
};

class Kernel {
 public:
  explicit Kernel(const Context& context)
      : job_(context.job),
        world_(context.world),
        recorder_(context.recorder),
        checker_(context.checker),
        context_(context) {}
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  virtual ~Kernel() = default;

  // Makes what run() expects to find, or removes what an earlier round wrote, so that it is not taken for
  // what this one does; one process, natively.
  virtual void prepare() {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(job_.directory, ignored)) {
      if (entry.path().filename().string().starts_with(job_.file))
        std::filesystem::remove(entry.path(), ignored);
    }
  }
  // The measured part, on all ranks.
  virtual void run() = 0;
  // Everything that is at home now is as it must be; one process, natively.
  virtual void check() = 0;

 protected:
  const Job& job_;
  const World& world_;
  Recorder& recorder_;
  Checker& checker_;
  const Context& context_;
};

// Nothing when there is no kernel of that name in this flavour.
std::unique_ptr<Kernel> make_kernel(const Context& context);

}  // namespace forebay::kernels
