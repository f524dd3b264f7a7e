// A reader of training data: shared files of samples, every sample once an epoch in an order of its own, in
// batches, with a step of computing after each, and evaluation with other samples in between. Ranks read for
// themselves, together (collective-data), or have workers that read ahead of them (read-threads).
#include <algorithm>
#include <memory>
#include <numeric>
#include <random>

#include "base/format.hpp"
#include "tools/bench/kernels.hpp"
#include "tools/bench/reader_pool.hpp"
#include "tools/bench/sample_files.hpp"

namespace forebay::kernels {
namespace {

// Once through a set of samples.
struct Pass {
  std::string name;
  const SampleFiles* files;
  std::vector<std::uint64_t> order;  // of all ranks, who take turns
  std::uint64_t batch;
  double compute, deviation;  // seconds after each batch
};

constexpr std::uint64_t kDiceApart = 97;

class Dlio : public Kernel {
 public:
  explicit Dlio(const Context& context)
      : Kernel(context),
        training_(context, set("train", job_.count("num-files-train"))),
        evaluation_(context, set("valid", job_.count("num-files-eval"))),
        dice_(job_.count("random-seed") * 1000003 + world_.rank()) {}

  void prepare() override {
    if (generates()) Kernel::prepare();
    if (generates()) return;
    for (const auto* files : used()) {
      for (std::uint64_t i = 0; i < files->set().files; ++i) {
        if (!files->fit(i) || !job_.plant.empty()) files->make(i, 0, 1);
      }
    }
  }

  void run() override {
    recorder_.begin();
    if (generates()) {
      for (const auto* files : used()) {
        for (std::uint64_t i = 0; i < files->set().files; ++i) files->make(i, world_.rank(), job_.ranks);
      }
      recorder_.end_iteration("generate");
    }
    const auto passes = all_passes();
    const auto workers = job_.null ? 0 : job_.count("read-threads");
    if (!passes.empty()) workers == 0 ? read_alone(passes) : read_ahead(passes, workers);
    recorder_.end();
    for (const auto& [files, sample, data] : kept_) files->compare(sample, data);
  }

  void check() override {
    for (const auto* files : used()) files->check();
  }

 private:
  [[nodiscard]] SampleSet set(const std::string& name, std::uint64_t files) const {
    return {.name = name,
            .files = files,
            .samples_a_file = job_.count("num-samples-per-file"),
            .sample = job_.count("record-length")};
  }
  [[nodiscard]] bool generates() const { return job_.flag("generate-data"); }
  [[nodiscard]] bool evaluates() const { return job_.flag("evaluation"); }
  [[nodiscard]] bool trains() const { return job_.flag("train"); }
  [[nodiscard]] std::vector<const SampleFiles*> used() const {
    std::vector<const SampleFiles*> used;
    if (generates() || trains()) used.push_back(&training_);
    if (generates() || evaluates()) used.push_back(&evaluation_);
    return used;
  }

  [[nodiscard]] std::vector<std::uint64_t> order_of(const SampleFiles& files, std::uint64_t epoch) const {
    std::vector<std::uint64_t> order(files.set().samples());
    std::iota(order.begin(), order.end(), 0);
    const auto change = job_.flag("seed-change-epoch") ? epoch : 0;
    if (job_.flag("shuffle"))
      std::ranges::shuffle(order, std::mt19937_64(job_.count("random-seed") + change));
    return order;
  }

