// Timesteps of particles into a new file: h5bench's write, write-unlimited and normal-distributed sizes; and
// checkpoints.
#include "tools/bench/kernels.hpp"
#include "tools/bench/particle_kernel.hpp"

namespace forebay::kernels {
namespace {

class Write : public ParticleKernel {
 public:
  using ParticleKernel::ParticleKernel;

  void run() override {
    StepBuffers<std::uint32_t> buffers(steps_, together(), nominal_size(), job_.memory);
    if (buffers.all()) {
      for (std::uint64_t step = 0; step < steps_; ++step) make_data(step, buffers.of(step));
    }
    const auto transfer = files_.transfer_properties();
    std::deque<OpenStep> open;
    recorder_.begin();
    auto file = recorder_.timed(Phase::kCreate, [&] { return files_.create(files_.path(world_.rank())); });
    for (std::uint64_t step = 0; step < steps_; ++step) {
      if (computes_first_) recorder_.compute(compute_);
      finish(open, together() - 1, Phase::kWrite);
      if (!buffers.all()) recorder_.untimed([&] { make_data(step, buffers.of(step)); });
      write_step(file.get(), step, buffers.of(step), transfer.get(), open.emplace_back(asynchronous()));
      if (together() == 1) finish(open, 0, Phase::kWrite);
      end_step(step, computes_first_ ? 0 : compute_);
    }
    finish(open, 0, Phase::kWrite);
    recorder_.timed(Phase::kFlush, [&] { must(H5Fflush(file.get(), H5F_SCOPE_LOCAL), "flush"); });
    recorder_.timed(Phase::kClose, [&] { file.close("close " + job_.path()); });
    recorder_.end();
  }

  void check() override { check_files({.written = Particles::written(job_)}); }

 private:
  [[nodiscard]] std::uint64_t nominal_size() const {
    const auto space = Particles::written_space(job_, Particles::block(job_, world_.rank(), 0));
    return elements_of(runs_of(space.get())) * kProperties.size();
  }

  void make_data(std::uint64_t step, std::vector<std::uint32_t>& data) const {
    const auto block = Particles::block(job_, world_.rank(), step);
    const auto runs = runs_of(Particles::written_space(job_, block).get());
    data.resize(elements_of(runs) * kProperties.size());
    particles_.fill(context_, step, runs, block.base, data);
  }

  // A simulation that writes what it has computed, as opposed to h5bench's timesteps with computing in
  // between.
  const bool computes_first_ = job_.kernel == "checkpoint";

  void write_step(hid_t file, std::uint64_t step, const std::vector<std::uint32_t>& data, hid_t transfer,
                  OpenStep& open) {
    const auto block = Particles::block(job_, world_.rank(), step);
    const auto space = Particles::written_space(job_, block);
    recorder_.timed(Phase::kMetadata, [&] {
      open.group = Hid(H5Gcreate_async(file, timestep_group(step).c_str(), H5P_DEFAULT, H5P_DEFAULT,
                                       H5P_DEFAULT, open.events.get()),
                       H5Gclose, "create " + timestep_group(step));
      open.datasets = particles_.create(open.group.get(), block, open.events.get());
    });
    particles_.write(recorder_, open.datasets, space.get(), transfer, open.events.get(), data);
  }
};

}  // namespace

std::unique_ptr<Kernel> make_write(const Context& context) { return std::make_unique<Write>(context); }

}  // namespace forebay::kernels
