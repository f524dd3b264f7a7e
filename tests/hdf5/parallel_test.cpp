// Ranks that create, write, read, resize, unlink, copy and flush datasets at random, with raw data through
// the engine, against a model: every rank knows what every dataset must hold. Started by mpiexec.
//
// usage: parallel_test FOLDER SEED OPERATIONS BUFFERS
//
// BUFFERS above one gives ranks different buffers, as if they were on different nodes; 0 leaves all to HDF5,
// to see whether it would pass. Calls are made as the connector makes them, between the library's own.
#include <H5VLconnector.h>
#include <H5VLconnector_passthru.h>
#include <hdf5.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/format.hpp"
#include "config/load.hpp"
#include "door/hdf5/native_dataset.hpp"
#include "door/hdf5/parallel_call.hpp"
#include "door/hdf5/parallel_dataset.hpp"
#include "door/hdf5/parallel_file.hpp"

using namespace forebay;
using namespace forebay::hdf5;

namespace {

int rank_here = 0;
int rank_count = 1;
std::string trail;  // what was done last, for whoever reads a failure

[[noreturn]] void die(const std::string& what) {
  std::fprintf(stderr, "rank %d: %s\nafter: %s\n", rank_here, what.c_str(), trail.c_str());
  std::fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}
void expect(bool good, const std::string& what) {
  if (!good) die(what);
}
template <class T>
T must(Result<T> result, const std::string& what) {
  if (!result) die(what + ": " + result.error().message);
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

// What HDF5 does around a connector's callback.
class Inside {
 public:
  Inside() { H5VLstart_lib_state(); }
  ~Inside() { H5VLfinish_lib_state(); }
};

// The same on all ranks, but for what is drawn from `own`.
struct Dice {
  std::mt19937 shared;
  std::mt19937 own;
  std::uint64_t pick(std::uint64_t low, std::uint64_t high) {
    return std::uniform_int_distribution<std::uint64_t>(low, high)(shared);
  }
  bool chance(unsigned percent) { return pick(1, 100) <= percent; }
  bool own_chance(unsigned percent) {
    return std::uniform_int_distribution<unsigned>(1, 100)(own) <= percent;
  }
};

constexpr hsize_t kColumns = 37;
constexpr std::int32_t kFill = -7;

struct Dataset {
  std::vector<std::int32_t> content;  // the model
  bool chunked = false;
  bool filtered = false;
  // HDF5 goes on to read what its chunk cache has of it, not the file, until it is closed.
  bool shrunk = false;
  Hid id;  // while it is open
  std::unique_ptr<ParallelDataset> engine;
  [[nodiscard]] hsize_t rows() const { return content.size() / kColumns; }
};

class Program {
 public:
  Program(std::string folder, unsigned seed, int buffers)
      : path_(folder + "/data.h5"),
        buffers_(buffers),
        dice_{std::mt19937(seed), std::mt19937(seed * 100u + static_cast<unsigned>(rank_here))} {
    LoadOptions options;
    options.overrides = {
        format_text("buffer.directory={}/buffer{}", folder, rank_here % std::max(buffers, 1)),
        "buffer.bucket_size=4KiB", "buffer.max_processes=16", format_text("tiers=memory:{}:2MiB", folder)};
    auto settings = must(load(options), "load");
    if (buffers > 1) settings.tiers[0].path = tier_folder(folder);
    buffer_ = must(Buffer::attach(settings), "attach");
    access_ = Hid(H5Pcreate(H5P_FILE_ACCESS));
    H5Pset_fapl_mpio(access_.get(), MPI_COMM_WORLD, MPI_INFO_NULL);
    if (dice_.chance(50)) H5Pset_libver_bounds(access_.get(), H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    collective_metadata_ = dice_.chance(30);
    if (collective_metadata_) {
      note("collective metadata");
      H5Pset_all_coll_metadata_ops(access_.get(), 1);
    }
    creation_ = Hid(H5Pcreate(H5P_FILE_CREATE));
    if (dice_.chance(20)) H5Pset_userblock(creation_.get(), 1024);
    collective_ = Hid(H5Pcreate(H5P_DATASET_XFER));
    H5Pset_dxpl_mpio(collective_.get(), H5FD_MPIO_COLLECTIVE);
    dataset_access_ = Hid(H5Pcreate(H5P_DATASET_ACCESS));
    if (dice_.chance(20)) H5Pset_chunk_cache(dataset_access_.get(), 0, 0, 0);
    odd_ = Hid(H5Pcreate(H5P_DATASET_XFER));
    H5Pset_data_transform(odd_.get(), "x+0");
    odd_collective_ = Hid(H5Pcopy(odd_.get()));
    H5Pset_dxpl_mpio(odd_collective_.get(), H5FD_MPIO_COLLECTIVE);
  }

  void run(unsigned operations) {
    open(true, true);
    whole_ = true;
    overwrite_natively(false);
    overwrite_natively(true);
    write_where_a_chunk_was_cut();
    whole_ = false;
    for (unsigned i = 0; i < operations; ++i) step();
    close();
    compare_natively();
  }

 private:
  static std::string tier_folder(const std::string& folder) {
    const auto own = format_text("{}/tier{}", folder, rank_here);
    std::filesystem::create_directories(own);
    return own;
  }

  void note(const std::string& what) {
    trail += what + "; ";
    if (trail.size() > 6000) trail.erase(0, trail.size() - 6000);
  }

  void open(bool create, bool writable) {
    note(create ? "create file" : writable ? "open file" : "open file to read");
    {
      auto ranks = Ranks::of(access_.get());
      expect(ranks != nullptr, "no ranks");
      must(ParallelFile::settle(buffer_.get(), path_, *ranks), "settle");
      file_id_ =
          Hid(create ? H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, creation_.get(), access_.get())
                     : H5Fopen(path_.c_str(), writable ? H5F_ACC_RDWR : H5F_ACC_RDONLY, access_.get()));
      expect(static_cast<bool>(file_id_), "H5Fopen");
      file_ = must(ParallelFile::open(buffer_.get(), path_, writable,
                                      reads_metadata_collectively(access_.get()), std::move(ranks)),
                   "open");
    }
    writable_ = writable;
  }

  void close() {
    note("close file");
    for (auto& [name, dataset] : datasets_) close_dataset(dataset);
    must(file_->close(), "close");
    expect(H5Fclose(file_id_.release()) >= 0, "H5Fclose");
    file_.reset();
    if (buffers_ > 1) MPI_Barrier(MPI_COMM_WORLD);
  }

  static void close_dataset(Dataset& dataset) {
    dataset.engine.reset();
    dataset.id = Hid();
    dataset.shrunk = false;
  }

  void attach_engine(Dataset& dataset) {
    const Inside inside;
    dataset.engine = std::make_unique<ParallelDataset>(file_, H5VLobject(dataset.id.get()), native_.get());
  }

  Dataset& opened(const std::string& name) {
    auto& dataset = datasets_.at(name);
    if (!dataset.engine) {
      dataset.id = Hid(H5Dopen2(file_id_.get(), name.c_str(), dataset_access_.get()));
      expect(static_cast<bool>(dataset.id), "H5Dopen " + name);
      attach_engine(dataset);
    }
    return dataset;
  }

  void create_dataset() {
    const bool chunked = dice_.chance(60);
    (void)create_dataset(chunked, chunked && dice_.chance(20), dice_.pick(8, 120));
  }
  std::string create_dataset(bool chunked, bool filtered, hsize_t rows) {
    const auto name = format_text("d{}", ++names_);
    auto& dataset = datasets_[name];
    dataset.chunked = chunked;
    dataset.filtered = filtered;
    const Hid layout(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_fill_value(layout.get(), H5T_NATIVE_INT32, &kFill);
    const hsize_t dims[] = {rows, kColumns};
    const hsize_t limits[] = {H5S_UNLIMITED, kColumns};
    const hsize_t chunk[] = {dice_.pick(1, std::min<hsize_t>(rows, 16)),
                             dice_.chance(30) ? kColumns : dice_.pick(1, kColumns)};
    note(format_text("create {} {}x{}{}{}", name, rows, kColumns, dataset.chunked ? " chunked" : "",
                     dataset.filtered ? " filtered" : ""));
    if (dataset.chunked) H5Pset_chunk(layout.get(), 2, chunk);
    if (dataset.filtered) H5Pset_shuffle(layout.get());
    // HDF5 does not convert what is filtered and written together.
    const Hid space(H5Screate_simple(2, dims, dataset.chunked ? limits : nullptr));
    {
      const HeldDrain held(fills_chunks(layout.get()) ? file_.get() : nullptr);
      dataset.id =
          Hid(H5Dcreate2(file_id_.get(), name.c_str(), dataset.filtered ? H5T_NATIVE_INT32 : H5T_STD_I32BE,
                         space.get(), H5P_DEFAULT, layout.get(), dataset_access_.get()));
    }
    expect(static_cast<bool>(dataset.id), "H5Dcreate");
    attach_engine(dataset);
    dataset.content.assign(rows * kColumns, kFill);
    return name;
  }

  std::string any() {
    auto it = datasets_.begin();
    std::advance(it, dice_.pick(0, datasets_.size() - 1));
    return it->first;
  }

  // A part of the rows for each rank, not all of them, and some columns.
  struct Part {
    hsize_t start[2];
    hsize_t count[2];
  };
  std::vector<Part> parts(const Dataset& dataset) {
    std::vector<Part> all;
    const auto rows = dataset.rows();
    for (int r = 0; r < rank_count; ++r) {
      const auto low = rows * static_cast<hsize_t>(r) / static_cast<hsize_t>(rank_count);
      const auto high = rows * static_cast<hsize_t>(r + 1) / static_cast<hsize_t>(rank_count);
      Part part{{low, 0}, {high - low, kColumns}};
      if (!whole_ && dice_.chance(50)) {
        part.start[1] = dice_.pick(0, kColumns - 1);
        part.count[1] = dice_.pick(1, kColumns - part.start[1]);
      }
      // HDF5 itself hangs where nothing is allocated and only some ranks select something.
      if (!whole_ && dice_.chance(10) && !dataset.filtered) part.count[0] = 0;
      all.push_back(part);
    }
    if (dice_.chance(30)) std::ranges::reverse(all);
    return all;
  }
  static Hid select(const Dataset& dataset, const Part& part) {
    const hsize_t dims[] = {dataset.rows(), kColumns};
    Hid space(H5Screate_simple(2, dims, nullptr));
    if (part.count[0] == 0) {
      H5Sselect_none(space.get());
    } else {
      H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, part.start, nullptr, part.count, nullptr);
    }
    return space;
  }

  // A rank may ask for what the engine refuses.
  enum class Odd { kNever, kPerhaps, kRankZero };
  hid_t transfer_list(bool collective, const Dataset& dataset, Odd odd) {
    // HDF5's own: a rank that looks up chunks alone where metadata are read together comes out of step.
    const bool may_be_odd = collective ? !dataset.shrunk : !collective_metadata_ && !dataset.shrunk;
    const bool is_odd = odd == Odd::kRankZero ? rank_here == 0 : odd == Odd::kPerhaps && dice_.own_chance(10);
    if (may_be_odd && is_odd) return collective ? odd_collective_.get() : odd_.get();
    return collective ? collective_.get() : H5P_DEFAULT;
  }
  static Hid memory_of(const Part& part) {
    const hsize_t count = part.count[0] * part.count[1];
    const hsize_t length = std::max<hsize_t>(count, 1);
    Hid space(H5Screate_simple(1, &length, nullptr));
    if (count == 0) H5Sselect_none(space.get());
    return space;
  }

  void write() {
    const auto name = any();
    write(name, datasets_.at(name).filtered || dice_.chance(50), Odd::kPerhaps);
  }
  void write(const std::string& name, bool collective, Odd odd) {
    auto& dataset = opened(name);
    if (dataset.rows() == 0) return;
    meet();
    note(format_text("write {} {}", name, collective ? "together" : "alone"));
    const auto all = parts(dataset);
    const auto base = static_cast<std::int32_t>(dice_.pick(0, 1u << 30));
    for (const auto& part : all) {
      for (hsize_t i = 0; i < part.count[0]; ++i)
        for (hsize_t j = 0; j < part.count[1]; ++j)
          dataset.content[(part.start[0] + i) * kColumns + part.start[1] + j] =
              base + static_cast<std::int32_t>(i * kColumns + j);
    }
    const auto& mine = all[static_cast<std::size_t>(rank_here)];
    std::vector<std::int32_t> memory(std::max<hsize_t>(mine.count[0] * mine.count[1], 1));
    for (hsize_t i = 0; i < mine.count[0]; ++i)
      for (hsize_t j = 0; j < mine.count[1]; ++j)
        memory[i * mine.count[1] + j] = base + static_cast<std::int32_t>(i * kColumns + j);
    const auto space = select(dataset, mine);
    const auto memory_space = memory_of(mine);
    const hid_t list = dataset.filtered ? collective_.get() : transfer_list(collective, dataset, odd);
    for (int r = 0; in_turns_ && r < rank_here; ++r) MPI_Barrier(MPI_COMM_WORLD);
    const TransferCall request{H5T_NATIVE_INT32, memory_space.get(), space.get(), list};
    ParallelCall call(*file_, list);
    if (is_served(call, dataset, request, memory.data(), Transfer::Direction::kWrite)) {
      const Inside inside;
      must(call.write(0, memory.data()), "write");
      std::ranges::fill(memory, 0);  // the caller's memory is free again
      pending_ = true;
      if (in_turns_) must(file_->drain(), "drain");
      for (int r = rank_here; in_turns_ && r < rank_count; ++r) MPI_Barrier(MPI_COMM_WORLD);
      return;
    }
    const HeldDrain held(collective ? file_.get() : nullptr);
    expect(H5Dwrite(dataset.id.get(), H5T_NATIVE_INT32, memory_space.get(), space.get(), list,
                    memory.data()) >= 0,
           "H5Dwrite");
    {
      const Inside inside;
      call.written_natively();
    }
    pending_ = true;
  }

  // If not, the native call is to be made.
  bool is_served(ParallelCall& call, Dataset& dataset, const TransferCall& request, const void* memory,
                 Transfer::Direction direction) const {
    if (buffers_ == 0) return false;
    const Inside inside;
    call.add(*dataset.engine, request, memory, direction);
    must(call.agree(), "agree");
    if (call.serves(0)) return true;
    must(call.before_native(), "before_native");
    return false;
  }

  // Before another rank looks or writes where one has written.
  void meet() {
    if (buffers_ == 0) MPI_Barrier(MPI_COMM_WORLD);
    if (!pending_) return;
    pending_ = false;
    if (buffers_ > 1) {
      flush();
    } else {
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }

  void read() {
    const auto name = any();
    read(name, datasets_.at(name).filtered || dice_.chance(50), Odd::kPerhaps);
  }
  void read(const std::string& name, bool collective, Odd odd) {
    auto& dataset = opened(name);
    if (dataset.rows() == 0) return;
    // A collective read shows what other nodes have staged.
    if (!collective || dataset.filtered) meet();
    note(format_text("read {} {}", name, collective ? "together" : "alone"));
    auto all = parts(dataset);
    std::ranges::rotate(all, all.begin() + 1);  // what another rank wrote
    const auto& mine = all[static_cast<std::size_t>(rank_here)];
    std::vector<std::int32_t> memory(std::max<hsize_t>(mine.count[0] * mine.count[1], 1), 99);
    const auto space = select(dataset, mine);
    const auto memory_space = memory_of(mine);
    const hid_t list = dataset.filtered ? collective_.get() : transfer_list(collective, dataset, odd);
    const TransferCall request{H5T_NATIVE_INT32, memory_space.get(), space.get(), list};
    ParallelCall call(*file_, list);
    if (is_served(call, dataset, request, memory.data(), Transfer::Direction::kRead)) {
      const Inside inside;
      must(call.read(0, memory.data()), "read");
    } else {
      expect(H5Dread(dataset.id.get(), H5T_NATIVE_INT32, memory_space.get(), space.get(), list,
                     memory.data()) >= 0,
             "H5Dread");
    }
    for (hsize_t i = 0; i < mine.count[0]; ++i) {
      for (hsize_t j = 0; j < mine.count[1]; ++j) {
        const auto want = dataset.content[(mine.start[0] + i) * kColumns + mine.start[1] + j];
        const auto have = memory[i * mine.count[1] + j];
        if (want != have)
          die(format_text("{}[{}, {}] of {} rows is {}, must be {}", name, mine.start[0] + i,
                          mine.start[1] + j, dataset.rows(), have, want));
      }
    }
    // Nobody may change it before all have looked.
    MPI_Barrier(MPI_COMM_WORLD);
  }

  void resize() {
    const auto name = any();
    auto& dataset = opened(name);
    if (!dataset.chunked || dataset.filtered) return;
    resize(name, dice_.pick(0, 160));
  }
  void resize(const std::string& name, hsize_t rows) {
    auto& dataset = opened(name);
    hsize_t dims[] = {rows, kColumns};
    {
      // HDF5's own: of a chunk that was cut, it writes what it has in its cache when the dataset is closed.
      const Inside inside;
      if (buffers_ == 0 || dataset.engine->refusal()) dims[0] = std::max(rows, dataset.rows());
    }
    note(format_text("resize {} from {} to {}", name, dataset.rows(), dims[0]));
    {
      const Inside inside;
      must(dataset.engine->before_resize(dims), "before_resize");
    }
    expect(H5Dset_extent(dataset.id.get(), dims) >= 0, "H5Dset_extent");
    {
      const Inside inside;
      dataset.engine->resized();
    }
    dataset.shrunk |= dims[0] < dataset.rows();
    dataset.content.resize(dims[0] * kColumns, kFill);
  }

  void unlink() {
    const auto name = any();
    note("unlink " + name);
    must(file_->settle(), "settle");
    expect(H5Ldelete(file_id_.get(), name.c_str(), H5P_DEFAULT) >= 0, "H5Ldelete");
    file_->unlinked();
    auto gone = std::move(datasets_.at(name));
    datasets_.erase(name);
    if (!gone.engine) return;
    if (dice_.chance(50)) {
      const Inside inside;
      expect(gone.engine->refusal() == Reason::kUnlinked || gone.filtered || gone.content.empty(),
             "an unlinked dataset is served");
    }
  }

  void copy() {
    const auto name = any();
    if (datasets_.at(name).shrunk) return;
    const auto target = format_text("d{}", ++names_);
    note(format_text("copy {} to {}", name, target));
    must(file_->settle(), "settle");
    expect(
        H5Ocopy(file_id_.get(), name.c_str(), file_id_.get(), target.c_str(), H5P_DEFAULT, H5P_DEFAULT) >= 0,
        "H5Ocopy");
    file_->allocated();
    const auto& from = datasets_.at(name);
    auto& to = datasets_[target];
    to.content = from.content;
    to.chunked = from.chunked;
    to.filtered = from.filtered;
  }

  void flush() {
    note("flush");
    must(file_->flush(), "flush");
    expect(H5Fflush(file_id_.get(), H5F_SCOPE_GLOBAL) >= 0, "H5Fflush");
    MPI_Barrier(MPI_COMM_WORLD);
  }

  // One rank's call goes to HDF5: what others see is not what lay in the buffer before.
  void overwrite_natively(bool collective) {
    const auto name = create_dataset(false, false, 40);
    write(name, false, Odd::kNever);
    write(name, collective, Odd::kRankZero);
    read(name, false, Odd::kNever);
  }

  // What HDF5 kept of the chunk must not come back with a flush or close.
  void write_where_a_chunk_was_cut() {
    if (buffers_ == 0) return;
    const auto name = create_dataset(true, false, 100);
    write(name, false, Odd::kNever);
    resize(name, 37);
    in_turns_ = true;  // what one rank has carried home is there when the next one begins
    write(name, false, Odd::kNever);
    in_turns_ = false;
    flush();
    close();
    open(false, true);
    read(name, false, Odd::kNever);
  }

  void step() {
    const auto what = dice_.pick(1, 100);
    if (!writable_) {
      if (what <= 80 && !datasets_.empty()) return read();
      close();
      return open(false, true);
    }
    if (datasets_.size() < 3 || what <= 8) return create_dataset();
    if (what <= 45) return write();
    if (what <= 75) return read();
    if (what <= 83) return resize();
    if (what <= 88) return unlink();
    if (what <= 91) return copy();
    if (what <= 95) return flush();
    if (what <= 97) {
      const auto name = any();
      note("close " + name);
      return close_dataset(datasets_.at(name));
    }
    close();
    open(false, dice_.chance(60));
  }

  void compare_natively() {
    const Hid access(H5Pcreate(H5P_FILE_ACCESS));
    H5Pset_fapl_mpio(access.get(), MPI_COMM_SELF, MPI_INFO_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    const Hid file(H5Fopen(path_.c_str(), H5F_ACC_RDONLY, access.get()));
    expect(static_cast<bool>(file), "H5Fopen in the end");
    for (const auto& [name, dataset] : datasets_) {
      const Hid id(H5Dopen2(file.get(), name.c_str(), H5P_DEFAULT));
      std::vector<std::int32_t> have(dataset.content.size());
      expect(H5Dread(id.get(), H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, have.data()) >= 0, "H5Dread");
      const auto [h, w] = std::ranges::mismatch(have, dataset.content);
      if (h == have.end()) continue;
      const auto at = static_cast<hsize_t>(h - have.begin());
      die(format_text("in the end {}[{}, {}] of {} rows is {}, must be {}", name, at / kColumns,
                      at % kColumns, dataset.rows(), *h, *w));
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

  const std::string path_;
  const int buffers_;
  Dice dice_;
  std::unique_ptr<Buffer> buffer_;
  Hid access_;
  Hid creation_;
  Hid collective_;
  Hid dataset_access_;
  Hid odd_;  // with what the engine refuses
  Hid odd_collective_;
  Hid native_{H5VLget_connector_id_by_value(H5_VOL_NATIVE)};
  bool collective_metadata_ = false;
  bool writable_ = true;
  bool pending_ = false;
  bool in_turns_ = false;
  bool whole_ = false;  // every rank's part is as large as it can be
  Hid file_id_;
  std::shared_ptr<ParallelFile> file_;
  std::map<std::string, Dataset> datasets_;
  int names_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_here);
  MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
  const auto seeds_from = static_cast<unsigned>(std::atoi(argv[2]));
  const auto seeds = 10u;
  for (unsigned seed = seeds_from; seed < seeds_from + seeds; ++seed) {
    trail = format_text("seed {}: ", seed);
    const auto folder = format_text("{}/parallel-{}-{}-{}", argv[1], seeds_from, rank_count, argv[4]);
    if (rank_here == 0) {
      std::filesystem::remove_all(folder);
      std::filesystem::create_directories(folder);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    alarm(100);
    Program(folder, seed, std::atoi(argv[4])).run(static_cast<unsigned>(std::atoi(argv[3])));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_here == 0) std::filesystem::remove_all(folder);
  }
  if (rank_here == 0) std::printf("seeds %u to %u: all as the model\n", seeds_from, seeds_from + seeds - 1);
  MPI_Finalize();
}
