// What the kernels on particle arrays share: making and checking a whole file natively.
#pragma once

#include <deque>
#include <string>

#include "tools/bench/kernel.hpp"
#include "tools/bench/particles.hpp"
#include "tools/bench/step_buffers.hpp"

namespace forebay::kernels {

class ParticleKernel : public Kernel {
 public:
  explicit ParticleKernel(const Context& context)
      : Kernel(context),
        files_(job_, world_),
        particles_(job_),
        before_(Particles::content_before(job_)),
        steps_(job_.count("TIMESTEPS")),
        compute_(job_.real("EMULATED_COMPUTE_TIME_PER_TIMESTEP")) {}

 protected:
  // A timestep whose objects are still open, and whose asynchronous operations may be under way.
  struct OpenStep {
    explicit OpenStep(bool asynchronous) : events(asynchronous) {}
    EventSet events;
    Hid group{};
    std::vector<Hid> datasets{};
  };

  // Writes all ranks' files with the content that is to be there before the kernel begins.
  void make_files();
  // Are the files there, with the right shape?
  [[nodiscard]] bool files_fit() const;
  // Every element of all files, whoever wrote it or nobody.
  void check_files(const Content& content);
  // Every element of a block of a timestep's datasets.
  void check_block(hid_t group, const Block& block, std::uint64_t timestep, const Content& content);

  [[nodiscard]] bool asynchronous() const { return job_.text("MODE") == "ASYNC"; }
  // How many timesteps may be open at once.
  [[nodiscard]] std::uint64_t together() const { return job_.count("DELAYED_CLOSE_TIMESTEPS") + 1; }
  // Waits for the oldest steps and closes them, until at most `left` are open.
  void finish(std::deque<OpenStep>& open, std::uint64_t left, Phase phase);
  // Computing follows each step but the last.
  void end_step(std::uint64_t step, double compute) {
    recorder_.end_iteration(std::to_string(step + 1));
    recorder_.progress(static_cast<double>(step + 1) / static_cast<double>(steps_));
    if (step + 1 < steps_) recorder_.compute(compute);
  }

  Hdf5Files files_;
  Particles particles_;
  Content before_;
  std::uint64_t steps_;
  double compute_;
};

}  // namespace forebay::kernels
