// The shared index, used by two processes at once, against Memcached used by the same two.
#include <numeric>

#include "base/format.hpp"
#include "bench/figures.hpp"
#include "bench/memcached.hpp"
#include "bench/memory.hpp"
#include "bench/workers.hpp"
#include "engine/core.hpp"

namespace forebay::bench {
namespace {

constexpr unsigned kProcesses = 2;
constexpr std::uint64_t kKeys = 8192;         // known to both, used by both
constexpr std::uint64_t kBatch = 1024;        // new keys between two clearances
constexpr std::uint64_t kNewKeys = 1u << 30;  // far from the others

// Operations on the index as the engine's read and write paths do them.
class Index {
 public:
  Index(const Node& node, const Crowd& crowd)
      : buffer_(node.attach()),
        core_(buffer_->core()),
        file_(open(*buffer_, node.home("index"), O_RDWR | O_CREAT)),
        next_new_(kNewKeys * (crowd.index() + 1)) {}

  [[nodiscard]] Key key(std::uint64_t block) const { return core_.files.key(file_->number(), block); }

  std::uint32_t put(Key key) { return must(core_.buckets.insert(key, 0)).bucket; }

  void get(Key key) {
    for (;;) {
      const auto found = core_.buckets.find(key);
      if (!found) throw std::runtime_error("a key is missing");
      const auto& bucket = core_.control.bucket(*found);
      const auto version = bucket.version.load(std::memory_order_acquire);
      if ((version & 1) != 0 || bucket.key.load(std::memory_order_relaxed) != key) continue;
      sum_ += bucket.place.load(std::memory_order_relaxed);
      std::atomic_thread_fence(std::memory_order_acquire);
      if (bucket.version.load(std::memory_order_relaxed) == version) return;
    }
  }

  void update(Key key) {
    const auto found = core_.buckets.find(key);
    if (!found) throw std::runtime_error("a key is missing");
    const auto guard = must(core_.buckets.lock(*found, key));
    auto& bucket = core_.control.bucket(*found);
    const Change change(bucket);
    bucket.hits.store(bucket.hits.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  // Seconds to put kBatch new keys.
  double put_batch() {
    const auto start = Clock::now();
    for (std::uint64_t i = 0; i < kBatch; ++i, ++next_new_)
      new_ones_.emplace_back(put(key(next_new_)), key(next_new_));
    return seconds_since(start);
  }
  void clear_batch() {
    for (const auto& [bucket, key] : new_ones_) {
      const auto guard = must(core_.buckets.lock(bucket, key));
      core_.buckets.remove(bucket, key);
    }
    new_ones_.clear();
  }

 private:
  std::unique_ptr<Buffer> buffer_;
  Core& core_;
  std::shared_ptr<File> file_;
  std::uint64_t next_new_;
  std::vector<std::pair<std::uint32_t, Key>> new_ones_;
  std::uint64_t sum_ = 0;
};

std::string name_of(std::uint64_t block) { return "block-" + std::to_string(block); }

// Operations a second of one process: get, put, update.
struct Rates {
  double get, put, update;
};

Rates ours(Index& index, Crowd& crowd, const std::vector<Key>& keys, std::uint64_t rounds) {
  Rates rates{};
  const auto count = static_cast<double>(rounds * keys.size());
  crowd.meet();
  auto start = Clock::now();
  for (std::uint64_t i = 0; i < rounds; ++i) {
    for (const auto key : keys) index.get(key);
  }
  rates.get = count / seconds_since(start);
  crowd.meet();
  start = Clock::now();
  for (std::uint64_t i = 0; i < rounds; ++i) {
    for (const auto key : keys) index.update(key);
  }
  rates.update = count / seconds_since(start);
  crowd.meet();
  double seconds = 0;
  const auto batches = rounds * keys.size() / kBatch / 4;
  for (std::uint64_t i = 0; i < batches; ++i) {
    seconds += index.put_batch();
    index.clear_batch();
  }
  rates.put = static_cast<double>(batches * kBatch) / seconds;
  return rates;
}

Rates memcached(MemcachedClient& client, Crowd& crowd, const std::vector<std::string>& names,
                std::uint64_t& next_new) {
  Rates rates{};
  const auto count = static_cast<double>(names.size());
  const auto timed = [&](auto&& operation) {
    crowd.meet();
    const auto start = Clock::now();
    for (const auto& name : names) operation(name);
    return count / seconds_since(start);
  };
  rates.get = timed([&](const std::string& name) { client.get(name); });
  rates.update = timed([&](const std::string& name) { client.set(name, "8 bytes."); });
  rates.put = timed([&](const std::string&) { client.set(name_of(next_new++), "8 bytes."); });
  return rates;
}

// All turns of one process: for each turn our three rates and Memcached's.
std::vector<double> take_turns(const Run& run, const Node& node, const std::string& socket, Crowd& crowd) {
  Index index(node, crowd);
  MemcachedClient client(socket);
  std::vector<Key> keys;
  std::vector<std::string> names;
  // Each in an order of its own: in the same one they would be after the same bucket at every step.
  for (const auto block : shuffled(kKeys, crowd.index())) {
    keys.push_back(index.key(block));
    if (crowd.index() == 0) {
      index.put(keys.back());
      client.set(name_of(block), "8 bytes.");
    }
    if (names.size() < run.scaled(2000, 200)) names.push_back(name_of(block));
  }
  auto next_new = kNewKeys * (crowd.index() + 1);
  std::vector<double> all;
  for (unsigned i = 0; i < run.turns(9); ++i) {
    const auto a = ours(index, crowd, keys, run.scaled(20, 2));
    crowd.meet();
    const auto b = memcached(client, crowd, names, next_new);
    crowd.meet();
    all.insert(all.end(), {a.get, a.put, a.update, b.get, b.put, b.update});
  }
  return all;
}

}  // namespace

void measure_index_ops(const Run& run) {
  const Node node(run, {.memory = "64MiB", .settings = {"buffer.bucket_size=4KiB", "drain.trigger=never"}});
  const auto folder = run.scratch().in_memory("memcached");
  const Memcached server(folder);
  const auto answers =
      in_processes(kProcesses, [&](Crowd& crowd) { return take_turns(run, node, server.socket(), crowd); });
  const auto turns = answers[0].size() / 6;
  std::vector<std::vector<double>> rates(
      8, std::vector<double>(turns));  // ours, then Memcached's: get, put, update, all
  for (std::size_t turn = 0; turn < turns; ++turn) {
    for (std::size_t whose = 0; whose < 2; ++whose) {
      double time_of_three = 0;
      for (std::size_t kind = 0; kind < 3; ++kind) {
        double sum = 0;
        for (const auto& answer : answers) sum += answer[turn * 6 + whose * 3 + kind];
        rates[whose * 4 + kind][turn] = sum;
        time_of_three += 1 / sum;
      }
      rates[whose * 4 + 3][turn] = 3 / time_of_three;
    }
  }
  const char* names[] = {"index_ops/get", "index_ops/put", "index_ops/update", "index_ops"};
  for (const std::size_t kind : {3, 0, 1, 2}) {
    std::vector<double> quotients;
    for (std::size_t turn = 0; turn < turns; ++turn)
      quotients.push_back(rates[kind][turn] / rates[kind + 4][turn]);
    run.report({names[kind], median(rates[kind]) / 1e6, "M/s", median(quotients),
                format_text("memcached over a unix socket: {:.3g} M/s", median(rates[kind + 4]) / 1e6)});
  }
}

}  // namespace forebay::bench
