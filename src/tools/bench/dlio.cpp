// A reader of training data: shared files of samples, every sample once an epoch in an order of its own, in
// batches, with a step of computing after each. The workers are the ranks.
#include <algorithm>
#include <numeric>
#include <random>

#include "base/format.hpp"
#include "tools/bench/datasets.hpp"
#include "tools/bench/hdf5_files.hpp"
#include "tools/bench/kernels.hpp"

namespace forebay::kernels {
namespace {

class Dlio : public Kernel {
 public:
  explicit Dlio(const Context& context)
      : Kernel(context),
        files_(job_, world_),
        samples_a_file_(job_.count("num-samples-per-file")),
        file_count_(job_.count("num-files-train")),
        sample_(job_.count("record-length")),
        batch_(job_.count("batch-size")),
        dataset_(job_.text("records-dataset-name")) {}

  void prepare() override {
    if (generates()) {
      Kernel::prepare();
      return;
    }
    for (std::uint64_t i = 0; i < file_count_; ++i) {
      if (!fits(i) || !job_.plant.empty()) make_file(i, 0, 1);
    }
  }

  void run() override {
    recorder_.begin();
    if (generates()) {
      for (std::uint64_t i = 0; i < file_count_; ++i) make_file(i, world_.rank(), job_.ranks);
      recorder_.end_iteration("generate");
    }
    if (job_.flag("train")) train();
    recorder_.end();
    for (const auto& [sample, data] : kept_) compare(sample, data);
  }

  void check() override {
    std::vector<std::uint8_t> data(sample_);
    for (std::uint64_t i = 0; i < file_count_; ++i) {
      const auto file = files_.open(path(i), false);
      const auto dataset = open_dataset(file.get(), dataset_);
      for (std::uint64_t j = 0; j < samples_a_file_; ++j) {
        read_selected(dataset.get(), space(j).get(), H5P_DEFAULT, std::span(data));
        compare(i * samples_a_file_ + j, data);
      }
    }
  }

 private:
  [[nodiscard]] bool generates() const { return job_.flag("generate-data"); }
  [[nodiscard]] std::uint64_t samples() const { return samples_a_file_ * file_count_; }
  [[nodiscard]] std::string path(std::uint64_t file) const { return format_text("{}.{}", job_.path(), file); }
  [[nodiscard]] Hid space(std::uint64_t sample) const {
    return box_of({samples_a_file_, sample_}, {sample, 0}, {1, sample_});
  }
  void compare(std::uint64_t sample, const std::vector<std::uint8_t>& data) {
    checker_.check<std::uint8_t>(dataset_, sample, 0, data);
  }

  [[nodiscard]] bool fits(std::uint64_t file) const {
    try {
      const auto opened = files_.open(path(file), false);
      return extent_of(open_dataset(opened.get(), dataset_).get()) ==
             std::vector<hsize_t>{samples_a_file_, sample_};
    } catch (const std::runtime_error&) {
      return false;
    }
  }

  // The samples of this rank, of so many.
  void make_file(std::uint64_t number, std::uint64_t rank, std::uint64_t ranks) {
    auto file = recorder_.timed(Phase::kCreate, [&] { return files_.create(path(number)); });
    auto dataset = recorder_.timed(Phase::kMetadata, [&] {
      return create_dataset<std::uint8_t>(file.get(), dataset_, {samples_a_file_, sample_});
    });
    std::vector<std::uint8_t> data(sample_);
    for (std::uint64_t i = rank; i < samples_a_file_; i += ranks) {
      recorder_.untimed([&] { context_.fill(dataset_, number * samples_a_file_ + i, 0, std::span(data)); });
      recorder_.transfer(Phase::kWrite, sample_, [&] {
        write_selected<std::uint8_t>(dataset.get(), space(i).get(), H5P_DEFAULT, data);
      });
    }
    recorder_.timed(Phase::kMetadata, [&] { dataset.close("close a dataset"); });
    recorder_.timed(Phase::kClose, [&] { file.close("close " + path(number)); });
  }

  [[nodiscard]] std::vector<std::uint64_t> order_of(std::uint64_t epoch) const {
    std::vector<std::uint64_t> order(samples());
    std::iota(order.begin(), order.end(), 0);
    const auto change = job_.flag("seed-change-epoch") ? epoch : 0;
    if (job_.flag("shuffle"))
      std::ranges::shuffle(order, std::mt19937_64(job_.count("random-seed") + change));
    return order;
  }

  void train() {
    const auto epochs = job_.count("epochs");
    const auto mine = (samples() + job_.ranks - 1) / job_.ranks;
    const bool keeps = epochs * mine * sample_ <= job_.memory;
    std::vector<Hid> files;
    std::vector<Hid> datasets;
    for (std::uint64_t i = 0; i < file_count_; ++i) {
      recorder_.timed(Phase::kOpen, [&] {
        files.push_back(files_.open(path(i), false));
        datasets.push_back(open_dataset(files.back().get(), dataset_));
      });
    }
    const auto transfer = files_.transfer_properties();
    for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
      const auto order = order_of(epoch);
      std::uint64_t in_batch = 0;
      for (auto i = world_.rank(); i < order.size(); i += job_.ranks) {
        // New memory for each sample, as a loader takes it, made outside of what is timed.
        auto data = recorder_.untimed([&] { return std::vector<std::uint8_t>(sample_); });
        const auto sample = order[i];
        recorder_.transfer(Phase::kRead, sample_, [&] {
          read_selected(datasets[sample / samples_a_file_].get(), space(sample % samples_a_file_).get(),
                        transfer.get(), std::span(data));
        });
        recorder_.untimed([&] { take(sample, std::move(data), keeps); });
        if (++in_batch % batch_ == 0) recorder_.compute(job_.real("computation-time"));
      }
      recorder_.end_iteration(format_text("epoch {}", epoch + 1));
      recorder_.progress(static_cast<double>(epoch + 1) / static_cast<double>(epochs));
    }
    recorder_.timed(Phase::kClose, [&] {
      for (auto& dataset : datasets) dataset.close("close a dataset");
      for (auto& file : files) file.close("close a file");
    });
  }

  void take(std::uint64_t sample, std::vector<std::uint8_t> data, bool keeps) {
    if (!job_.verify || job_.null) return;
    if (keeps) {
      kept_.emplace_back(sample, std::move(data));
    } else {
      compare(sample, data);
    }
  }

  Hdf5Files files_;
  std::uint64_t samples_a_file_, file_count_, sample_, batch_;
  std::string dataset_;
  std::vector<std::pair<std::uint64_t, std::vector<std::uint8_t>>> kept_;
};

}  // namespace

std::unique_ptr<Kernel> make_dlio(const Context& context) { return std::make_unique<Dlio>(context); }

}  // namespace forebay::kernels
