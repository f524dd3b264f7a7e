#include "door/mpiio/open_file.hpp"

#include <strings.h>

#include <algorithm>
#include <cerrno>

#include "base/format.hpp"
#include "door/mpiio/type_cache.hpp"

namespace forebay::mpiio {

OpenFile::OpenFile(MPI_File real, MPI_Comm comm, int amode, Buffer& buffer, std::shared_ptr<File> engine)
    : real_(real), amode_(amode), buffer_(buffer), engine_(std::move(engine)), ranks_(comm) {
  const auto mine = buffer_.core().control.header().check;
  const auto all = ranks_.gather(mine);
  several_buffers_ = std::ranges::any_of(all, [&](auto one) { return one != mine; });
  number_in_buffer_ = static_cast<int>(std::count(all.begin(), all.begin() + ranks_.rank(), mine));
  ranks_in_buffer_ = static_cast<int>(std::ranges::count(all, mine));
  // Home's time of change may be this node's own, later than another's: it does not tell what is stale.
  if (several_buffers_) forget();
  if ((amode_ & MPI_MODE_APPEND) != 0) {
    if (const auto size = engine_->size()) position = static_cast<std::int64_t>(*size);
  }
}

void OpenFile::set_view(MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
                        const char* datarep) {
  position = 0;
  const auto type = known_type(filetype);
  const auto unit = known_type(etype);
  const bool served = ::strcasecmp(datarep, "native") == 0 && displacement >= 0 && type.flat != nullptr &&
                      unit.flat != nullptr && unit.flat->size != 0 && type.flat->monotonic();
  // Ranks may have different filetypes, but must go the same way.
  odd_view_ = !ranks_.all(served);
  view_ = odd_view_ ? View{} : View(displacement, unit.flat->size, *type.flat);
  if (odd_view_) note_passed("MPI-IO: a view of another data representation, or of a type that is not flat");
}

void OpenFile::prefetch(bool whole_in_every_buffer) {
  const auto size = engine_->size();
  if (!size || !readable()) return;
  const int number = whole_in_every_buffer ? number_in_buffer_ : ranks_.rank();
  const int parts = whole_in_every_buffer ? ranks_in_buffer_ : ranks_.size();
  const auto part = *size / static_cast<std::uint64_t>(parts) + 1;
  (void)engine_->prefetch(part * static_cast<std::uint64_t>(number), part);
}

Status OpenFile::make_way() {
  FOREBAY_TRY(engine_->drain());
  forget();
  return {};
}

Status OpenFile::settle() {
  const auto mine = make_way();
  if (ranks_.all(mine.has_value()) || !mine) return mine;
  return fail(EIO, format_text("another rank could not carry its part of {} home", engine_->path()));
}

void OpenFile::take_over_pointer() {
  MPI_Offset now = 0;
  if (PMPI_File_get_position(real_, &now) == MPI_SUCCESS) position = now;
}

void OpenFile::set_atomic(bool atomic) {
  if (atomic == atomic_) return;
  if (!odd_view_ && atomic) hand_over_pointer();
  if (!odd_view_ && !atomic) take_over_pointer();
  atomic_ = atomic;
}

Status OpenFile::truncate(std::uint64_t size) {
  Status mine;
  if (number_in_buffer_ == 0) mine = engine_->truncate(size);
  if (ranks_.all(mine.has_value()) || !mine) return mine;
  return fail(EIO, format_text("another rank could not give {} its size", engine_->path()));
}

}  // namespace forebay::mpiio
