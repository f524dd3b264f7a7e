#include "model/together.hpp"

#include <fcntl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace model {
namespace {

constexpr int kThreads = 2;
constexpr int kRecords = 400;
constexpr std::size_t kRecord = 48;
constexpr off_t kPart = 3001;         // bytes of one writer, next to those of others
constexpr int kParts = 120;           // across several buckets
constexpr std::size_t kWhole = 5000;  // bytes of a file that takes another one's name

std::atomic<int> wrong = 0;

void expect(bool good, const char* what) {
  if (good) return;
  if (wrong.fetch_add(1) < 20) std::printf("does not hold: %s\n", what);
  std::fflush(stdout);
}

std::string record(int writer, int number) {
  char text[kRecord + 1];
  std::snprintf(text, sizeof text, "writer %03d number %06d", writer, number);
  std::string whole(kRecord, '.');
  std::copy_n(text, std::strlen(text), whole.begin());
  whole.back() = '\n';
  return whole;
}

bool put(int fd, const std::string& text, bool in_pieces) {
  if (!in_pieces) return ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  auto copy = text;
  const iovec pieces[2] = {{copy.data(), 7}, {copy.data() + 7, copy.size() - 7}};
  return ::writev(fd, pieces, 2) == static_cast<ssize_t>(text.size());
}

std::string slurp(const char* path) {
  const int fd = ::open(path, O_RDONLY);
  std::string all;
  char room[8192];
  for (ssize_t n = 0; (n = ::read(fd, room, sizeof room)) > 0;) all.append(room, static_cast<std::size_t>(n));
  ::close(fd);
  return all;
}

// Whole records, each writer's in order; with `all`, everybody's.
void expect_records(const std::string& text, int writers, bool all, const char* what) {
  std::map<int, int> next;
  bool good = text.size() % kRecord == 0;
  for (std::size_t at = 0; good && at < text.size(); at += kRecord) {
    int writer = -1;
    int number = -1;
    const auto one = text.substr(at, kRecord);
    good = std::sscanf(one.c_str(), "writer %d number %d", &writer, &number) == 2 &&
           one == record(writer, number) && number == next[writer]++;
  }
  for (int writer = 0; all && writer < writers; ++writer) good = good && next[writer] == kRecords;
  expect(good, what);
}

// Who reads beside an append may find some of it.
std::string whole_ones(std::string text) {
  text.resize(text.size() - text.size() % kRecord);
  return text;
}

void write_parts(int writer, int writers, std::mt19937& random) {
  const int fd = ::open("parts", O_RDWR | O_CREAT, 0644);
  std::vector<int> order;
  for (int i = writer; i < kParts; i += writers) order.push_back(i);
  for (int turn = 0; turn < 3; ++turn) {
    std::shuffle(order.begin(), order.end(), random);
    for (const int i : order) {
      const std::string mine(kPart, static_cast<char>('a' + turn));
      const auto at = static_cast<off_t>(i) * kPart;
      std::string back(kPart, ' ');
      expect(::pwrite(fd, mine.data(), mine.size(), at) == kPart, "a part is written whole");
      expect(::pread(fd, back.data(), back.size(), at) == kPart && back == mine,
             "what was written is what is read");
      if (i % 17 == 0) expect(::fsync(fd) == 0, "fsync");
    }
  }
  expect(::close(fd) == 0, "close");
}

void take_names(int writer, std::mt19937& random) {
  const auto own = "t" + std::to_string(writer);
  for (int i = 0; i < 30; ++i) {
    const int fd = ::open(own.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0644);
    const std::string mine(kWhole, static_cast<char>('A' + random() % 26));
    expect(::write(fd, mine.data(), 1000) == 1000, "the first part");
    expect(::write(fd, mine.data(), kWhole - 1000) == kWhole - 1000, "the rest");
    if (i % 2 == 0) ::close(fd);
    expect(::rename(own.c_str(), "common") == 0, "rename");
    if (i % 2 != 0) ::close(fd);
    const auto found = slurp("common");
    expect(found.size() == kWhole && found.find_first_not_of(found[0]) == std::string::npos,
           "who takes a name has it with the whole file");
  }
}

void write_all(int writer, int writers, int shared, unsigned seed) {
  std::mt19937 random(seed + static_cast<unsigned>(writer));
  const int log = ::open("log", O_WRONLY | O_CREAT | O_APPEND, 0644);
  for (int i = 0; i < kRecords; ++i) {
    expect(put(log, record(writer, i), random() % 3 == 0), "an append is whole");
    expect(put(shared, record(writer, i), random() % 3 == 0), "a write is whole");
    if (random() % 64 == 0)
      expect_records(whole_ones(slurp("log")), writers, false, "records that are there are whole");
  }
  expect(::close(log) == 0, "close");
  write_parts(writer, writers, random);
  take_names(writer, random);
}

}  // namespace

int together(unsigned seed, int processes) {
  const int writers = processes * kThreads;
  const int shared = ::open("shared", O_RDWR | O_CREAT, 0644);
  std::vector<pid_t> children;
  for (int p = 0; p < processes; ++p) {
    const pid_t child = ::fork();
    if (child != 0) {
      children.push_back(child);
      continue;
    }
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([=] { write_all(p * kThreads + t, writers, shared, seed); });
    for (auto& thread : threads) thread.join();
    ::exit(wrong.load() == 0 ? 0 : 1);
  }
  for (const auto child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    expect(status == 0, "a process ends well");
  }
  const auto sum = static_cast<off_t>(kRecord) * kRecords * writers;
  expect(::lseek(shared, 0, SEEK_CUR) == sum, "the position is the sum of what was written");
  expect(::lseek(shared, 0, SEEK_END) == sum, "the size is the sum of what was written");
  expect(::close(shared) == 0, "close");
  expect_records(slurp("shared"), writers, true, "all that was written is there");
  expect_records(slurp("log"), writers, true, "all that was appended is there");
  expect(slurp("parts") == std::string(static_cast<std::size_t>(kPart * kParts), 'c'),
         "all parts are the last ones");
  if (wrong.load() == 0) std::printf("all holds\n");
  return wrong.load() == 0 ? 0 : 1;
}

}  // namespace model
