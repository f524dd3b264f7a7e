// Small writes and reads of what the buffer holds, against the same calls on a file in tmpfs.
#include "bench/figures.hpp"
#include "bench/memory.hpp"

namespace forebay::bench {
namespace {

// A file that lies in the buffer, and one of the same size in tmpfs.
class Twins {
 public:
  Twins(const Run& run, std::uint64_t size)
      : node_(run, {.memory = "384MiB", .settings = {"drain.trigger=never"}}),
        buffer_(node_.attach()),
        file_(open(*buffer_, node_.home("data"), O_RDWR | O_CREAT)),
        plain_(run.scratch().in_memory("plain") + "/data") {
    buffer_->pause_drain(true);
    const auto data = some_bytes(kMi);
    for (std::uint64_t at = 0; at < size; at += kMi) {
      must(file_->write(at, data));
      plain_.write(at, data);
    }
    // Reads in random order must not be taken for a pattern worth reading ahead.
    must(file_->hint(Hint::kRandom, 0, 0));
  }
  ~Twins() { (void)file_->truncate(0); }
  Twins(const Twins&) = delete;
  Twins& operator=(const Twins&) = delete;

  [[nodiscard]] File& file() { return *file_; }
  [[nodiscard]] const PlainFile& plain() const { return plain_; }

 private:
  Node node_;
  std::unique_ptr<Buffer> buffer_;
  std::shared_ptr<File> file_;
  PlainFile plain_;
};

struct Access {
  const char* name;
  std::uint64_t piece;  // bytes a call
  std::uint64_t size;   // of the file
  bool random;          // order of the pieces
};

// Calls visit at the offsets of `access`, at most `limit` of them.
template <class Visit>
double over(const Access& access, const std::vector<std::uint64_t>& order, std::uint64_t limit,
            Visit&& visit) {
  const auto pieces = access.size / access.piece;
  return median_call(std::min(limit, pieces), kShortCalls,
                     [&](std::uint64_t i) { visit((access.random ? order[i] : i) * access.piece); });
}

void measure_writes(const Run& run, const Access& access) {
  Twins twins(run, access.size);
  const auto data = some_bytes(access.piece);
  const auto order = shuffled(access.size / access.piece);
  const auto limit = run.scaled(50'000, 5'000);
  const auto times = compare(
      run.turns(11),
      [&] {
        return over(access, order, limit, [&](std::uint64_t at) { must(twins.file().write(at, data)); });
      },
      [&] { return over(access, order, limit, [&](std::uint64_t at) { twins.plain().write(at, data); }); });
  run.report_time(access.name, times, "pwrite on tmpfs");
}

void measure_reads(const Run& run, const Access& access) {
  Twins twins(run, access.size);
  std::vector<std::byte> out(access.piece);
  const auto order = shuffled(access.size / access.piece);
  const auto limit = run.scaled(50'000, 5'000);
  const auto times = compare(
      run.turns(11),
      [&] { return over(access, order, limit, [&](std::uint64_t at) { must(twins.file().read(at, out)); }); },
      [&] { return over(access, order, limit, [&](std::uint64_t at) { twins.plain().read(at, out); }); });
  run.report_time(access.name, times, "pread on tmpfs");
}

}  // namespace

// Random order over more than the processor's caches hold is the hard case, and the one that is named
// plainly.
void measure_stage_4k(const Run& run) {
  measure_writes(run, {"stage_4k", 4096, 256 * kMi, true});
  measure_writes(run, {"stage_4k/sequential", 4096, 256 * kMi, false});
  measure_writes(run, {"stage_4k/small_set", 4096, 2 * kMi, true});
}

void measure_read_4k(const Run& run) {
  measure_reads(run, {"read_4k", 4096, 256 * kMi, true});
  measure_reads(run, {"read_4k/sequential", 4096, 256 * kMi, false});
  measure_reads(run, {"read_4k/small_set", 4096, 2 * kMi, true});
}

void measure_read_64(const Run& run) {
  measure_reads(run, {"read_64", 64, 256 * kMi, true});
  measure_reads(run, {"read_64/sequential", 64, 256 * kMi, false});
  measure_reads(run, {"read_64/small_set", 64, 2 * kMi, true});
}

}  // namespace forebay::bench
