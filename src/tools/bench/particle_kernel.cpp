#include "tools/bench/particle_kernel.hpp"

#include <filesystem>

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
      const auto space = Particles::written_space(job_, block);
      const auto runs = runs_of(space.get());
      auto data = particles_.memory(elements_of(runs));
      particles_.fill(context_, step, runs, block.base, data);
      particles_.write(recorder_, datasets, space.get(), H5P_DEFAULT, H5ES_NONE, data);
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
        const Hid space(H5Dget_space(dataset.get()), H5Sclose, "look at a dataset");
        std::vector<hsize_t> extent(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space.get())));
        H5Sget_simple_extent_dims(space.get(), extent.data(), nullptr);
        if (extent != Particles::block(job_, rank, last).extent) return false;
      }
    } catch (const std::runtime_error&) {
      return false;
    }
  }
  return true;
}

void ParticleKernel::check_space(hid_t group, hid_t space, std::uint64_t timestep, std::uint64_t base,
                                 const std::string& name) {
  const auto datasets = particles_.open(group, H5ES_NONE);
  const auto runs = runs_of(space);
  auto data = particles_.memory(elements_of(runs));
  particles_.read(recorder_, datasets, space, H5P_DEFAULT, H5ES_NONE, data);
  particles_.check(context_, timestep, runs, base, data, name);
}

void ParticleKernel::check_files(const std::string& name) {
  Hid file;
  for (std::uint64_t rank = 0; rank < job_.ranks; ++rank) {
    if (rank == 0 || files_.file_per_rank()) file = files_.open(files_.path(rank), false);
    for (std::uint64_t step = 0; step < steps_; ++step) {
      const auto block = Particles::block(job_, rank, step);
      const Hid group(H5Gopen2(file.get(), timestep_group(step).c_str(), H5P_DEFAULT), H5Gclose,
                      "open " + timestep_group(step) + " at home");
      check_space(group.get(), Particles::written_space(job_, block).get(), step, block.base, name);
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
