// Accesses by offset and by the individual pointer.
#include <algorithm>
#include <vector>

#include "file_program.hpp"
#include "journal.hpp"
#include "library.hpp"

void FileProgram::part() {
  if (size_ > 1 && all_.chance(20)) return shared_part();
  const Share share = (!bounded_ && !world_.gaps) || all_.chance(35) ? plain_view()
                      : all_.chance(60)                              ? interleaved()
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

void FileProgram::independent(const Share& share) {
  const auto dice = own_.pick(0, 99);
  if (dice < 6) return seek(share);
  if (dice < 9) return mistake();
  if (dice < 12) return where();
  if (dice < 20) return several(share);
  step(pick_operation(own_, false), share);
}

bool FileProgram::may_do(const Operation& one) const {
  if (one.writes ? !writable_ : !readable_) return false;
  return bounded_ || one.writes || (!one.collective && one.name[0] == 'r');
}

const Operation& FileProgram::pick_operation(Dice& dice, bool collective) const {
  for (;;) {
    const auto all = operations();
    const auto& one = all[static_cast<std::size_t>(dice.pick(0, static_cast<std::int64_t>(all.size()) - 1))];
    if (one.collective == collective && !one.shared && may_do(one)) return one;
  }
}

void FileProgram::seek(const Share& share) {
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

void FileProgram::mistake() {
  int value = 0;
  MPI_Status status;
  int code = MPI_SUCCESS;
  const auto which = own_.pick(0, 4);
  if (which == 0) code = MPI_File_read_at(file_, 0, &value, -1, MPI_INT, &status);
  if (which == 1 && library.judges_offsets) code = MPI_File_write_at(file_, -5, &value, 1, MPI_INT, &status);
  if (which == 2) code = MPI_File_seek(file_, 0, 12345);
  if (which == 3) code = MPI_File_read(file_, &value, 1, MPI_DATATYPE_NULL, &status);
  if (which == 4) code = MPI_File_seek(file_, -1, MPI_SEEK_SET);
  note("mistake {} -> {}", which, class_of(code));
  MPI_File_seek(file_, position_, MPI_SEEK_SET);
}

void FileProgram::step(const Operation& operation, const Share& share) {
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

void FileProgram::several(const Share& share) {
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
    const int code = one.start(file_, share.first + i * room, buffers.back().data(), static_cast<int>(etypes),
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

void FileProgram::fill(std::vector<char>& buffer) {
  auto word = own_.engine();
  for (auto& byte : buffer) byte = static_cast<char>((word = word * 6364136223846793005u + 1) >> 56);
}

void FileProgram::move(const Operation& operation, MPI_Offset offset, const Type& memory, int count) {
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
