#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "hdf5/faults/story.hpp"
#include "hdf5/faults/verbs.hpp"

namespace forebay::testing::faults {
namespace {

hid_t create(const std::string& path) {
  return H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
}

void mark(const std::string& name) { std::ofstream(name) << "here\n"; }

void exit_again() { std::exit(0); }

// A child in step with its parent: each goes on when the other has come as far.
class Child {
 public:
  // Calls body(step) in the child, which leaves by what that does. `step` returns when the parent has called
  // its own.
  template <class Body>
  explicit Child(const Body& body) {
    if (::pipe(to_child_) != 0 || ::pipe(to_parent_) != 0) std::abort();
    pid_ = ::fork();
    ::close(pid_ == 0 ? to_child_[1] : to_child_[0]);
    ::close(pid_ == 0 ? to_parent_[0] : to_parent_[1]);
    if (pid_ == 0) body([&] { meet(to_parent_[1], to_child_[0]); });
  }
  void step() { meet(to_child_[1], to_parent_[0]); }
  // Did it leave well?
  [[nodiscard]] bool left() const {
    int status = 0;
    return ::waitpid(pid_, &status, 0) == pid_ && status == 0;
  }

 private:
  static void meet(int tell, int hear) {
    char word = '.';
    if (::write(tell, &word, 1) != 1 || ::read(hear, &word, 1) != 1) std::abort();
  }
  pid_t pid_ = -1;
  int to_child_[2]{};
  int to_parent_[2]{};
};

// Another process has the file open for writing, writes nothing, and closes it after this one has made it
// longer.
int beside_another_opener(const std::string& path) {
  ::setenv("HDF5_USE_FILE_LOCKING", "FALSE", 1);
  Child other([&](const auto& step) {
    step();
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    step();
    step();
    ::_exit(file >= 0 && is_whole(file, 0) && H5Fclose(file) >= 0 ? 0 : 1);
  });
  const hid_t file = create(path);
  write_datasets(file, 0, 3);
  if (H5Fflush(file, H5F_SCOPE_GLOBAL) < 0) return 1;
  other.step();
  other.step();
  write_datasets(file, 3, 6);
  other.step();
  if (!other.left()) return 1;
  return H5Fclose(file) < 0 ? 1 : 0;
}

// An attribute of the first dataset, in HDF5's cache until the dataset is flushed.
herr_t set_mark(hid_t file, std::int32_t mark, bool is_new) {
  const hid_t dataset = H5Dopen2(file, "d0", H5P_DEFAULT);
  const hid_t space = H5Screate(H5S_SCALAR);
  const hid_t attribute = is_new
                              ? H5Acreate2(dataset, "mark", H5T_NATIVE_INT32, space, H5P_DEFAULT, H5P_DEFAULT)
                              : H5Aopen(dataset, "mark", H5P_DEFAULT);
  const auto code = H5Awrite(attribute, H5T_NATIVE_INT32, &mark);
  H5Aclose(attribute);
  H5Sclose(space);
  return H5Dflush(dataset) < 0 || H5Dclose(dataset) < 0 ? -1 : code;
}

std::int32_t mark_of(hid_t file) {
  std::int32_t mark = -1;
  const hid_t attribute = H5Aopen_by_name(file, "d0", "mark", H5P_DEFAULT, H5P_DEFAULT);
  H5Aread(attribute, H5T_NATIVE_INT32, &mark);
  H5Aclose(attribute);
  return mark;
}

// In a file that was flushed, a mark that waits for the next flush.
hid_t create_marked(const std::string& path) {
  const hid_t file = create(path);
  write_datasets(file, 0, 3);
  if (set_mark(file, 1, true) < 0 || H5Fflush(file, H5F_SCOPE_GLOBAL) < 0 || set_mark(file, 2, false) < 0)
    ::_exit(1);
  return file;
}

bool has_mark(const std::string& path, std::int32_t mark) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  return mark_of(file) == mark && H5Fclose(file) >= 0;
}

// The parent overtakes it with the next flush; then the child leaves by exit.
int fork_between_flushes(const std::string& path) {
  const hid_t file = create_marked(path);
  Child child([file](const auto& step) {
    if (mark_of(file) != 2) ::_exit(1);
    step();
    std::exit(0);
  });
  if (set_mark(file, 3, false) < 0 || H5Fflush(file, H5F_SCOPE_GLOBAL) < 0) return 1;
  child.step();
  return child.left() && H5Fclose(file) >= 0 && has_mark(path, 3) ? 0 : 1;
}

// The parent leaves without a word, and its child goes on with the file.
int fork_and_abandon(const std::string& path) {
  int gone[2]{};
  if (::pipe(gone) != 0) return 1;
  const pid_t parent = ::fork();
  if (parent == 0) {
    const hid_t file = create_marked(path);
    const pid_t self = ::getpid();
    if (::fork() != 0) ::_exit(0);
    for (int i = 0; i < 20'000 && ::kill(self, 0) == 0; ++i) ::usleep(1000);
    std::exit(write_datasets(file, 3, 6) < 0 || H5Fclose(file) < 0 ? 1 : 0);
  }
  int status = 0;
  ::waitpid(parent, &status, 0);
  ::close(gone[1]);
  char word = 0;
  while (::read(gone[0], &word, 1) > 0) {
  }
  return status == 0 && has_mark(path, 2) ? 0 : 1;
}

hid_t left_open = H5I_INVALID_HID;
void write_at_exit() { write_datasets(left_open, 3, 5); }

}  // namespace

// Says what each call answered, and 0 if they were all well. When told to, it waits for the marker "go"
// between making the file and writing.
int write_file(const std::string& path, bool when_told) {
  const hid_t file = create(path);
  if (file < 0) return std::printf("create failed\n"), 1;
  if (when_told) {
    H5Fflush(file, H5F_SCOPE_GLOBAL);
    mark("made");
    for (int i = 0; i < 60'000 && ::access("go", F_OK) != 0; ++i) ::usleep(1000);
  }
  const auto written = write_datasets(file, 0, 40);
  const auto flushed = H5Fflush(file, H5F_SCOPE_LOCAL);
  const auto again = write_datasets(file, 40, 50);
  const auto closed = H5Fclose(file);
  std::printf("write %d flush %d write %d close %d\n", written, flushed, again, closed);
  return written < 0 || flushed < 0 || again < 0 || closed < 0 ? 1 : 0;
}

// How many datasets from the first on are whole.
int verify_file(const std::string& path) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file < 0) return std::printf("cannot be opened\n"), 1;
  unsigned whole = 0;
  while (whole < 1000 && is_whole(file, whole)) ++whole;
  std::printf("%u\n", whole);
  return H5Fclose(file) < 0 ? 1 : 0;
}

