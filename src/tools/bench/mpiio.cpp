// Small accesses to one shared file through MPI-IO: each rank's in order, interleaved with the others', or at
// random.
#include <algorithm>
#include <array>
#include <fstream>
#include <numeric>
#include <random>

#include "base/format.hpp"
#include "tools/bench/kernels.hpp"

namespace forebay::kernels {
namespace {

// Element i of a rank's accesses, as an offset of the file.
class Accesses {
 public:
  explicit Accesses(const Job& job)
      : size_(job.count("size")),
        count_(job.count("operations")),
        ranks_(job.ranks),
        pattern_(job.text("pattern")) {}

  [[nodiscard]] std::uint64_t offset(std::uint64_t rank, std::uint64_t i) const {
    return (pattern_ == "sequential" ? rank * count_ + i : i * ranks_ + rank) * size_;
  }
  // In which a rank makes them.
  [[nodiscard]] std::vector<std::uint64_t> order(std::uint64_t seed) const {
    std::vector<std::uint64_t> order(count_);
    std::iota(order.begin(), order.end(), 0);
    if (pattern_ == "random") std::ranges::shuffle(order, std::mt19937_64(seed));
    return order;
  }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::uint64_t file_size() const { return size_ * count_ * ranks_; }

 private:
  std::uint64_t size_, count_, ranks_;
  std::string pattern_;
};

constexpr const char* kDataset = "file";

class MpiIo : public Kernel {
 public:
  explicit MpiIo(const Context& context) : Kernel(context), accesses_(job_) {}

  void prepare() override {
    Kernel::prepare();
    if (job_.text("operation") != "read") return;
    std::ofstream out(job_.path(), std::ios::binary);
    by_pieces([&](std::uint64_t first, std::span<std::uint8_t> data) {
      context_.fill(kDataset, 0, first, data);
      out.write(reinterpret_cast<const char*>(data.data()), static_cast<std::streamsize>(data.size()));
    });
  }
  void run() override;

  void check() override {
    std::error_code missing;
    const auto size = std::filesystem::file_size(job_.path(), missing);
    checker_.expect(!missing && size == accesses_.file_size(),
                    format_text("the file has {} bytes, not {}", missing ? 0 : size, accesses_.file_size()));
    std::ifstream in(job_.path(), std::ios::binary);
    by_pieces([&](std::uint64_t first, std::span<std::uint8_t> data) {
      in.read(reinterpret_cast<char*>(data.data()), static_cast<std::streamsize>(data.size()));
      checker_.check<std::uint8_t>(kDataset, 0, first, data);
    });
  }

 private:
  // visit(offset, memory for what is there), from begin to end.
  template <class Visit>
  void by_pieces(Visit&& visit) const {
    constexpr std::uint64_t kPiece = 4 << 20;
    std::vector<std::uint8_t> data(std::min(kPiece, accesses_.file_size()));
    for (std::uint64_t at = 0; at < accesses_.file_size(); at += kPiece)
      visit(at, std::span(data).first(std::min(kPiece, accesses_.file_size() - at)));
  }

  Accesses accesses_;
};

#ifdef H5_HAVE_PARALLEL

void must_mpi(int code, const std::string& what) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw std::runtime_error(format_text("cannot {}: {}", what, text.data()));
}

void MpiIo::run() {
  const auto rank = world_.rank();
  const auto size = accesses_.size();
  const bool collective = job_.flag("collective");
  const auto order = accesses_.order(job_.seed + rank);
  std::vector<std::uint8_t> data(size * order.size());
  const auto place = [&](std::uint64_t i) { return std::span(data).subspan(i * size, size); };
  const bool writes = job_.text("operation") != "read";
  for (const auto i : order) {
    if (writes) context_.fill(kDataset, 0, accesses_.offset(rank, i), place(i));
  }
  const auto bytes = static_cast<int>(size);
  const auto at = [&](std::uint64_t i) { return static_cast<MPI_Offset>(accesses_.offset(rank, i)); };
  const auto open = [&](Phase phase, int mode) {
    return recorder_.timed(phase, [&] {
      MPI_File file = MPI_FILE_NULL;
      must_mpi(MPI_File_open(MPI_COMM_WORLD, job_.path().c_str(), mode, MPI_INFO_NULL, &file),
               "open " + job_.path());
      return file;
    });
  };
  const auto close = [&](MPI_File& file) {
    recorder_.timed(Phase::kClose, [&] { must_mpi(MPI_File_close(&file), "close"); });
  };
  recorder_.begin();
  if (writes) {
    auto file = open(Phase::kCreate, MPI_MODE_CREATE | MPI_MODE_WRONLY);
    for (const auto i : order)
      recorder_.transfer(Phase::kWrite, size, [&] {
        const auto call = collective ? MPI_File_write_at_all : MPI_File_write_at;
        must_mpi(call(file, at(i), place(i).data(), bytes, MPI_BYTE, MPI_STATUS_IGNORE), "write");
      });
    recorder_.timed(Phase::kFlush, [&] { must_mpi(MPI_File_sync(file), "sync"); });
    recorder_.compute(job_.real("compute"));
    close(file);
    recorder_.end_iteration("write");
  }
  if (job_.text("operation") != "write") {
    std::ranges::fill(data, 0);
    auto file = open(Phase::kOpen, MPI_MODE_RDONLY);
    for (const auto i : order)
      recorder_.transfer(Phase::kRead, size, [&] {
        const auto call = collective ? MPI_File_read_at_all : MPI_File_read_at;
        must_mpi(call(file, at(i), place(i).data(), bytes, MPI_BYTE, MPI_STATUS_IGNORE), "read");
      });
    close(file);
    recorder_.end_iteration("read");
  }
  recorder_.end();
  if (job_.text("operation") == "write" || !job_.verify || job_.null) return;
  for (const auto i : order) checker_.check<std::uint8_t>(kDataset, 0, accesses_.offset(rank, i), place(i));
}

#else

void MpiIo::run() {
  throw std::runtime_error("the serial flavour has no MPI-IO: say which MPI with \"mpi\"");
}

#endif

}  // namespace

std::unique_ptr<Kernel> make_mpiio(const Context& context) { return std::make_unique<MpiIo>(context); }

}  // namespace forebay::kernels
