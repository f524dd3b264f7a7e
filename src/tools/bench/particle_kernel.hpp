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
        steps_(job_.count("TIMESTEPS")),
        compute_(job_.real("EMULATED_COMPUTE_TIME_PER_TIMESTEP")) {}

  void check() override { check_files(""); }

 protected:
  // A timestep whose objects are still open, and whose asynchronous operations may be under way.
  struct OpenStep {
    explicit OpenStep(bool asynchronous) : events(asynchronous) {}
    EventSet events;
    Hid group{};
    std::vector<Hid> datasets{};
  };

  // Writes all ranks' files as the write kernel leaves them.
  void make_files();
  // Are the files there, with the right shape?
  [[nodiscard]] bool files_fit() const;
  // `name`: see Particles::fill.
  void check_files(const std::string& name);
  // Reads and checks what `space` of a timestep's datasets has selected.
  void check_space(hid_t group, hid_t space, std::uint64_t timestep, std::uint64_t base,
                   const std::string& name);

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
  std::uint64_t steps_;
  double compute_;
};

}  // namespace forebay::kernels
