// posix_bench WORKLOAD DIRECTORY ...: file-per-process checkpoints, re-reading, small transfers and small
// files through plain POSIX calls. Prints a name and seconds a line.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

[[noreturn]] void give_up(const char* what) {
  std::perror(what);
  std::exit(1);
}

void must(bool good, const char* what) {
  if (!good) give_up(what);
}

int open_file(const std::string& path, int flags) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC, 0644);
  must(fd >= 0, path.c_str());
  return fd;
}

void write_all(int fd, const std::vector<char>& data, std::size_t size) {
  constexpr std::size_t kPiece = 1 << 20;
  for (std::size_t done = 0; done < size;) {
    const auto n = ::write(fd, data.data() + done % (data.size() / 2), std::min(kPiece, size - done));
    must(n > 0, "write");
    done += static_cast<std::size_t>(n);
  }
}

std::vector<char> some_bytes(std::size_t size) {
  std::vector<char> data(size);
  std::mt19937 random(1);
  for (auto& c : data) c = static_cast<char>(random());
  return data;
}

// DIRECTORY PROCESSES STEPS BYTES COMPUTE: each process writes a file a step and computes between. What
// counts is the time that the slowest process spends in open, write and close.
int checkpoint(const std::string& directory, char** words) {
  const int processes = std::atoi(words[0]);
  const int steps = std::atoi(words[1]);
  const auto bytes = static_cast<std::size_t>(std::atoll(words[2]));
  const double compute = std::atof(words[3]);
  auto* const spent =
      static_cast<double*>(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  const auto start = Clock::now();
  for (int p = 0; p < processes; ++p) {
    if (::fork() != 0) continue;
    const auto data = some_bytes(4 << 20);
    for (int step = 0; step < steps; ++step) {
      const auto began = Clock::now();
      const int fd = open_file(directory + "/ckpt." + std::to_string(p) + "." + std::to_string(step),
                               O_WRONLY | O_CREAT | O_TRUNC);
      write_all(fd, data, bytes);
      must(::close(fd) == 0, "close");
      spent[p] += since(began);
      ::usleep(static_cast<useconds_t>(compute * 1e6));
    }
    std::exit(0);
  }
  int status = 0;
  while (::wait(&status) > 0) must(status == 0, "a process");
  double most = 0;
  for (int p = 0; p < processes; ++p) most = std::max(most, spent[p]);
  std::printf("write %.6f\ntotal %.6f\n", most, since(start));
  return 0;
}

double read_whole(const std::string& path, std::vector<char>& data) {
  const auto start = Clock::now();
  const int fd = open_file(path, O_RDONLY);
  ssize_t n = 0;
  while ((n = ::read(fd, data.data(), data.size())) > 0) {
  }
  must(n == 0, "read");
  ::close(fd);
  return since(start);
}

// DIRECTORY BYTES TIMES: written once, read several times.
int reread(const std::string& directory, char** words) {
  const auto bytes = static_cast<std::size_t>(std::atoll(words[0]));
  const int times = std::atoi(words[1]);
  const auto path = directory + "/reread";
  auto data = some_bytes(4 << 20);
  {
    const int fd = open_file(path, O_WRONLY | O_CREAT | O_TRUNC);
    write_all(fd, data, bytes);
    must(::close(fd) == 0, "close");
  }
  data.resize(1 << 20);
  const double first = read_whole(path, data);
  double later = 0;
  for (int i = 1; i < times; ++i) later += read_whole(path, data);
  std::printf("first %.6f\nlater %.6f\n", first, times > 1 ? later / (times - 1) : first);
  return 0;
}

// DIRECTORY BYTES COUNT SIZE: reads and writes of SIZE at random places of a file, half of each.
int small_io(const std::string& directory, char** words) {
  const auto bytes = std::atoll(words[0]);
  const long count = std::atol(words[1]);
  const auto size = static_cast<std::size_t>(std::atoll(words[2]));
  const int fd = open_file(directory + "/small_io", O_RDWR | O_CREAT | O_TRUNC);
  const auto data = some_bytes(4 << 20);
  write_all(fd, data, static_cast<std::size_t>(bytes));
  std::vector<char> room(size);
  std::mt19937_64 random(2);
  // Everything has been seen once.
  for (off_t at = 0; at < bytes; at += 65536) must(::pread(fd, room.data(), 64, at) == 64, "pread");
  const auto start = Clock::now();
  for (long i = 0; i < count; ++i) {
    const auto at =
        static_cast<off_t>(random() % static_cast<std::uint64_t>(bytes / static_cast<long long>(size))) *
        static_cast<off_t>(size);
    const auto n = i % 2 == 0 ? ::pwrite(fd, data.data(), size, at) : ::pread(fd, room.data(), size, at);
    must(n == static_cast<ssize_t>(size), "transfer");
  }
  std::printf("each %.9f\n", since(start) / static_cast<double>(count));
  must(::close(fd) == 0, "close");
  return 0;
}

// DIRECTORY COUNT: small files made, written, read, looked at and removed.
int small_files(const std::string& directory, char** words) {
  const int count = std::atoi(words[0]);
  const auto data = some_bytes(4096);
  std::vector<char> room(4096);
  const auto name = [&](int i) { return directory + "/small." + std::to_string(i); };
  const auto start = Clock::now();
  for (int i = 0; i < count; ++i) {
    const int fd = open_file(name(i), O_WRONLY | O_CREAT | O_EXCL);
    must(::write(fd, data.data(), 4096) == 4096, "write");
    must(::close(fd) == 0, "close");
  }
  const auto made = since(start);
  for (int i = 0; i < count; ++i) {
    const int fd = open_file(name(i), O_RDONLY);
    must(::read(fd, room.data(), 4096) == 4096 && room == data, "read");
    ::close(fd);
    struct stat found;
    must(::stat(name(i).c_str(), &found) == 0 && found.st_size == 4096, "stat");
  }
  for (int i = 0; i < count; ++i) must(::unlink(name(i).c_str()) == 0, "unlink");
  std::printf("make %.6f\ntotal %.6f\n", made, since(start));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string workload = argc > 2 ? argv[1] : "";
  if (workload == "checkpoint" && argc == 7) return checkpoint(argv[2], argv + 3);
  if (workload == "reread" && argc == 5) return reread(argv[2], argv + 3);
  if (workload == "small_io" && argc == 6) return small_io(argv[2], argv + 3);
  if (workload == "small_files" && argc == 4) return small_files(argv[2], argv + 3);
  return 2;
}
