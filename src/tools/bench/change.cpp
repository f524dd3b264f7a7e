#include "tools/bench/change.hpp"

#include "tools/bench/kernels.hpp"

namespace forebay::kernels {

void Change::run() {
  const auto runs_of_step = [&](std::uint64_t step) {
    return runs_of(Particles::written_space(job_, target(world_.rank(), step)).get());
  };
  StepBuffers<std::uint32_t> buffers(steps_, together(), elements_of(runs_of_step(0)) * kProperties.size(),
                                     job_.memory);
  const auto make_data = [&](std::uint64_t step) {
    particles_.fill(context_, step, runs_of_step(step), target(world_.rank(), step).base, buffers.of(step),
                    name());
  };
  for (std::uint64_t step = 0; step < steps_ && buffers.all(); ++step) make_data(step);
  const auto transfer = files_.transfer_properties();
  std::deque<OpenStep> open;
  recorder_.begin();
  auto file = recorder_.timed(Phase::kOpen, [&] { return files_.open(files_.path(world_.rank()), true); });
  for (std::uint64_t step = 0; step < steps_; ++step) {
    finish(open, together() - 1, Phase::kWrite);
    if (!buffers.all()) recorder_.untimed([&] { make_data(step); });
    const auto block = target(world_.rank(), step);
    auto& now = open.emplace_back(asynchronous());
    recorder_.timed(Phase::kMetadata, [&] {
      now.group = Hid(H5Gopen_async(file.get(), timestep_group(step).c_str(), H5P_DEFAULT, now.events.get()),
                      H5Gclose, "open " + timestep_group(step));
      now.datasets = particles_.open(now.group.get(), now.events.get());
      make_room(now.datasets, block);
    });
    particles_.write(recorder_, now.datasets, Particles::written_space(job_, block).get(), transfer.get(),
                     now.events.get(), buffers.of(step));
    if (together() == 1) finish(open, 0, Phase::kWrite);
    end_step(step, compute_);
  }
  finish(open, 0, Phase::kWrite);
  recorder_.timed(Phase::kFlush, [&] { must(H5Fflush(file.get(), H5F_SCOPE_LOCAL), "flush"); });
  recorder_.timed(Phase::kClose, [&] { file.close("close " + job_.path()); });
  recorder_.end();
}

namespace {

// Every element once more, with other values.
class Overwrite : public Change {
 public:
  using Change::Change;
  void check() override {
    check_files({.written = before_.written, .overwritten = Particles::written(job_)});
  }

 protected:
  [[nodiscard]] Block target(std::uint64_t rank, std::uint64_t step) const override {
    return Particles::block(job_, rank, step);
  }
  [[nodiscard]] std::string name() const override { return Content::kOver; }
};

// As much again behind what is there.
class Append : public Change {
 public:
  using Change::Change;

  void check() override {
    Hid file;
    for (std::uint64_t rank = 0; rank < job_.ranks; ++rank) {
      if (rank == 0 || files_.file_per_rank()) file = files_.open(files_.path(rank), false);
      for (std::uint64_t step = 0; step < steps_; ++step) {
        const Hid group(H5Gopen2(file.get(), timestep_group(step).c_str(), H5P_DEFAULT), H5Gclose,
                        "open a step");
        auto old = Particles::block(job_, rank, step);
        const auto added = target(rank, step);
        old.extent = added.extent;
        check_block(group.get(), old, step, before_);
        check_block(group.get(), added, step, {.written = Particles::written(job_)});
      }
    }
  }

 protected:
  [[nodiscard]] Block target(std::uint64_t rank, std::uint64_t step) const override {
    auto block = Particles::block(job_, rank, step);
    block.row += block.extent[0];
    block.extent[0] *= 2;
    return block;
  }
  [[nodiscard]] std::string name() const override { return ""; }
  void make_room(const std::vector<Hid>& datasets, const Block& block) override {
    for (const auto& dataset : datasets)
      must(H5Dset_extent(dataset.get(), block.extent.data()), "extend a dataset");
  }
};

}  // namespace

std::unique_ptr<Kernel> make_overwrite(const Context& context) {
  return std::make_unique<Overwrite>(context);
}
std::unique_ptr<Kernel> make_append(const Context& context) { return std::make_unique<Append>(context); }

}  // namespace forebay::kernels
