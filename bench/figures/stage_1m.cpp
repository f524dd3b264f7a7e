// 1 MiB writes into the memory tier.
#include "bench/figures.hpp"
#include "bench/memory.hpp"

namespace forebay::bench {
namespace {

// Bytes stay in the buffer: what is measured is staging alone.
const Node::Shape kShape = {.memory = "384MiB", .settings = {"drain.trigger=never"}};

// Writes [0, size) of a file, 1 MiB a call; returns the time of a call.
class Stage {
 public:
  Stage(const Run& run, std::uint64_t size) : node_(run, kShape), buffer_(node_.attach()), size_(size) {
    buffer_->pause_drain(true);
    file_ = open(*buffer_, node_.home("data"), O_RDWR | O_CREAT);
  }
  ~Stage() { (void)file_->truncate(0); }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  double again() {
    return median_call(size_ / kMi, 1, [&](std::uint64_t i) { must(file_->write(i * kMi, data_)); });
  }
  // As again(), but the mean: the few calls that find memory for the others are the dear ones.
  double mean() {
    const auto start = Clock::now();
    for (std::uint64_t i = 0; i < size_ / kMi; ++i) must(file_->write(i * kMi, data_));
    return seconds_since(start) / static_cast<double>(size_ / kMi);
  }
  // Blocks the buffer does not know, in buckets that were used before.
  double anew() {
    must(file_->truncate(0));
    return again();
  }

 private:
  Node node_;
  std::unique_ptr<Buffer> buffer_;
  std::shared_ptr<File> file_;
  std::uint64_t size_;
  std::vector<std::byte> data_ = some_bytes(kMi);
};

}  // namespace

void measure_stage_1m(const Run& run) {
  const auto size = run.scaled(256, 64) * kMi;
  const auto data = some_bytes(kMi);
  const TouchedMemory memory(run, size);
  const auto copy = [&] {
    return median_call(size / kMi, 1,
                       [&](std::uint64_t i) { std::memcpy(memory.data() + i * kMi, data.data(), kMi); });
  };
  Stage stage(run, size);
  stage.anew();
  copy();
  run.report_rate("stage_1m", compare(run.turns(15), [&] { return stage.anew(); }, copy), kMi, "memcpy");
  run.report_rate("stage_1m/overwrite",
                  compare(run.turns(15), [&] { return stage.again(); }, copy), kMi, "memcpy");
}

void measure_stage_1m_vs_tmpfs(const Run& run) {
  const auto size = run.scaled(256, 64) * kMi;
  const auto data = some_bytes(kMi);
  const auto folder = run.scratch().in_memory("plain");
  const auto plain = [&] {
    const PlainFile file(folder + "/data");
    return median_call(size / kMi, 1, [&](std::uint64_t i) { file.write(i * kMi, data); });
  };
  {
    Stage stage(run, size);
    stage.anew();
    plain();
    const auto times = compare(run.turns(9), [&] { return stage.anew(); }, plain);
    run.report_rate("stage_1m_vs_tmpfs", times, kMi, "pwrite to a new tmpfs file");
  }
  // The first bytes that a new buffer ever takes: its memory has to be found and entered into the page
  // tables. Every call counts, on both sides.
  const auto plain_mean = [&] {
    const PlainFile file(folder + "/data");
    const auto start = Clock::now();
    for (std::uint64_t i = 0; i < size / kMi; ++i) file.write(i * kMi, data);
    return seconds_since(start) / static_cast<double>(size / kMi);
  };
  const auto untouched = [&] { return Stage(run, size).mean(); };
  const auto times = compare(run.turns(5), untouched, plain_mean);
  run.report_rate("stage_1m_vs_tmpfs/untouched", times, kMi, "pwrite to a new tmpfs file");
}

}  // namespace forebay::bench
