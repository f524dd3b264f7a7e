// What of the file the ranks look at, and which part of that is whose.
#include <format>

#include "file_program.hpp"
#include "journal.hpp"

void FileProgram::set_view(MPI_Offset displacement, const Type& etype, const Type& filetype) {
  const int code = MPI_File_set_view(file_, displacement, *etype, *filetype, "native", MPI_INFO_NULL);
  note("view at {} etype {} filetype {} of {} -> {}", displacement, size_of(etype), size_of(filetype),
       extent_of(filetype), class_of(code));
  position_ = 0;
}

Type FileProgram::etype() {
  for (;;) {
    auto one = random_etype(all_);
    if (bounded_ || world_.gaps || size_of(one) == extent_of(one)) return one;
  }
}

Share FileProgram::plain_view() {
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

Share FileProgram::interleaved() {
  const auto etype = this->etype();
  const auto tile = random_type(all_, etype, 2, true);
  const auto extent = extent_of(tile);
  set_view(all_.pick(0, 64) + rank_ * extent, etype, resized(tile, extent * size_));
  const auto tiles = region_ / extent;
  return {etype, tiles * size_of(tile) / size_of(etype), 0};
}

Share FileProgram::apart() {
  const auto etype = this->etype();
  const auto tile = random_type(own_, etype, 2, true);
  set_view(all_.pick(0, 64) + rank_ * region_, etype, tile);
  const auto tiles = region_ / extent_of(tile);
  return {etype, tiles * size_of(tile) / size_of(etype), 0};
}
