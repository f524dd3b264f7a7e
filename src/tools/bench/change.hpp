// What overwriting and appending share: timesteps written into datasets that are there already.
#pragma once

#include <string>

#include "tools/bench/particle_kernel.hpp"

namespace forebay::kernels {

class Change : public ParticleKernel {
 public:
  using ParticleKernel::ParticleKernel;

  // Anew for each round: what an earlier one wrote must not be taken for what this one did.
  void prepare() override {
    Kernel::prepare();
    make_files();
  }
  void run() override;

 protected:
  // The share to be written.
  [[nodiscard]] virtual Block target(std::uint64_t rank, std::uint64_t step) const = 0;
  // What is appended to datasets' names in the data, see Particles::fill.
  [[nodiscard]] virtual std::string name() const = 0;
  // Before writing.
  virtual void make_room(const std::vector<Hid>& /*datasets*/, const Block& /*block*/) {}
};

}  // namespace forebay::kernels
