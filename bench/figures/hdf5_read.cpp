// HDF5 programs that read the same samples again and again, and what the door costs where it does nothing.
#include "base/format.hpp"
#include "bench/figures.hpp"
#include "bench/hdf5_job.hpp"
#include "bench/memory.hpp"
#include "support/slowfs_mount.hpp"

namespace forebay::bench {
namespace {

constexpr std::uint64_t kSample = 256 * 1024;

// Read in memory order and in a shuffled one, cold and warm.
void epochs(const Run& run, const testing::SlowfsMount& home, unsigned ranks, bool shuffled) {
  const Hdf5Job job(run, ranks);
  const auto samples = run.scaled(256, 64);
  const auto slow = (home.path() / "samples.h5").string();
  const auto fast = run.scratch().in_memory("samples") + "/samples.h5";
  for (const auto& path : {slow, fast}) {
    (void)job.natively({"make_samples", path, std::to_string(samples), std::to_string(kSample)});
  }
  const auto words = [&](const std::string& path) {
    return std::vector<std::string>{"epochs", path, shuffled ? "1" : "0", "2"};
  };
  std::vector<double> warm;
  std::vector<double> native_warm;
  std::vector<double> in_memory;
  const auto cold = compare(
      run.turns(3),
      [&] {
        const auto seconds = job.with_door(words(slow));
        warm.push_back(seconds.at("epoch2"));
        in_memory.push_back(job.natively(words(fast)).at("epoch2"));
        return seconds.at("epoch1");
      },
      [&] {
        const auto seconds = job.natively(words(slow));
        native_warm.push_back(seconds.at("epoch2"));
        return seconds.at("epoch1");
      });
  const auto name = [&](const std::string& figure) {
    return figure + (shuffled ? "/shuffled" : "/sequential") + job.suffix();
  };
  const auto bytes = static_cast<double>(samples * kSample);
  const auto against = [&](const std::vector<double>& baseline) {
    return Comparison{median(warm), median(baseline), median(baseline) / median(warm)};
  };
  run.report_rate(name("epoch1"), cold, bytes, "native, same home");
  run.report_rate(name("epoch2"), against(native_warm), bytes, "native, same home");
  run.report_rate(name("epoch2/in_memory"), against(in_memory), bytes, "native, file in memory");
}

}  // namespace

void measure_hdf5_epochs(const Run& run) {
  if (!testing::SlowfsMount::available()) {
    throw std::runtime_error("this machine does not let us mount with FUSE");
  }
  const testing::SlowfsMount home({"--write-bandwidth=200MB", "--read-bandwidth=400MB", "--latency=1ms"},
                                  run.scratch().on_disk("slowfs"));
  for (const auto ranks : kHdf5Ranks) {
    for (const bool shuffled : {false, true}) epochs(run, home, ranks, shuffled);
  }
}

void measure_hdf5_metadata(const Run& run) {
  const auto folder = run.scratch().in_memory("metadata");
  for (const auto ranks : kHdf5Ranks) {
    const Hdf5Job job(run, ranks);
    // Collective calls of four ranks on two cores take milliseconds each.
    const auto count = ranks == 1 ? run.scaled(10'000, 1'000) : run.scaled(1'000, 100);
    const std::vector<std::string> words{"metadata", folder + "/f.h5", std::to_string(count)};
    const auto times = compare(
        run.turns(5), [&] { return job.with_door(words).at("total"); },
        [&] { return job.natively(words).at("total"); });
    run.report({"metadata" + job.suffix(), times.ours, "s", 1 / times.quotient,
                format_text("native, same tmpfs: {:.3g} s", times.baseline)});
  }
}

// Seconds a call, by size; ours is to be at most a little more than native's.
void measure_hdf5_overhead(const Run& run) {
  const auto folder = run.scratch().in_memory("overhead");
  for (const auto ranks : kHdf5Ranks) {
    const Hdf5Job job(run, ranks, {"FOREBAY_ADMISSION_WRITE=never", "FOREBAY_ADMISSION_READ=never"});
    for (const std::uint64_t size : {std::uint64_t{4096}, std::uint64_t{65536}, kMi, 16 * kMi, 64 * kMi}) {
      const auto calls = std::clamp<std::uint64_t>(512 * kMi / size, 16, run.scaled(20'000, 2'000));
      const std::vector<std::string> words{"pieces", folder + "/f.h5", std::to_string(size),
                                           std::to_string(calls)};
      std::vector<double> reads;
      std::vector<double> native_reads;
      const auto writes = compare(
          run.turns(5),
          [&] {
            const auto seconds = job.with_door(words);
            reads.push_back(seconds.at("read"));
            return seconds.at("write");
          },
          [&] {
            const auto seconds = job.natively(words);
            native_reads.push_back(seconds.at("read"));
            return seconds.at("write");
          });
      const auto name = [&](const char* what) {
        return format_text("overhead/{}_{}K{}", what, size / 1024, job.suffix());
      };
      run.report({name("write"), writes.ours * 1e6, "us", 1 / writes.quotient,
                  format_text("native, same tmpfs: {:.3g} us", writes.baseline * 1e6)});
      run.report({name("read"), median(reads) * 1e6, "us", median(reads) / median(native_reads),
                  format_text("native, same tmpfs: {:.3g} us", median(native_reads) * 1e6)});
    }
  }
}

}  // namespace forebay::bench
