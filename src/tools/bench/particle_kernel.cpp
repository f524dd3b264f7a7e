#include "tools/bench/particle_kernel.hpp"

#include <filesystem>

#include "tools/bench/datasets.hpp"

namespace forebay::kernels {

void ParticleKernel::make_files() {
  Hid file;
  for (std::uint64_t rank = 0; rank < job_.ranks; ++rank) {
    const bool new_file = rank == 0 || files_.file_per_rank();
    if (new_file) file = files_.create(files_.path(rank));
    for (std::uint64_t step = 0; step < steps_; ++step) {
      const auto name = timestep_group(step);
      const auto block = Particles::block(job_, rank, step);
      const Hid group(new_file ? H5Gcreate2(file.get(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)
                               : H5Gopen2(file.get(), name.c_str(), H5P_DEFAULT),
                      H5Gclose, "make " + name);
      const auto datasets = new_file ? particles_.create(group.get(), block, H5ES_NONE)
                                     : particles_.open(group.get(), H5ES_NONE);
      const auto put = [&](const Layer& layer, const char* suffix) {
        if (layer.is_nothing()) return;
        const auto space = Particles::space_of(layer, block);
        const auto runs = runs_of(space.get());
        auto data = particles_.memory(elements_of(runs));
        particles_.fill(context_, step, runs, block.base, data, suffix);
        particles_.write(recorder_, datasets, space.get(), H5P_DEFAULT, H5ES_NONE, data);
      };
      put(before_.written, "");
      put(before_.overwritten, Content::kOver);
    }
  }
  file.close("close " + job_.path());
}

bool ParticleKernel::files_fit() const {
  for (std::uint64_t rank = 0; rank < (files_.file_per_rank() ? job_.ranks : 1); ++rank) {
    if (!std::filesystem::exists(files_.path(rank))) return false;
    try {
      const auto file = files_.open(files_.path(rank), false);
      const auto last = steps_ - 1;
      const Hid group(H5Gopen2(file.get(), timestep_group(last).c_str(), H5P_DEFAULT), H5Gclose,
                      "open the last step");
      for (const auto& dataset : particles_.open(group.get(), H5ES_NONE)) {
        if (extent_of(dataset.get()) != Particles::block(job_, rank, last).extent) return false;
      }
    } catch (const std::runtime_error&) {
      return false;
    }
  }
  return true;
}

void ParticleKernel::check_block(hid_t group, const Block& block, std::uint64_t timestep,
                                 const Content& content) {
  const auto datasets = particles_.open(group, H5ES_NONE);
  for (const auto& dataset : datasets)
    expect_shape(checker_, dataset.get(), block.extent, "of " + timestep_group(timestep));
  const auto space = Particles::space_of(Layer::everything(), block);
  const auto runs = runs_of(space.get());
  auto data = particles_.memory(elements_of(runs));
  particles_.read(recorder_, datasets, space.get(), H5P_DEFAULT, H5ES_NONE, data);
  particles_.check(context_, timestep, runs, block.base, data, content);
}

void ParticleKernel::check_files(const Content& content) {
  Hid file;
  for (std::uint64_t rank = 0; rank < job_.ranks; ++rank) {
    if (rank == 0 || files_.file_per_rank()) file = files_.open(files_.path(rank), false);
    for (std::uint64_t step = 0; step < steps_; ++step) {
      const Hid group(H5Gopen2(file.get(), timestep_group(step).c_str(), H5P_DEFAULT), H5Gclose,
                      "open " + timestep_group(step) + " at home");
      check_block(group.get(), Particles::block(job_, rank, step), step, content);
    }
  }
}

void ParticleKernel::finish(std::deque<OpenStep>& open, std::uint64_t left, Phase phase) {
  while (open.size() > left) {
    auto& oldest = open.front();
    recorder_.timed(phase, [&] { oldest.events.wait(); });
    recorder_.timed(Phase::kMetadata, [&] {
      for (auto& dataset : oldest.datasets) dataset.close("close a dataset");
      oldest.group.close("close a group");
    });
    open.pop_front();
  }
}

}  // namespace forebay::kernels
