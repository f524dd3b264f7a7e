// Timesteps of particles out of a file that the write kernel made: all of it, a part, or a pattern.
#include "tools/bench/kernels.hpp"
#include "tools/bench/particle_kernel.hpp"

namespace forebay::kernels {
namespace {

// Blocks of BLOCK_SIZE x BLOCK_SIZE_2 in a rank's share of a two-dimensional array.
class Blocks {
 public:
  Blocks(const Job& job, const Block& block)
      : first_(block.row),
        rows_(block.dims[0]),
        columns_(block.dims[1]),
        height_(job.count("BLOCK_SIZE")),
        width_(job.count("BLOCK_SIZE_2")),
        down_(std::max(job.count("STRIDE_SIZE"), height_)),
        across_(std::max(job.count("STRIDE_SIZE_2"), width_)) {}

  void select(const std::string& option, hid_t space) const {
    const auto bottom = rows_ - height_;
    const auto right = columns_ - width_;
    H5Sselect_none(space);
    if (option == "LDC") {  // two corners on one diagonal
      add(space, 0, 0, height_, width_);
      add(space, bottom, right, height_, width_);
    } else if (option == "RDC") {  // and on the other
      add(space, 0, right, height_, width_);
      add(space, bottom, 0, height_, width_);
    } else if (option == "PRL") {  // the periphery
      add(space, 0, 0, height_, columns_);
      add(space, bottom, 0, height_, columns_);
      add(space, 0, 0, rows_, width_);
      add(space, 0, right, rows_, width_);
    } else {  // CS: a stencil, a block at each stride
      for (hsize_t row = 0; row + height_ <= rows_; row += down_) {
        for (hsize_t column = 0; column + width_ <= columns_; column += across_)
          add(space, row, column, height_, width_);
      }
    }
  }

 private:
  void add(hid_t space, hsize_t row, hsize_t column, hsize_t height, hsize_t width) const {
    select_box(space, {first_ + row, column}, {height, width}, true);
  }

  hsize_t first_, rows_, columns_, height_, width_, down_, across_;
};

class Read : public ParticleKernel {
 public:
  using ParticleKernel::ParticleKernel;

  void prepare() override {
    if (files_fit() && job_.plant.empty()) return;
    Kernel::prepare();
    make_files();
  }

  void run() override {
    const auto block = Particles::block(job_, world_.rank(), 0);
    const auto space = read_space(block);
    const auto runs = runs_of(space.get());
    StepBuffers<std::uint32_t> buffers(steps_, together(), elements_of(runs) * kProperties.size(),
                                       job_.memory);
    const auto transfer = files_.transfer_properties();
    const auto check_step = [&](std::uint64_t step) {
      if (job_.verify && !job_.null)
        particles_.check(context_, step, runs, block.base, buffers.of(step), before_);
    };
    std::deque<OpenStep> open;
    recorder_.begin();
    auto file = recorder_.timed(Phase::kOpen, [&] { return open_file(); });
    for (std::uint64_t step = 0; step < steps_; ++step) {
      finish(open, buffers.all() ? together() - 1 : 0, Phase::kRead);
      read_step(file.get(), step, space.get(), transfer.get(), buffers.of(step),
                open.emplace_back(asynchronous()));
      if (together() == 1 || !buffers.all()) finish(open, 0, Phase::kRead);
      if (!buffers.all()) recorder_.untimed([&] { check_step(step); });
      end_step(step, compute_);
    }
    finish(open, 0, Phase::kRead);
    recorder_.timed(Phase::kClose, [&] { file.close("close " + job_.path()); });
    recorder_.end();
    for (std::uint64_t step = 0; step < steps_ && buffers.all(); ++step) check_step(step);
  }

  void check() override { check_files(before_); }

 private:
  [[nodiscard]] Hid open_file() const { return files_.open(files_.path(world_.rank()), false); }

  [[nodiscard]] Hid read_space(const Block& block) const {
    const auto option = job_.text("READ_OPTION");
    auto space = simple_space(block.extent);
    std::vector<hsize_t> start(block.dims.size());
    start[0] = block.row;
    auto count = block.dims;
    if (option == "STRIDED") {
      const hsize_t stride[] = {job_.count("STRIDE_SIZE")};
      const hsize_t blocks[] = {job_.count("BLOCK_CNT")};
      const hsize_t size[] = {job_.count("BLOCK_SIZE")};
      must(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), stride, blocks, size),
           "select a stride");
    } else if (option == "FULL" || option == "PARTIAL") {
      if (option == "PARTIAL") count[0] = std::min<hsize_t>(count[0], job_.count("TO_READ_NUM_PARTICLES"));
      if (option == "FULL" && job_.text("FILE_PATTERN") == "STRIDED")
        return Particles::written_space(job_, block);
      select_box(space.get(), start, count);
    } else {
      Blocks(job_, block).select(option, space.get());
    }
    return space;
  }

  void read_step(hid_t file, std::uint64_t step, hid_t space, hid_t transfer,
                 std::vector<std::uint32_t>& data, OpenStep& open) {
    recorder_.timed(Phase::kMetadata, [&] {
      open.group = Hid(H5Gopen_async(file, timestep_group(step).c_str(), H5P_DEFAULT, open.events.get()),
                       H5Gclose, "open " + timestep_group(step));
      open.datasets = particles_.open(open.group.get(), open.events.get());
    });
    particles_.read(recorder_, open.datasets, space, transfer, open.events.get(), data);
  }
};

}  // namespace

std::unique_ptr<Kernel> make_read(const Context& context) { return std::make_unique<Read>(context); }

}  // namespace forebay::kernels
