// Plain files, one for each process: written in pieces, then read a number of times, in order or at random.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <random>

#include "base/format.hpp"
#include "tools/bench/kernels.hpp"
#include "tools/bench/step_buffers.hpp"

namespace forebay::kernels {
namespace {

std::uint64_t must_move(long answer, const std::string& what) {
  if (answer < 0) throw std::runtime_error(format_text("cannot {}: {}", what, std::strerror(errno)));
  return static_cast<std::uint64_t>(answer);
}
int must_call(int answer, const std::string& what) { return static_cast<int>(must_move(answer, what)); }

class Posix : public Kernel {
 public:
  explicit Posix(const Context& context)
      : Kernel(context),
        size_(job_.count("size")),
        piece_(std::min(job_.count("transfer"), size_)),
        pieces_((size_ + piece_ - 1) / piece_),
        reads_(job_.count("reads")) {}

  void prepare() override {
    Kernel::prepare();
    if (job_.text("operation") == "read") {
      for (std::uint64_t rank = 0; rank < job_.ranks; ++rank) write_file(rank);
    }
  }

  void run() override {
    // Of what is written and read, as much as fits is made beforehand and checked afterwards.
    StepBuffers<std::uint8_t> written(pieces_, 1, piece_, job_.memory / 2);
    for (std::uint64_t i = 0; i < pieces_ && written.all(); ++i) fill(world_.rank(), i, written.of(i));
    recorder_.begin();
    if (job_.text("operation") != "read") {
      write_pieces(written);
      recorder_.end_iteration("write");
    }
    recorder_.compute(job_.real("compute"));
    if (job_.text("operation") != "write") {
      for (std::uint64_t i = 0; i < reads_; ++i) {
        read_pieces(i);
        recorder_.end_iteration(format_text("read {}", i + 1));
        recorder_.progress(static_cast<double>(i + 1) / static_cast<double>(reads_));
      }
    }
    recorder_.end();
  }

  void check() override {
    for (std::uint64_t rank = 0; rank < job_.ranks; ++rank) {
      const int file = must_call(::open(path(rank).c_str(), O_RDONLY | O_CLOEXEC), "open " + path(rank));
      const auto size = std::filesystem::file_size(path(rank));
      checker_.expect(size == size_, format_text("{} has {} bytes, not {}", dataset(rank), size, size_));
      std::vector<std::uint8_t> data(piece_);
      for (std::uint64_t i = 0; i < pieces_; ++i) {
        read_piece(file, i, data);
        compare(rank, i, data);
      }
      ::close(file);
    }
  }

 private:
  [[nodiscard]] std::string path(std::uint64_t rank) const { return format_text("{}.{}", job_.path(), rank); }
  [[nodiscard]] static std::string dataset(std::uint64_t rank) { return format_text("file {}", rank); }

  // The last one may be shorter.
  [[nodiscard]] std::uint64_t length(std::uint64_t piece) const {
    return std::min(piece_, size_ - piece * piece_);
  }
  void fill(std::uint64_t rank, std::uint64_t piece, std::vector<std::uint8_t>& data) const {
    // A piece counts as a timestep for what tests plant; offsets go on over all of them.
    context_.fill(dataset(rank), piece, piece * piece_, std::span(data).first(length(piece)));
  }
  void compare(std::uint64_t rank, std::uint64_t piece, const std::vector<std::uint8_t>& data) {
    checker_.check(dataset(rank), piece, piece * piece_, std::span(data).first(length(piece)));
  }

  void write_piece(int file, std::uint64_t piece, const std::vector<std::uint8_t>& data) const {
    for (std::uint64_t done = 0; done < length(piece);)
      done += must_move(
          ::pwrite(file, data.data() + done, length(piece) - done, static_cast<off_t>(piece * piece_ + done)),
          "write");
  }
  void read_piece(int file, std::uint64_t piece, std::vector<std::uint8_t>& data) const {
    for (std::uint64_t done = 0; done < length(piece);) {
      const auto got = must_move(
          ::pread(file, data.data() + done, length(piece) - done, static_cast<off_t>(piece * piece_ + done)),
          "read");
      if (got == 0) throw std::runtime_error("a file is shorter than what was written to it");
      done += got;
    }
  }

  void write_file(std::uint64_t rank) const {
    const int file =
        must_call(::open(path(rank).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644), "create");
    std::vector<std::uint8_t> data(piece_);
    for (std::uint64_t i = 0; i < pieces_; ++i) {
      fill(rank, i, data);
      write_piece(file, i, data);
    }
    must_call(::close(file), "close");
  }

  void write_pieces(StepBuffers<std::uint8_t>& buffers) {
    const auto name = path(world_.rank());
    const int file = recorder_.timed(Phase::kCreate, [&] {
      return must_call(::open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644),
                       "create " + name);
    });
    for (std::uint64_t i = 0; i < pieces_; ++i) {
      if (!buffers.all()) recorder_.untimed([&] { fill(world_.rank(), i, buffers.of(i)); });
      recorder_.transfer(Phase::kWrite, length(i), [&] { write_piece(file, i, buffers.of(i)); });
    }
    if (job_.flag("fsync")) recorder_.timed(Phase::kFlush, [&] { must_call(::fsync(file), "fsync"); });
    recorder_.timed(Phase::kClose, [&] { must_call(::close(file), "close"); });
  }

  [[nodiscard]] std::vector<std::uint64_t> order_of(std::uint64_t pass) const {
    std::vector<std::uint64_t> order(pieces_);
    std::iota(order.begin(), order.end(), 0);
    if (job_.text("order") == "random") std::ranges::shuffle(order, std::mt19937_64(job_.seed + pass));
    return order;
  }

  void read_pieces(std::uint64_t pass) {
    const auto order = order_of(pass);
    // Taking and giving back memory is no part of reading.
    auto buffers = recorder_.untimed([&] {
      return StepBuffers<std::uint8_t>(pieces_, 1, piece_,
                                       job_.memory / 2 / std::max<std::uint64_t>(1, reads_));
    });
    const auto compare_piece = [&](std::uint64_t piece) {
      if (job_.verify && !job_.null) compare(world_.rank(), piece, buffers.of(piece));
    };
    const auto name = path(world_.rank());
    const int file = recorder_.timed(
        Phase::kOpen, [&] { return must_call(::open(name.c_str(), O_RDONLY | O_CLOEXEC), "open " + name); });
    for (const auto piece : order) {
      recorder_.transfer(Phase::kRead, length(piece), [&] { read_piece(file, piece, buffers.of(piece)); });
      if (!buffers.all()) recorder_.untimed([&] { compare_piece(piece); });
    }
    recorder_.timed(Phase::kClose, [&] { must_call(::close(file), "close"); });
    recorder_.untimed([&] {
      for (const auto piece : order) {
        if (buffers.all()) compare_piece(piece);
      }
      const auto gone = std::move(buffers);
    });
  }

  std::uint64_t size_, piece_, pieces_;
  std::uint64_t reads_;
};

}  // namespace

std::unique_ptr<Kernel> make_posix(const Context& context) { return std::make_unique<Posix>(context); }

}  // namespace forebay::kernels