  [[nodiscard]] std::vector<Pass> all_passes() const {
    std::vector<Pass> passes;
    const auto epochs = trains() || evaluates() ? job_.count("epochs") : 0;
    const auto steps = job_.text("total-training-steps");
    for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
      if (trains()) {
        passes.push_back({.name = format_text("epoch {}", epoch + 1),
                          .files = &training_,
                          .order = order_of(training_, epoch),
                          .batch = job_.count("batch-size"),
                          .compute = job_.real("computation-time"),
                          .deviation = job_.real("computation-time-stdev")});
        if (auto& order = passes.back().order; steps != "-1")
          order.resize(
              std::min<std::uint64_t>(order.size(), std::stoull(steps) * passes.back().batch * job_.ranks));
      }
      if (evaluates() && (epoch + 1) % job_.count("epochs-between-evals") == 0)
        passes.push_back({.name = format_text("evaluation {}", epoch + 1),
                          .files = &evaluation_,
                          .order = order_of(evaluation_, epoch),
                          .batch = job_.count("batch-size-eval"),
                          .compute = job_.real("eval-time"),
                          .deviation = job_.real("eval-time-stdev")});
    }
    return passes;
  }

  // How many samples of a pass this rank reads, and which is the next.
  [[nodiscard]] std::uint64_t count_of(const Pass& pass) const {
    return (pass.order.size() + job_.ranks - 1 - world_.rank()) / job_.ranks;
  }
  [[nodiscard]] std::uint64_t sample_of(const Pass& pass, std::uint64_t i) const {
    return pass.order[i * job_.ranks + world_.rank()];
  }

  void pause(const char* time, const char* spread) { compute_about(job_.real(time), job_.real(spread)); }
  void compute_about(double mean, double deviation) { recorder_.compute(about(mean, deviation, dice_)); }
  static double about(double mean, double deviation, std::mt19937_64& dice) {
    return std::max(0.0, deviation == 0 ? mean : std::normal_distribution<>(mean, deviation)(dice));
  }
  void end_pass(const std::vector<Pass>& passes, std::size_t done) {
    recorder_.end_iteration(passes[done].name);
    recorder_.progress(static_cast<double>(done + 1) / static_cast<double>(passes.size()));
  }

  void read_alone(const std::vector<Pass>& passes) {
    auto open = recorder_.timed(Phase::kOpen, [&] {
      std::vector<SampleFiles::Open> both;
      for (const auto* files : {&training_, &evaluation_}) {
        const bool read = std::ranges::any_of(passes, [&](const Pass& one) { return one.files == files; });
        both.emplace_back(read ? *files : nothing_, false);
      }
      return both;
    });
    const bool keeps = kept_fit(passes);
    for (std::size_t i = 0; i < passes.size(); ++i) {
      read_pass(passes[i], open[passes[i].files == &training_ ? 0 : 1], keeps);
      end_pass(passes, i);
    }
    recorder_.timed(Phase::kClose, [&] {
      for (auto& one : open) one.close();
    });
  }

  void read_pass(const Pass& pass, const SampleFiles::Open& open, bool keeps) {
    const bool together = job_.flag("COLLECTIVE_DATA");
    const auto turns = together ? (pass.order.size() + job_.ranks - 1) / job_.ranks : count_of(pass);
    for (std::uint64_t i = 0; i < turns; ++i) {
      const bool mine = i < count_of(pass);
      // New memory for each sample, as a loader takes it, made outside of what is timed.
      auto data = recorder_.untimed([&] { return std::vector<std::uint8_t>(pass.files->set().sample); });
      recorder_.transfer(Phase::kRead, mine ? data.size() : 0, [&] {
        if (together) {
          open.read_together(samples_at(pass, i), world_.rank(), data);
        } else {
          open.read(sample_of(pass, i), data);
        }
      });
      if (!mine) continue;
      recorder_.untimed([&] { take(*pass.files, sample_of(pass, i), std::move(data), keeps); });
      pause("preprocess-time", "preprocess-time-stdev");
      if ((i + 1) % pass.batch == 0) compute_about(pass.compute, pass.deviation);
    }
  }

  // Of each rank, in a turn.
  [[nodiscard]] std::vector<std::uint64_t> samples_at(const Pass& pass, std::uint64_t turn) const {
    std::vector<std::uint64_t> samples(job_.ranks, SampleFiles::Open::kNone);
    for (std::uint64_t rank = 0; rank < job_.ranks && turn * job_.ranks + rank < pass.order.size(); ++rank)
      samples[rank] = pass.order[turn * job_.ranks + rank];
    return samples;
  }

