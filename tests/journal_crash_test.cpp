// Processes that log, drain and are killed together, as when a node loses its power: everything acknowledged
// is at home after the replay, and nothing older than what was acknowledged.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "os/temporary_directory.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include "tier/journal.hpp"
#include "tier/replay.hpp"

namespace forebay {
namespace {

constexpr std::size_t kCells = 64;
constexpr std::size_t kWords = 64;  // in a cell
constexpr std::size_t kFiles = 2;
constexpr std::uint64_t kSeqs = 1 << 20;

using Content = std::array<std::array<std::uint64_t, kWords>, kCells>;

// The node, seen from outside. `buffer` is lost with it, `home` is not.
struct Node {
  pthread_mutex_t lock;
  std::uint64_t last_seq;
  std::array<Content, kFiles> buffer;
  std::array<Content, kFiles> home;
  struct Write {
    std::uint8_t file, cell, cells;
    std::atomic<std::uint8_t> acknowledged;
  };
  std::array<Write, kSeqs> writes;

  Node() {
    pthread_mutexattr_t attributes;
    ::pthread_mutexattr_init(&attributes);
    ::pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    ::pthread_mutex_init(&lock, &attributes);
  }
};

struct NodeDelete {
  void operator()(Node* node) const { ::munmap(node, sizeof(Node)); }
};

std::unique_ptr<Node, NodeDelete> make_node() {
  void* memory = ::mmap(nullptr, sizeof(Node), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(memory, MAP_FAILED);
  return std::unique_ptr<Node, NodeDelete>(new (memory) Node);
}

FileIdentity identity(std::size_t file) { return {1, file + 1, 7, "/home/" + std::to_string(file)}; }

class Writer {
 public:
  Writer(Node& node, const Fd& directory, Journal::Medium medium)
      : node_(node), journal_(Journal::create(directory, 128 << 10, medium).value()) {
    for (std::size_t file = 0; file < kFiles; ++file)
      files_[file] = journal_->add_file(identity(file)).value();
  }

  [[noreturn]] void run(unsigned threads, unsigned seed) {
    std::vector<std::jthread> running;
    for (unsigned t = 0; t < threads; ++t) running.emplace_back([this, seed, t] { write_forever(seed + t); });
    for (;;) ::pause();
  }

 private:
  void write_forever(unsigned seed) {
    std::minstd_rand random(seed);
    for (;;) {
      const auto file = static_cast<std::uint8_t>(random() % kFiles);
      const auto cell = static_cast<std::uint8_t>(random() % kCells);
      const auto cells = static_cast<std::uint8_t>(1 + random() % std::min<std::size_t>(8, kCells - cell));
      std::array<std::array<std::uint64_t, kWords>, 8> bytes;
      ::pthread_mutex_lock(&node_.lock);
      const auto seq = ++node_.last_seq;
      if (seq >= kSeqs) _exit(0);
      node_.writes[seq].file = file;
      node_.writes[seq].cell = cell;
      node_.writes[seq].cells = cells;
      for (std::size_t i = 0; i < cells; ++i) {
        bytes[i].fill(seq);
        node_.buffer[file][cell + i].fill(seq);
      }
      ::pthread_mutex_unlock(&node_.lock);
      const auto data = std::as_bytes(std::span(bytes).first(cells));
      const auto status = journal_->append(files_[file], seq, cell * sizeof bytes[0], data);
      if (!status && status.error().code != ENOSPC) std::abort();
      if (!status) drain();
      node_.writes[seq].acknowledged = 1;
      if (random() % 64 == 0) drain();
    }
  }

  // As the engine does: home first, then the marks.
  void drain() {
    ::pthread_mutex_lock(&node_.lock);
    const auto seq = node_.last_seq;
    node_.home = node_.buffer;
    ::pthread_mutex_unlock(&node_.lock);
    for (const auto file : files_) {
      if (!journal_->mark_home(file, seq)) std::abort();
    }
  }

  Node& node_;
  std::unique_ptr<Journal> journal_;
  std::array<JournalFile, kFiles> files_;
};

class NodeHome final : public ReplayVisitor {
 public:
  explicit NodeHome(Node& node, bool slow = false) : node_(node), slow_(slow) {}
  Status begin(const FileIdentity& file) override {
    file_ = file.inode - 1;
    return {};
  }
  Status write(std::uint64_t offset, std::span<const std::byte> data) override {
    if (slow_) std::this_thread::sleep_for(std::chrono::microseconds(200));
    if (offset + data.size() > sizeof(Content)) return fail(EINVAL, "outside the file");
    std::memcpy(reinterpret_cast<std::byte*>(&node_.home[file_]) + offset, data.data(), data.size());
    return {};
  }
  Status truncate(std::uint64_t) override { return fail(EINVAL, "nobody truncated"); }
  Status end() override { return {}; }

 private:
  Node& node_;
  bool slow_;
  std::size_t file_ = 0;
};

std::vector<pid_t> start_writers(Node& node, const TemporaryDirectory& directory, Journal::Medium medium,
                                 unsigned seed) {
  std::vector<pid_t> writers;
  for (unsigned i = 0; i < 2; ++i) {
    const pid_t child = ::fork();
    if (child == 0) Writer(node, directory.fd(), medium).run(2, seed + i * 100);
    writers.push_back(child);
  }
  return writers;
}

void kill_all(const std::vector<pid_t>& processes) {
  for (const auto process : processes) ::kill(process, SIGKILL);
  for (const auto process : processes) {
    int status = 0;
    EXPECT_EQ(::waitpid(process, &status, 0), process);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "status " << status;
  }
}

// Every word at home is of a write that was made there, and not older than the last acknowledged one.
std::uint64_t check_home(const Node& node) {
  std::array<std::array<std::uint64_t, kCells>, kFiles> acknowledged{};
  std::uint64_t count = 0;
  for (std::uint64_t seq = 1; seq <= node.last_seq && seq < kSeqs; ++seq) {
    const auto& write = node.writes[seq];
    if (write.acknowledged == 0) continue;
    ++count;
    for (std::size_t i = 0; i < write.cells; ++i) acknowledged[write.file][write.cell + i] = seq;
  }
  for (std::size_t file = 0; file < kFiles; ++file) {
    for (std::size_t cell = 0; cell < kCells; ++cell) {
      for (const auto word : node.home[file][cell]) {
        EXPECT_GE(word, acknowledged[file][cell]) << "file " << file << " cell " << cell;
        if (word == 0 || ::testing::Test::HasFailure()) continue;
        const auto& write = node.writes[word];
        EXPECT_TRUE(write.file == file && write.cell <= cell && cell < write.cell + write.cells)
            << "seq " << word;
      }
    }
  }
  return count;
}

std::string join(const std::vector<std::string>& remarks) {
  std::string words;
  for (const auto& remark : remarks) words += remark + "\n";
  return words;
}

class JournalCrash : public ::testing::TestWithParam<Journal::Medium> {
 protected:
  std::uint64_t seed_ = testing::choose_seed("JournalCrash");
};

TEST_P(JournalCrash, EverythingAcknowledgedIsHomeAfterTheReplay) {
  std::mt19937_64 random(seed_);
  std::uint64_t acknowledged = 0;
  std::uint64_t replayed = 0;
  for (int round = 0; round < testing::scaled(12, 500) && !HasFailure(); ++round) {
    const TemporaryDirectory directory;
    const auto node = make_node();
    const auto writers = start_writers(*node, directory, GetParam(), static_cast<unsigned>(random()));
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 100'000));
    kill_all(writers);
    NodeHome home(*node);
    const auto report = replay(directory.fd(), home);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->living, 0u);
    EXPECT_EQ(report->refused, 0u) << join(report->remarks);
    EXPECT_TRUE(report->failures.empty());
    acknowledged += check_home(*node);
    replayed += report->records;
  }
  RecordProperty("acknowledged", std::to_string(acknowledged));
  RecordProperty("replayed", std::to_string(replayed));
  EXPECT_GT(acknowledged, 0u);
}

TEST_P(JournalCrash, ReplayMayBeKilledAnyNumberOfTimes) {
  std::mt19937_64 random(seed_);
  for (int round = 0; round < testing::scaled(3, 60) && !HasFailure(); ++round) {
    const TemporaryDirectory directory;
    const auto node = make_node();
    const auto writers = start_writers(*node, directory, GetParam(), static_cast<unsigned>(random()));
    std::this_thread::sleep_for(std::chrono::microseconds(20'000 + random() % 50'000));
    kill_all(writers);
    for (int kills = 0; kills < 10; ++kills) {
      const pid_t child = ::fork();
      if (child == 0) {
        NodeHome home(*node, true);
        _exit(replay(directory.fd(), home) ? 0 : 1);
      }
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 20'000));
      ::kill(child, SIGKILL);
      int status = 0;
      EXPECT_EQ(::waitpid(child, &status, 0), child);
      EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    }
    NodeHome home(*node);
    const auto report = replay(directory.fd(), home);
    ASSERT_TRUE(report) << report.error().message;
    check_home(*node);
  }
}

INSTANTIATE_TEST_SUITE_P(Medium, JournalCrash,
                         ::testing::Values(Journal::Medium::kFile, Journal::Medium::kPmem),
                         [](const auto& medium) {
                           return medium.param == Journal::Medium::kFile ? "File" : "Pmem";
                         });

}  // namespace
}  // namespace forebay
