// Accesses by the shared pointer.
#include <algorithm>

#include "file_program.hpp"
#include "journal.hpp"
#include "library.hpp"

void FileProgram::shared_part() {
  const auto etype = this->etype();
  const bool plain = (!bounded_ && !world_.gaps) || all_.chance(50);
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

void FileProgram::seek_shared(MPI_Offset to) {
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

void FileProgram::shared_step(MPI_Offset most) {
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
