// Plotfiles of a block-structured mesh that is refined in levels, as AMReX writes them to HDF5: the boxes of
// a level go to ranks, each rank's multifabs lie one after the other in one flat dataset a level, and
// particles in another. With restart_check everything is read back. With event sets (mode ASYNC) a file is
// closed when the next one is begun.
#include <algorithm>
#include <deque>
#include <memory>

#include "base/format.hpp"
#include "tools/bench/datasets.hpp"
#include "tools/bench/hdf5_files.hpp"
#include "tools/bench/kernels.hpp"

namespace forebay::kernels {
namespace {

// One flat dataset of doubles, of which each rank has a stretch.
struct Flat {
  std::string name;
  std::uint64_t boxes;  // that are dealt to ranks
  std::uint64_t each;   // doubles of a box

  [[nodiscard]] std::uint64_t first(std::uint64_t rank, std::uint64_t ranks) const {
    return boxes * rank / ranks * each;
  }
  [[nodiscard]] std::uint64_t count(std::uint64_t rank, std::uint64_t ranks) const {
    return first(rank + 1, ranks) - first(rank, ranks);
  }
  [[nodiscard]] Hid space(std::uint64_t rank, std::uint64_t ranks) const {
    return box_of({boxes * each}, {first(rank, ranks)}, {count(rank, ranks)});
  }
};

class Amrex : public Kernel {
 public:
  explicit Amrex(const Context& context) : Kernel(context), files_(job_, world_) {
    const auto side = job_.count("max_grid_size");
    const auto cells = side * side * side;
    const auto boxes_a_side = std::max<std::uint64_t>(1, job_.count("ncells") / side);
    const auto boxes = boxes_a_side * boxes_a_side * boxes_a_side;
    // A finer level covers half of each side of the one below, with cells of half the size: as many boxes.
    for (std::uint64_t level = 0; level < job_.count("nlevs"); ++level)
      mesh_.push_back({format_text("level_{}/data:datatype=0", level), boxes, cells * job_.count("ncomp")});
    const auto particles = cells * job_.count("nppc");
    if (particles != 0) particles_.push_back({"particles/level_0/data:datatype=0", boxes, particles * 7});
  }

  void run() override {
    const auto plots = job_.count("nplotfile");
    const auto files = plots + (particles_.empty() ? 0 : job_.count("nparticlefile"));
    const bool waits = job_.text("mode") != "ASYNC";
    std::unique_ptr<Writing> writing;
    recorder_.begin();
    for (std::uint64_t i = 0; i < files; ++i) {
      recorder_.compute(job_.real("sleeptime"));
      finish(writing);
      writing = write_file(i, contents(i));
      if (waits) finish(writing);
      recorder_.end_iteration(name(i));
      recorder_.progress(static_cast<double>(i + 1) / static_cast<double>(files));
    }
    finish(writing);
    if (job_.flag("restart_check") && !job_.null) {
      for (std::uint64_t i = 0; i < files; ++i) read_file(i, contents(i));
      recorder_.end_iteration("restart");
    }
    recorder_.end();
  }

  void check() override {
    const auto files = job_.count("nplotfile") + (particles_.empty() ? 0 : job_.count("nparticlefile"));
    for (std::uint64_t i = 0; i < files; ++i) {
      const auto file = files_.open(path(i), false);
      for (const auto& flat : contents(i)) {
        const auto dataset = open_dataset(file.get(), flat.name);
        expect_shape(checker_, dataset.get(), {flat.boxes * flat.each}, flat.name);
        for (std::uint64_t rank = 0; rank < job_.ranks; ++rank) {
          std::vector<std::uint64_t> data(flat.count(rank, job_.ranks));
          read_selected(dataset.get(), flat.space(rank, job_.ranks).get(), H5P_DEFAULT, std::span(data));
          checker_.check<std::uint64_t>(flat.name, i, flat.first(rank, job_.ranks), data);
        }
      }
    }
  }

