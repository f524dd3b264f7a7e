#include "file_program.hpp"

#include <algorithm>
#include <cstdio>
#include <format>
#include <vector>

#include "journal.hpp"
#include "library.hpp"

namespace {

// Which ranks have a file together.
enum class Company { kAll, kGroups, kNobody };

}  // namespace

FileProgram::FileProgram(const World& world, std::string path, std::uint64_t seed)
    : world_(world),
      path_(std::move(path)),
      all_(seed),
      own_(seed * 1000 + static_cast<std::uint64_t>(world.rank)) {
  const auto dice = all_.pick(1, 100);
  const auto company = dice <= 15 ? Company::kNobody : dice <= 35 ? Company::kGroups : Company::kAll;
  const auto groups = all_.engine();
  int number = 0;
  if (company == Company::kNobody) number = world.rank;
  if (company == Company::kGroups) number = static_cast<int>(groups >> world.rank & 1);
  if (company != Company::kAll) path_ += std::format(".{}", number);
  // Ranks may be numbered otherwise than in the world.
  const int key = all_.chance(20) ? world.size - world.rank : world.rank;
  MPI_Comm_split(MPI_COMM_WORLD, number, key, &comm_);
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
  region_ = all_.chance(10) ? 1 << 20 : all_.chance(50) ? 1 << 12 : 1 << 16;
  if (world.large) region_ = MPI_Offset{1} << all_.pick(20, 22);
  unique_ = all_.chance(30);
  // Where a file ends while others write to it is a matter of luck.
  bounded_ = size_ > 1 || all_.chance(60);
  parts_ = all_.pick(1, 5);
}

void FileProgram::begin() {
  note("file {} of {} ranks", path_.substr(path_.rfind('/')), size_);
  if (!library.creates_together && rank_ == 0) std::fclose(std::fopen(path_.c_str(), "w"));
  MPI_Barrier(comm_);
  open(MPI_MODE_RDWR | MPI_MODE_CREATE);
  if (bounded_) MPI_File_set_size(file_, (size_ + 2) * region_);
}

void FileProgram::next() {
  --parts_;
  part();
  boundary();
}

void FileProgram::end() {
  close();
  MPI_Comm_free(&comm_);
}

void FileProgram::open(int amode) {
  readable_ = (amode & MPI_MODE_WRONLY) == 0;
  writable_ = (amode & MPI_MODE_RDONLY) == 0;
  if (unique_) amode |= MPI_MODE_UNIQUE_OPEN;
  const int code = MPI_File_open(comm_, path_.c_str(), amode, MPI_INFO_NULL, &file_);
  MPI_Offset size = -1;
  if (code == MPI_SUCCESS) MPI_File_get_size(file_, &size);
  note("open {} -> {} size {}", amode, class_of(code), size);
  if (code != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 3);
  MPI_Barrier(comm_);
}

void FileProgram::close() {
  note("close -> {}", class_of(MPI_File_close(&file_)));
  MPI_Barrier(comm_);
}

void FileProgram::boundary() {
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
  if (all_.chance(20) && !unique_) peek();
  if (way == 8 && writable_) resize();
  if (way == 9) {
    atomic_ = !atomic_;
    note("atomicity {} -> {}", atomic_, class_of(MPI_File_set_atomicity(file_, atomic_ ? 1 : 0)));
  }
}

void FileProgram::peek() {
  MPI_File other = MPI_FILE_NULL;
  int code = MPI_File_open(MPI_COMM_SELF, path_.c_str(), MPI_MODE_RDONLY, MPI_INFO_NULL, &other);
  note("another handle -> {}", class_of(code));
  MPI_Offset size = 0;
  MPI_File_get_size(other, &size);
  std::vector<char> bytes(static_cast<std::size_t>(std::min<MPI_Offset>(size, own_.pick(0, 5000))));
  const auto at = own_.pick(0, size - static_cast<MPI_Offset>(bytes.size()));
  code =
      MPI_File_read_at(other, at, bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, MPI_STATUS_IGNORE);
  note("reads {} of {} at {} -> {}: {:x}", bytes.size(), size, at, class_of(code), hash(bytes));
  MPI_File_close(&other);
  MPI_Barrier(comm_);
}

void FileProgram::resize() {
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

void FileProgram::where() {
  MPI_Offset here = -1;
  MPI_Offset byte = -1;
  MPI_File_get_position(file_, &here);
  MPI_File_get_byte_offset(file_, here, &byte);
  note("at {} byte {}", here, byte);
}