// Leaves the marker "flushed" when 10 datasets must survive, then goes on, and waits to be killed.
int flush_and_wait(const std::string& path) {
  const hid_t file = create(path);
  write_datasets(file, 0, 10);
  if (H5Fflush(file, H5F_SCOPE_GLOBAL) < 0) return 1;
  mark("flushed");
  // Raw data only: metadata that HDF5 writes after a flush may leave any file unreadable, also natively.
  const hid_t first = H5Dopen2(file, "d0", H5P_DEFAULT);
  std::vector<std::int32_t> same(kValues);
  for (hsize_t i = 0; i < kValues; ++i) same[i] = value(0, i);
  for (;;) {
    H5Dwrite(first, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, same.data());
    ::usleep(1000);
  }
}

// Leaves the marker "closing" just before H5Fclose of a file of which 10 datasets were flushed and 10 not.
int flush_and_close(const std::string& path) {
  const hid_t file = create(path);
  write_datasets(file, 0, 10);
  if (H5Fflush(file, H5F_SCOPE_GLOBAL) < 0) return 1;
  write_datasets(file, 10, 20);
  mark("closing");
  const auto code = H5Fclose(file);
  mark("closed");
  ::pause();
  return code < 0 ? 1 : 0;
}

// Ways of ending that are not H5Fclose and return.
int leave(const std::string& path, const std::string& way) {
  if (way == "beside_another_opener") return beside_another_opener(path);
  if (way == "fork_between_flushes") return fork_between_flushes(path);
  if (way == "fork_and_abandon") return fork_and_abandon(path);
  const hid_t file = create(path);
  write_datasets(file, 0, 3);
  if (way == "forget") return 0;
  if (way == "exit") std::exit(0);
  if (way == "exit_in_handler") return std::atexit(exit_again);
  if (way == "write_in_handler") {
    left_open = file;
    return std::atexit(write_at_exit);
  }
  if (way == "flush_and_quick_exit" || way == "flush_and_abort") {
    if (H5Fflush(file, H5F_SCOPE_GLOBAL) < 0) return 1;
    if (way == "flush_and_abort") std::abort();
    ::_exit(0);
  }
  if (way == "many_open") {
    for (int i = 0; i < 30; ++i) write_datasets(create(path + std::to_string(i)), 0, 2);
    return 0;
  }
  if (way == "fork") {
    // The child leaves by exit, with its parent's file open and handlers registered.
    const pid_t child = ::fork();
    if (child == 0) std::exit(0);
    int status = 0;
    ::waitpid(child, &status, 0);
    write_datasets(file, 3, 6);
    return H5Fclose(file) < 0 || status != 0 ? 1 : 0;
  }
  if (way == "close_async_and_forget") return H5Fclose_async(file, H5EScreate()) < 0 ? 1 : 0;
  if (way == "fork_and_write") {
    // The child leaves by exit when its parent has made the file longer.
    if (H5Fflush(file, H5F_SCOPE_GLOBAL) < 0) return 1;
    Child child([](const auto& step) {
      step();
      std::exit(0);
    });
    write_datasets(file, 3, 6);
    child.step();
    return !child.left() || H5Fclose(file) < 0 ? 1 : 0;
  }
  if (way == "fork_and_read") {
    H5Fflush(file, H5F_SCOPE_GLOBAL);
    const pid_t child = ::fork();
    if (child == 0) {
      const hid_t other = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
      ::_exit(other >= 0 && is_whole(other, 2) ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return H5Fclose(file) < 0 || status != 0 ? 1 : 0;
  }
  return 2;
}

// Threads with files of their own and one that they share; the serial HDF5 is thread-safe.
int threads(const std::string& path) {
  const hid_t shared = create(path);
  std::vector<std::thread> crew;
  std::vector<int> codes(4, 1);
  for (unsigned t = 0; t < 4; ++t) {
    crew.emplace_back([&, t] {
      const hid_t own = create(path + std::to_string(t));
      bool well = true;
      for (unsigned i = 0; i < 8; ++i) {
        well = well && write_dataset(own, i) >= 0 && write_dataset(shared, 4 * i + t) >= 0;
        well = well && is_whole(own, i) && is_whole(shared, 4 * i + t);
      }
      codes[t] = H5Fclose(own) < 0 || !well ? 1 : 0;
    });
  }
  for (auto& one : crew) one.join();
  int worst = H5Fclose(shared) < 0 ? 1 : 0;
  for (const int code : codes) worst += code;
  return worst;
}

}  // namespace forebay::testing::faults