 private:
  // Plotfiles first, then files of particles.
  [[nodiscard]] const std::vector<Flat>& contents(std::uint64_t file) const {
    return file < job_.count("nplotfile") ? mesh_ : particles_;
  }
  [[nodiscard]] std::string name(std::uint64_t file) const {
    const auto plots = job_.count("nplotfile");
    return file < plots ? format_text("plt{:05}", file) : format_text("particles{:05}", file - plots);
  }
  [[nodiscard]] std::string path(std::uint64_t file) const { return job_.path() + "." + name(file); }

  // A file whose transfers may be under way.
  struct Writing {
    explicit Writing(bool asynchronous) : events(asynchronous) {}
    EventSet events;
    Hid file{};
    std::vector<Hid> datasets{};
    std::deque<std::vector<std::uint64_t>> data{};  // stays where it is until they are done
  };

  [[nodiscard]] std::unique_ptr<Writing> write_file(std::uint64_t number, const std::vector<Flat>& contents) {
    const auto transfer = files_.transfer_properties();
    auto writing = std::make_unique<Writing>(job_.text("mode") == "ASYNC");
    writing->file = recorder_.timed(Phase::kCreate, [&] { return files_.create(path(number)); });
    for (const auto& flat : contents) {
      auto& data = writing->data.emplace_back(flat.count(world_.rank(), job_.ranks));
      recorder_.untimed([&] {
        context_.fill(flat.name, number, flat.first(world_.rank(), job_.ranks), std::span(data));
        world_.barrier();
      });
      writing->datasets.push_back(recorder_.timed(Phase::kMetadata, [&] {
        return create_dataset<std::uint64_t>(writing->file.get(), flat.name, {flat.boxes * flat.each});
      }));
      const auto space = flat.space(world_.rank(), job_.ranks);
      const auto memory = simple_space({data.size()});
      recorder_.transfer(Phase::kWrite, data.size() * 8, [&] {
        must(H5Dwrite_async(writing->datasets.back().get(), type_of<std::uint64_t>(), memory.get(),
                            space.get(), transfer.get(), data.data(), writing->events.get()),
             "write");
      });
    }
    return writing;
  }

  // Until the next file is begun, a program that writes asynchronously computes.
  void finish(std::unique_ptr<Writing>& writing) {
    if (!writing) return;
    recorder_.timed(Phase::kWrite, [&] { writing->events.wait(); });
    recorder_.timed(Phase::kMetadata, [&] {
      for (auto& dataset : writing->datasets) dataset.close("close a dataset");
    });
    recorder_.timed(Phase::kClose, [&] { writing->file.close("close a file"); });
    writing.reset();
  }

  void read_file(std::uint64_t number, const std::vector<Flat>& contents) {
    const auto transfer = files_.transfer_properties();
    auto file = recorder_.timed(Phase::kOpen, [&] { return files_.open(path(number), false); });
    for (const auto& flat : contents) {
      std::vector<std::uint64_t> data(flat.count(world_.rank(), job_.ranks));
      auto dataset = recorder_.timed(Phase::kMetadata, [&] { return open_dataset(file.get(), flat.name); });
      const auto space = flat.space(world_.rank(), job_.ranks);
      recorder_.transfer(Phase::kRead, data.size() * 8, [&] {
        read_selected<std::uint64_t>(dataset.get(), space.get(), transfer.get(), data);
      });
      if (job_.verify)
        recorder_.untimed([&] {
          checker_.check<std::uint64_t>(flat.name, number, flat.first(world_.rank(), job_.ranks), data);
        });
    }
    recorder_.timed(Phase::kClose, [&] { file.close("close " + path(number)); });
  }

  Hdf5Files files_;
  std::vector<Flat> mesh_;
  std::vector<Flat> particles_;
};

}  // namespace

std::unique_ptr<Kernel> make_amrex(const Context& context) { return std::make_unique<Amrex>(context); }

}  // namespace forebay::kernels
