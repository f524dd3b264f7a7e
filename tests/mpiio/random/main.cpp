// Random MPI-IO programs, valid ones: what ranks do at the same time does not conflict, and what others did
// is looked at after sync, barrier and sync, or after a close.
//
// usage: random FOLDER SEED FIRST LAST [gaps]: programs FIRST to LAST, file FOLDER/<number>, journal
// FOLDER/log.<rank>. gaps: also views with gaps where a file grows. ROMIO leaves there what its memory held,
// unless it is told to write pieces as they are (romio_ds_write and romio_cb_write: disable).
//
// The same seed gives the same programs. Whatever MPI answers goes into the journal: run natively and with
// the door, journals and files must be equal.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <format>
#include <string>
#include <vector>

#include "dice.hpp"
#include "operations.hpp"
#include "types.hpp"

namespace {

// What the library that moves the bytes does not do alike twice, or not at all.
struct Library {
  int append = MPI_MODE_APPEND;
  bool allocates_in_view = false;  // preallocate writes what the view shows, and more than was asked for
  bool seeks_shared_end = true;    // and lands there
  bool judges_offsets = true;      // negative ones; otherwise it writes somewhere, up to exabytes away
  bool creates_together = true;    // otherwise other ranks may look for it before rank 0 has made it
};
#ifdef OPEN_MPI
// The pointer is anywhere after an open with MPI_MODE_APPEND.
constexpr Library library{0, true, false, false, false};
#else
constexpr Library library{};
#endif

bool gaps_behind_the_end = false;
int world_rank = 0;
int world_size = 1;
FILE* journal = nullptr;

template <class... Arguments>
void note(std::format_string<Arguments...> form, Arguments&&... arguments) {
  std::fputs((std::format(form, std::forward<Arguments>(arguments)...) + "\n").c_str(), journal);
}

int class_of(int code) {
  int found = MPI_SUCCESS;
  MPI_Error_class(code, &found);
  return found;
}

std::uint64_t hash(const std::vector<char>& bytes) {
  std::uint64_t sum = 1469598103934665603u;
  for (const char byte : bytes) sum = (sum ^ static_cast<unsigned char>(byte)) * 1099511628211u;
  return sum;
}

// What a rank may touch in this part of the program: it alone, in its view.
struct Share {
  Type etype;
  MPI_Offset etypes = 0;
  MPI_Offset first = 0;
};

class Program {
 public:
  Program(std::string path, std::uint64_t seed)
      : path_(std::move(path)), all_(seed), own_(seed * 1000 + static_cast<std::uint64_t>(world_rank)) {
    alone_ = all_.chance(15);
    if (alone_) path_ += std::format(".{}", world_rank);
    // Ranks may be numbered otherwise than in the world.
    const int key = all_.chance(20) ? world_size - world_rank : world_rank;
    MPI_Comm_split(MPI_COMM_WORLD, alone_ ? world_rank : 0, key, &comm_);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
    region_ = all_.chance(10) ? 1 << 20 : all_.chance(50) ? 1 << 12 : 1 << 16;
    // Where a file ends while others write to it is a matter of luck.
    bounded_ = size_ > 1 || all_.chance(60);
  }

  void run() {
    if (!library.creates_together && rank_ == 0) std::fclose(std::fopen(path_.c_str(), "w"));
    MPI_Barrier(comm_);
    open(MPI_MODE_RDWR | MPI_MODE_CREATE);
    if (bounded_) MPI_File_set_size(file_, (size_ + 2) * region_);
    const auto parts = all_.pick(1, 5);
    for (std::int64_t i = 0; i < parts; ++i) {
      part();
      boundary();
    }
    close();
    MPI_Comm_free(&comm_);
  }