  void read_ahead(const std::vector<Pass>& passes, std::uint64_t workers) {
    constexpr std::uint64_t kBatchesAhead = 2;  // of each worker
    std::vector<std::uint64_t> counts;
    std::vector<std::pair<const Pass*, std::uint64_t>> tasks;
    for (const auto& pass : passes) {
      counts.push_back(count_of(pass));
      for (std::uint64_t i = 0; i < count_of(pass); ++i) tasks.emplace_back(&pass, sample_of(pass, i));
    }
    const auto bytes = training_.set().sample;
    const auto slots = std::min(kBatchesAhead * workers * job_.count("batch-size"),
                                std::max<std::uint64_t>(1, job_.memory / 2 / bytes));
    recorder_.remark("raw is how long the reader waited for samples that its workers had read");
    const auto prepare = [&] { return reader(tasks); };
    const bool keeps = kept_fit(passes);
    auto pool = recorder_.timed(
        Phase::kOpen, [&] { return std::make_unique<ReaderPool>(workers, slots, bytes, counts, prepare); });
    for (std::size_t i = 0; i < passes.size(); ++i) {
      pool->begin_pass();
      take_pass(passes[i], *pool, keeps);
      end_pass(passes, i);
    }
    recorder_.timed(Phase::kClose, [&] { pool.reset(); });
  }

  // In a worker: what does a task.
  [[nodiscard]] ReaderPool::Read reader(
      const std::vector<std::pair<const Pass*, std::uint64_t>>& tasks) const {
    auto training = std::make_shared<SampleFiles::Open>(trains() ? training_ : nothing_, true);
    auto evaluation = std::make_shared<SampleFiles::Open>(evaluates() ? evaluation_ : nothing_, true);
    const auto mean = job_.real("preprocess-time");
    const auto deviation = job_.real("preprocess-time-stdev");
    return [=, this, &tasks, dice = dice_](std::uint64_t task, std::span<std::uint8_t> into) mutable {
      const auto& [pass, sample] = tasks[task];
      (pass->files == &training_ ? *training : *evaluation).read(sample, into);
      dice.discard(task % kDiceApart);  // workers have the same dice
      std::this_thread::sleep_for(std::chrono::duration<double>(about(mean, deviation, dice)));
    };
  }

  void take_pass(const Pass& pass, ReaderPool& pool, bool keeps) {
    for (std::uint64_t i = 0; i < count_of(pass); ++i) {
      std::span<const std::uint8_t> found;
      recorder_.transfer(Phase::kRead, pass.files->set().sample, [&] { found = pool.next(); });
      recorder_.untimed([&] { take(*pass.files, sample_of(pass, i), {found.begin(), found.end()}, keeps); });
      pool.done();
      if ((i + 1) % pass.batch == 0) compute_about(pass.compute, pass.deviation);
    }
  }

  [[nodiscard]] bool kept_fit(const std::vector<Pass>& passes) const {
    std::uint64_t bytes = 0;
    for (const auto& pass : passes) bytes += count_of(pass) * pass.files->set().sample;
    return bytes <= job_.memory / 2;
  }
  void take(const SampleFiles& files, std::uint64_t sample, std::vector<std::uint8_t> data, bool keeps) {
    if (!job_.verify || job_.null) return;
    if (keeps) {
      kept_.push_back({&files, sample, std::move(data)});
    } else {
      files.compare(sample, data);
    }
  }

  struct Kept {
    const SampleFiles* files;
    std::uint64_t sample;
    std::vector<std::uint8_t> data;
  };

  SampleFiles training_, evaluation_;
  SampleFiles nothing_{context_, {}};
  std::mt19937_64 dice_;
  std::vector<Kept> kept_;
};

}  // namespace

std::unique_ptr<Kernel> make_dlio(const Context& context) { return std::make_unique<Dlio>(context); }

}  // namespace forebay::kernels
