#include "door/mpiio/open_file.hpp"

#include <strings.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "base/format.hpp"
#include "door/mpiio/type_cache.hpp"

namespace forebay::mpiio {
namespace {

// The buffer that all ranks of the job were found to share, once they have opened a file together.
constinit std::atomic<std::uint64_t> buffer_of_the_job = 0;

// File systems tell times of change in steps: a change that comes soon after another may have the same time.
bool may_have_changed_since(std::int64_t changed_ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  constexpr std::int64_t kTick = 20'000'000;
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const auto age = now.tv_sec * kSecond + now.tv_nsec - changed_ns;
  return age < (changed_ns % kSecond == 0 ? 2 * kSecond : kTick);
}

}  // namespace

OpenFile::OpenFile(MPI_File real, MPI_Comm comm, int amode, Buffer& buffer, std::shared_ptr<File> engine,
                   std::optional<SharedPointer> shared)
    : real_(real),
      amode_(amode),
      buffer_(buffer),
      engine_(std::move(engine)),
      ranks_(comm),
      shared_(std::move(shared)) {
  const Ranks::Pair mine{buffer_.core().control.header().check, shared_ ? 1u : 0u};
  const auto all = ranks_.gather(mine);
  if (shared_) shared_->found_by_all();
  if (std::ranges::any_of(all, [](const auto& one) { return one[1] == 0; })) shared_.reset();
  const bool several_buffers = std::ranges::any_of(all, [&](auto one) { return one[0] != mine[0]; });
  if (!several_buffers && ranks_.everybody()) buffer_of_the_job = mine[0];
  others_elsewhere_ = several_buffers || buffer_of_the_job != mine[0];
  const auto buffer_of = [](const Ranks::Pair& one) { return one[0]; };
  number_in_buffer_ =
      static_cast<int>(std::ranges::count(all.begin(), all.begin() + ranks_.rank(), mine[0], buffer_of));
  ranks_in_buffer_ = static_cast<int>(std::ranges::count(all, mine[0], buffer_of));
  if (several_buffers) shared_.reset();
  choose_sieving();
  // Home's time of change may be this node's own, later than another's: it does not tell what is stale.
  if (several_buffers || may_be_stale()) forget();
  doubt_recent_change();
  if ((amode_ & MPI_MODE_APPEND) != 0) {
    if (const auto size = engine_->size()) position = static_cast<std::int64_t>(*size);
  }
}

bool OpenFile::may_be_stale() const {
  // Somebody here may be writing to it, so that home's time of change is this node's own. What is kept goes
  // when that one closes it.
  const auto& record = buffer_.core().control.file(engine_->number());
  return others_elsewhere_ && record.dirty_end.load() != 0 && record.opens_hint.load() > 1;
}

void OpenFile::doubt_recent_change() {
  if (!others_elsewhere_) return;
  auto& record = buffer_.core().control.file(engine_->number());
  auto changed = record.home_modified_ns.load();
  if (may_have_changed_since(changed)) record.home_modified_ns.compare_exchange_strong(changed, 0);
}

Status OpenFile::close() {
  if (others_elsewhere_ && writable()) forget();
  auto status = engine_->close();
  doubt_recent_change();
  return status;
}

Status OpenFile::set_view(MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
                          const char* datarep) {
  position = 0;
  const auto type = known_type(filetype);
  const auto unit = known_type(etype);
  const bool served = ::strcasecmp(datarep, "native") == 0 && displacement >= 0 && type.flat != nullptr &&
                      unit.flat != nullptr && unit.flat->size != 0 && type.flat->monotonic();
  // Ranks may have different filetypes, but must go the same way.
  view_ = served ? View(displacement, unit.flat->size, *type.flat) : View{};
  // Where others may write elsewhere MPI's sieving is switched off, and it writes piece by piece, too.
  sparse_ = served && shared_ && writable() && view_.sparse(ranks_.size()) && may_sieve(real_);
  const auto agreed = ranks_.least(!served ? 0 : sparse_ ? 2 : 1);
  odd_view_ = agreed == 0;
  all_sparse_ = agreed == 2;
  if (shared_) shared_->restart(ranks_.rank() == 0);
  choose_sieving();
  if (!odd_view_) return {};
  view_ = View{};
  sparse_ = false;
  // From now on MPI writes, and may write again what lies between.
  return settle();
}

std::string_view OpenFile::why_passed() const {
  if (atomic_) return "MPI-IO: atomic mode";
  if (odd_view_) return "MPI-IO: a view of another data representation, or of a type that is not flat";
  return "MPI-IO: a pointer shared by ranks that do not share a buffer";
}

void OpenFile::prefetch() {
  const bool whole_in_every_buffer = wished.prefetch == PrefetchAtOpen::File;
  if (!whole_in_every_buffer && wished.prefetch != PrefetchAtOpen::Part) return;
  const auto size = engine_->size();
  if (!size || !readable()) return;
  const int number = whole_in_every_buffer ? number_in_buffer_ : ranks_.rank();
  const int parts = whole_in_every_buffer ? ranks_in_buffer_ : ranks_.size();
  const auto part = *size / static_cast<std::uint64_t>(parts) + 1;
  (void)engine_->prefetch(part * static_cast<std::uint64_t>(number), part);
}

Status OpenFile::bring_home() {
  const bool plainly = writable() && engine_->settings().mode != Mode::Scratch;
  return plainly ? engine_->drain() : engine_->drain_all();
}

Status OpenFile::make_way() {
  FOREBAY_TRY(bring_home());
  forget();
  return {};
}

void OpenFile::end_requests() {
  PMPI_Waitall(static_cast<int>(to_end_.size()), to_end_.data(), MPI_STATUSES_IGNORE);
  to_end_.clear();
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
  atomic_ = atomic;
  choose_sieving();
  if (odd_view_) return;
  if (atomic) {
    hand_over_pointer();
    if (shared_ && shared_->position() != 0) PMPI_File_seek_shared(real_, shared_->position(), MPI_SEEK_SET);
  } else {
    take_over_pointer();
    if (shared_) take_over_shared_pointer();
  }
}

void OpenFile::choose_sieving() {
  if (shared_ || !writable()) return;
  passes_all() ? sieving_.switch_on_again(real_) : sieving_.switch_off(real_);
}

void OpenFile::take_over_shared_pointer() {
  MPI_Offset now = 0;
  if (ranks_.rank() == 0 && PMPI_File_get_position_shared(real_, &now) == MPI_SUCCESS) shared_->set(now);
  ranks_.barrier();
}

Status OpenFile::truncate(std::uint64_t size) {
  Status mine;
  if (number_in_buffer_ == 0) mine = engine_->truncate(size);
  if (ranks_.all(mine.has_value()) || !mine) return mine;
  return fail(EIO, format_text("another rank could not give {} its size", engine_->path()));
}

}  // namespace forebay::mpiio