 private:
  void open(int amode) {
    readable_ = (amode & MPI_MODE_WRONLY) == 0;
    writable_ = (amode & MPI_MODE_RDONLY) == 0;
    const int code = MPI_File_open(comm_, path_.c_str(), amode, MPI_INFO_NULL, &file_);
    MPI_Offset size = -1;
    if (code == MPI_SUCCESS) MPI_File_get_size(file_, &size);
    note("open {} -> {} size {}", amode, class_of(code), size);
    if (code != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Barrier(comm_);
  }

  void close() {
    note("close -> {}", class_of(MPI_File_close(&file_)));
    MPI_Barrier(comm_);
  }

  // Everybody sees what everybody wrote.
  void boundary() {
    const auto way = all_.pick(0, 9);
    if (way < 3) {
      close();
      const auto mode = all_.pick(0, 9);
      open(mode == 0 && bounded_ ? MPI_MODE_RDONLY
           : mode == 1           ? MPI_MODE_WRONLY
           : way == 0            ? MPI_MODE_RDWR | library.append
                                 : MPI_MODE_RDWR);
      where();
      return;
    }
    note("sync -> {}", class_of(MPI_File_sync(file_)));
    MPI_Barrier(comm_);
    note("sync -> {}", class_of(MPI_File_sync(file_)));
    if (!bounded_) {
      MPI_Offset size = 0;
      MPI_File_get_size(file_, &size);
      note("size {}", size);
    }
    MPI_Barrier(comm_);
    if (all_.chance(20)) peek();
    if (way == 8 && writable_) resize();
    if (way == 9) {
      atomic_ = !atomic_;
      note("atomicity {} -> {}", atomic_, class_of(MPI_File_set_atomicity(file_, atomic_ ? 1 : 0)));
    }
  }

  // Through a handle of its own.
  void peek() {
    MPI_File other = MPI_FILE_NULL;
    int code = MPI_File_open(MPI_COMM_SELF, path_.c_str(), MPI_MODE_RDONLY, MPI_INFO_NULL, &other);
    note("another handle -> {}", class_of(code));
    MPI_Offset size = 0;
    MPI_File_get_size(other, &size);
    std::vector<char> bytes(static_cast<std::size_t>(std::min<MPI_Offset>(size, own_.pick(0, 5000))));
    const auto at = own_.pick(0, size - static_cast<MPI_Offset>(bytes.size()));
    code = MPI_File_read_at(other, at, bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE,
                            MPI_STATUS_IGNORE);
    note("reads {} of {} at {} -> {}: {:x}", bytes.size(), size, at, class_of(code), hash(bytes));
    MPI_File_close(&other);
    MPI_Barrier(comm_);
  }

  void resize() {
    MPI_Offset size = 0;
    MPI_File_get_size(file_, &size);
    MPI_Barrier(comm_);
    const auto wanted = bounded_ ? (size_ + 2 + all_.pick(0, 1)) * region_ : size + all_.pick(-100, 100);
    const bool allocate = all_.chance(30) && (!library.allocates_in_view || size_ == 1);
    const Type bytes = std::make_shared<MPI_Datatype>(MPI_BYTE);
    if (allocate && library.allocates_in_view) set_view(0, bytes, bytes);
    const int code = allocate ? MPI_File_preallocate(file_, wanted) : MPI_File_set_size(file_, wanted);
    MPI_File_get_size(file_, &size);
    note("{} {} -> {} size {}", allocate ? "preallocate" : "set_size", wanted, class_of(code), size);
    MPI_Barrier(comm_);
  }

  void where() {
    MPI_Offset here = -1;
    MPI_Offset byte = -1;
    MPI_File_get_position(file_, &here);
    MPI_File_get_byte_offset(file_, here, &byte);
    note("at {} byte {}", here, byte);
  }

  void part() {
    if (!alone_ && all_.chance(20)) return shared_part();
    const Share share = (!bounded_ && !gaps_behind_the_end) || all_.chance(35) ? plain_view()
                        : all_.chance(60)                                      ? interleaved()
                                                                               : apart();
    const auto steps = all_.pick(1, 8);
    for (std::int64_t i = 0; i < steps; ++i) {
      if (all_.chance(30)) {
        step(pick_operation(all_, true), share);
      } else {
        const auto mine = own_.pick(0, 3);
        for (std::int64_t k = 0; k < mine; ++k) independent(share);
      }
    }
  }

  void independent(const Share& share) {
    const auto dice = own_.pick(0, 99);
    if (dice < 6) return seek(share);
    if (dice < 9) return mistake();
    if (dice < 12) return where();
    if (dice < 20) return several(share);
    step(pick_operation(own_, false), share);
  }

  // At the end of a file MPI libraries disagree, with each other and from call to call, about what a read
  // that is collective or nonblocking tells, and leave what they like in memory with gaps.
  [[nodiscard]] bool may_do(const Operation& one) const {
    if (one.writes ? !writable_ : !readable_) return false;
    return bounded_ || one.writes || (!one.collective && one.name[0] == 'r');
  }

  [[nodiscard]] const Operation& pick_operation(Dice& dice, bool collective) const {
    for (;;) {
      const auto all = operations();
      const auto& one =
          all[static_cast<std::size_t>(dice.pick(0, static_cast<std::int64_t>(all.size()) - 1))];
      if (one.collective == collective && !one.shared && may_do(one)) return one;
    }
  }

  void set_view(MPI_Offset displacement, const Type& etype, const Type& filetype) {
    const int code = MPI_File_set_view(file_, displacement, *etype, *filetype, "native", MPI_INFO_NULL);
    note("view at {} etype {} filetype {} of {} -> {}", displacement, size_of(etype), size_of(filetype),
         extent_of(filetype), class_of(code));
    position_ = 0;
  }

  // One with a gap is a view with gaps by itself.
  Type etype() {
    for (;;) {
      auto one = random_etype(all_);
      if (bounded_ || gaps_behind_the_end || size_of(one) == extent_of(one)) return one;
    }
  }

  // A region for each rank, in bytes or a plain type.
  Share plain_view() {
    const Type unit = all_.chance(60) ? std::make_shared<MPI_Datatype>(MPI_BYTE) : etype();
    if (all_.chance(60) || size_of(unit) > 1) {
      set_view(all_.pick(0, 64), unit, unit);
    } else {
      MPI_File_get_position(file_, &position_);
      set_view(0, unit, unit);
    }
    const auto each = region_ / extent_of(unit);
    return {unit, each, rank_ * each};
  }

  // Ranks take turns, tile by tile.
  Share interleaved() {
    const auto etype = this->etype();
    const auto tile = random_type(all_, etype, 2, true);
    const auto extent = extent_of(tile);
    set_view(all_.pick(0, 64) + rank_ * extent, etype, resized(tile, extent * size_));
    const auto tiles = region_ / extent;
    return {etype, tiles * size_of(tile) / size_of(etype), 0};
  }

  // Each has a type and a region of its own.
  Share apart() {
    const auto etype = this->etype();
    const auto tile = random_type(own_, etype, 2, true);
    set_view(all_.pick(0, 64) + rank_ * region_, etype, tile);
    const auto tiles = region_ / extent_of(tile);
    return {etype, tiles * size_of(tile) / size_of(etype), 0};
  }

  void seek(const Share& share) {
    const auto target = share.first + own_.pick(0, share.etypes);
    const auto whence = own_.pick(0, bounded_ ? 2 : 1);
    int code = MPI_SUCCESS;
    if (whence == 0) code = MPI_File_seek(file_, target, MPI_SEEK_SET);
    if (whence == 1) {
      MPI_Offset here = 0;
      MPI_File_get_position(file_, &here);
      code = MPI_File_seek(file_, target - here, MPI_SEEK_CUR);
    }
    if (whence == 2) code = MPI_File_seek(file_, 0, MPI_SEEK_END);
    note("seek {} -> {}", whence, class_of(code));
    where();
    MPI_File_get_position(file_, &position_);
  }

  // The same class of error as without the door, and nothing else changes.
  void mistake() {
    int value = 0;
    MPI_Status status;
    int code = MPI_SUCCESS;
    const auto which = own_.pick(0, 4);
    if (which == 0) code = MPI_File_read_at(file_, 0, &value, -1, MPI_INT, &status);
    if (which == 1 && library.judges_offsets)
      code = MPI_File_write_at(file_, -5, &value, 1, MPI_INT, &status);
    if (which == 2) code = MPI_File_seek(file_, 0, 12345);
    if (which == 3) code = MPI_File_read(file_, &value, 1, MPI_DATATYPE_NULL, &status);
    if (which == 4) code = MPI_File_seek(file_, -1, MPI_SEEK_SET);
    note("mistake {} -> {}", which, class_of(code));
    MPI_File_seek(file_, position_, MPI_SEEK_SET);
  }

  void step(const Operation& operation, const Share& share) {
    // How much: mostly little, never more than the share.
    const auto room = std::min<MPI_Offset>(share.etypes, own_.chance(90) ? 600 : 1 << 19);
    const bool plain = own_.chance(50) || (!bounded_ && !operation.writes);
    const auto memory = plain ? share.etype : random_type(own_, share.etype, 2, false);
    const auto in_one = size_of(memory) / size_of(share.etype);
    const auto count = room / in_one == 0 ? 0 : own_.pick(0, room / in_one);
    const auto etypes = count * in_one;
    const auto offset = share.first + own_.pick(0, share.etypes - etypes);
    if (!operation.at &&
        (position_ < share.first || position_ + etypes > share.first + share.etypes || own_.chance(20))) {
      MPI_File_seek(file_, offset, MPI_SEEK_SET);
      position_ = offset;
    }
    move(operation, offset, memory, static_cast<int>(count));
    if (!operation.at) MPI_File_get_position(file_, &position_);
    // ROMIO's pointer is inside of an etype where the file ends in one; MPI has no such place.
    if (!operation.at && !operation.writes && !bounded_) MPI_File_seek(file_, position_, MPI_SEEK_SET);
  }

  // Several of them under way at once, each in a part of its own.
  void several(const Share& share) {
    const auto all = operations();
    const auto& one = all[static_cast<std::size_t>(own_.pick(0, static_cast<std::int64_t>(all.size()) - 1))];
    if (one.start == nullptr || one.collective || one.shared || !one.at || !may_do(one)) return;
    const auto count = own_.pick(2, 4);
    const auto room = std::min<MPI_Offset>(share.etypes / count, 500);
    std::vector<MPI_Request> requests(static_cast<std::size_t>(count), MPI_REQUEST_NULL);
    std::vector<std::vector<char>> buffers;
    for (std::int64_t i = 0; i < count; ++i) {
      const auto etypes = own_.pick(0, room);
      buffers.emplace_back(static_cast<std::size_t>(etypes * extent_of(share.etype) + 16), '\xaa');
      if (one.writes) fill(buffers.back());
      const int code =
          one.start(file_, share.first + i * room, buffers.back().data(), static_cast<int>(etypes),
                    *share.etype, &requests[static_cast<std::size_t>(i)]);
      note("{} begun -> {}", one.name, class_of(code));
    }
    std::vector<MPI_Status> statuses(requests.size());
    if (own_.chance(50)) {
      MPI_Waitall(static_cast<int>(count), requests.data(), statuses.data());
    } else {
      for (auto i = requests.size(); i-- > 0;) MPI_Wait(&requests[i], &statuses[i]);
    }
    for (std::size_t i = 0; i < requests.size(); ++i) {
      int bytes = -1;
      MPI_Get_elements(&statuses[i], MPI_BYTE, &bytes);
      note("{} bytes: {:x}", bytes, hash(buffers[i]));
    }
  }

  void fill(std::vector<char>& buffer) {
    auto word = own_.engine();
    for (auto& byte : buffer) byte = static_cast<char>((word = word * 6364136223846793005u + 1) >> 56);
  }

  void move(const Operation& operation, MPI_Offset offset, const Type& memory, int count) {
    std::vector<char> buffer(static_cast<std::size_t>(count * extent_of(memory) + 16), '\xaa');
    if (operation.writes) fill(buffer);
    MPI_Status status;
    MPI_Status_set_elements(&status, MPI_BYTE, 0);
    const bool absolute = count > 0 && (bounded_ || operation.writes) && own_.chance(10);
    const auto type = absolute ? by_address(buffer.data(), count, memory) : memory;
    const int code = operation.run(file_, offset, absolute ? MPI_BOTTOM : buffer.data(), absolute ? 1 : count,
                                   *type, &status);
    int whole = -1;
    int elements = -1;
    MPI_Offset here = -1;
    if (code == MPI_SUCCESS && count > 0) MPI_Get_count(&status, *memory, &whole);
    if (code == MPI_SUCCESS && count > 0) MPI_Get_elements(&status, MPI_BYTE, &elements);
    // Where the shared one is while others may still move it is looked at later.
    if (!operation.shared) MPI_File_get_position(file_, &here);
    note("{} at {} x {} -> {} count {} elements {} then at {}: {:x}", operation.name, offset, count,
         class_of(code), whole, elements, here, hash(buffer));
  }

  // The shared pointer: one rank after the other, or all in order.
  void shared_part() {
    const auto etype = this->etype();
    const bool plain = (!bounded_ && !gaps_behind_the_end) || all_.chance(50);
    const auto filetype = plain ? etype : random_type(all_, etype, 2, true);
    set_view(all_.pick(0, 64), etype, filetype);
    // What all ranks write in the steps below, and as far again as they seek, stays inside of the file.
    const auto most = region_ / extent_of(filetype) * size_of(filetype) / size_of(etype) / 8;
    const auto steps = all_.pick(1, 6);
    for (std::int64_t i = 0; i < steps; ++i) {
      if (all_.chance(20)) {
        seek_shared(all_.pick(0, most));
        // What was written behind it may be written by another now.
        MPI_File_sync(file_);
        MPI_Barrier(comm_);
        MPI_File_sync(file_);
      }
      shared_step(most);
    }
  }

  void seek_shared(MPI_Offset to) {
    MPI_Offset here = 0;
    const auto way = all_.pick(0, library.seeks_shared_end ? 2 : 1);
    if (way == 1) MPI_File_get_position_shared(file_, &here);
    MPI_Barrier(comm_);
    if (way == 2 && bounded_) {
      note("seek_shared to the end -> {}", class_of(MPI_File_seek_shared(file_, 0, MPI_SEEK_END)));
      MPI_File_get_position_shared(file_, &here);
      note("which is at {}", here);
      MPI_Barrier(comm_);
      here = 0;
    }
    note("seek_shared -> {}",
         class_of(MPI_File_seek_shared(file_, to - here, way == 1 ? MPI_SEEK_CUR : MPI_SEEK_SET)));
  }

  void shared_step(MPI_Offset most) {
    const auto all = operations();
    const auto& one = all[static_cast<std::size_t>(all_.pick(0, static_cast<std::int64_t>(all.size()) - 1))];
    if (!one.shared || (!bounded_ && !one.writes) || !may_do(one)) return shared_step(most);
    Type etype = std::make_shared<MPI_Datatype>(MPI_DATATYPE_NULL);
    MPI_Offset displacement = 0;
    MPI_Datatype filetype = MPI_DATATYPE_NULL;
    char representation[MPI_MAX_DATAREP_STRING];
    MPI_File_get_view(file_, &displacement, etype.get(), &filetype, representation);
    const int count = static_cast<int>(own_.pick(0, std::min<MPI_Offset>(most, 200)));
    for (int turn = 0; turn < (one.collective ? 1 : size_); ++turn) {
      if (one.collective || turn == rank_) move(one, 0, etype, count);
      MPI_Barrier(comm_);
    }
    MPI_Offset here = -1;
    MPI_File_get_position_shared(file_, &here);
    note("shared pointer {}", here);
    MPI_Barrier(comm_);
  }

  std::string path_;
  Dice all_;
  Dice own_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_File file_ = MPI_FILE_NULL;
  MPI_Offset position_ = 0;
  MPI_Offset region_ = 0;
  int rank_ = 0;
  int size_ = 1;
  bool alone_ = false;
  bool readable_ = true;
  bool writable_ = true;
  bool bounded_ = true;  // long enough from the start: nobody reads at the end
  bool atomic_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  gaps_behind_the_end = argc == 6 && std::string(argv[5]) == "gaps";
  if (argc != (gaps_behind_the_end ? 6 : 5)) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  journal = std::fopen(std::format("{}/log.{}", argv[1], world_rank).c_str(), "w");
  if (journal == nullptr) MPI_Abort(MPI_COMM_WORLD, 2);
  std::setvbuf(journal, nullptr, _IOLBF, BUFSIZ);
  const auto seed = std::strtoull(argv[2], nullptr, 10);
  for (int i = std::atoi(argv[3]); i <= std::atoi(argv[4]); ++i) {
    note("program {}", i);
    Program(std::format("{}/{}", argv[1], i), seed * 1000003 + static_cast<unsigned>(i)).run();
  }
  std::fclose(journal);
  MPI_Finalize();
  return 0;
}
