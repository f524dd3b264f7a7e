#include "door/hdf5/parallel_dataset.hpp"

#include <hdf5.h>

#include <H5VLconnector.h>
#include <H5VLconnector_passthru.h>
#include <H5VLnative.h>

#include <algorithm>
#include <array>

#include "door/hdf5/native_dataset.hpp"
#include "door/hdf5/quiet.hpp"

namespace forebay::hdf5 {
namespace {

constexpr std::uint64_t kNear = 64u << 10;  // prefetched with one request

// Looking at so many chunks takes about as long as a request to home, and it does not pay for a dataset that
// was looked at so often as a whole.
constexpr std::uint64_t kManyChunks = 1u << 14;
constexpr std::uint64_t kOften = 64;

// Refused for good through this handle, whatever becomes of the dataset.
bool for_good(Reason why) { return why == Reason::kUnlinked || why == Reason::kGrowsByLittle; }
// May a transfer that is refused for this reason go to bytes which are served to others? Through a virtual
// dataset HDF5 goes to those of other datasets, and the same dataset may be served through another handle.
bool reaches_staged(Reason why) { return why == Reason::kVirtual || for_good(why); }

}  // namespace

ParallelDataset::ParallelDataset(std::shared_ptr<ParallelFile> file, void* under, hid_t connector)
    : file_(std::move(file)), under_(under), connector_(connector), resizings_(file_->resizings_) {
  if (!file_->collective_metadata_) return;
  unlinkings_ = file_->unlinkings_;
  (void)map();  // D3
}

bool ParallelDataset::linked() const {
  const Quiet quiet;
  H5VL_loc_params_t self{};
  self.type = H5VL_OBJECT_BY_SELF;
  self.obj_type = H5I_DATASET;
  H5O_info2_t info{};
  H5VL_object_get_args_t args{};
  args.op_type = H5VL_OBJECT_GET_INFO;
  args.args.get_info.oinfo = &info;
  args.args.get_info.fields = H5O_INFO_BASIC;
  return H5VLobject_get(under_, &self, connector_, &args, H5P_DATASET_XFER_DEFAULT, nullptr) >= 0 &&
         info.rc > 0;
}

const ParallelDataset::Map& ParallelDataset::map() {
  if (unlinkings_ != file_->unlinkings_) {
    unlinkings_ = file_->unlinkings_;
    if (file_->collective_metadata_ || !linked()) map_ = Map(std::unexpect, Reason::kUnlinked);
  }
  const bool settled = map_ && !*map_ && for_good(map_->error());
  // What is contiguous cannot be resized, and why something is refused does not change with its size, but for
  // that there is nothing.
  const bool resized = resizings_ != file_->resizings_ && map_ &&
                       (*map_ ? (*map_)->chunked() : map_->error() >= Reason::kNotAllocated);
  if (!map_ || (resized && !settled)) look_again();
  resizings_ = file_->resizings_;
  cuts_ = file_->cuts_;
  return *map_;
}

void ParallelDataset::look_again() {
  if (!map_ || !*map_ || cuts_ != file_->cuts_) {
    map_ = DatasetMap::make(under_, connector_, file_->writable());
    return;
  }
  // Nothing of the file was cut: another dataset was resized, or this one has grown.
  std::array<hsize_t, H5S_MAX_RANK> now{};
  const auto space = ask(under_, connector_, H5VL_DATASET_GET_SPACE);
  const auto before = (*map_)->dims();
  if (H5Sget_simple_extent_dims(space.get(), now.data(), nullptr) == static_cast<int>(before.size()) &&
      std::equal(before.begin(), before.end(), now.begin())) {
    return;
  }
  if (const auto grown = (*map_)->grow(under_, connector_, file_->writable()); !grown)
    map_ = Map(std::unexpect, grown.error());
}

std::optional<Reason> ParallelDataset::refusal() {
  const auto& known = map();
  return known ? std::nullopt : std::optional(known.error());
}

ParallelDataset::Plan ParallelDataset::plan(const TransferCall& request, const void* memory,
                                            Transfer::Direction direction) {
  if (file_->atomic_) return {.why = Reason::kAtomic};
  const auto& known = map();
  if (!known) return {.why = known.error()};
  auto transfer = Transfer::plan(*known, request, memory, direction);
  if (!transfer) return {.why = transfer.error()};
  return {.transfer = std::move(*transfer)};
}

std::uint64_t ParallelDataset::identity() {
  const auto& known = map();
  // Nothing in a file starts where it ends.
  return known ? known->start() : ~static_cast<std::uint64_t>(known.error());
}

bool ParallelDataset::must_settle(const Plan& plan) {
  if (!plan.transfer && reaches_staged(plan.why)) return true;
  const auto& known = map();
  return known && file_->several_buffers_ && file_->staged_.contains(known->start());
}

Status ParallelDataset::write(Plan& plan, const void* memory) {
  if (file_->several_buffers_) file_->staged_.insert((*map_)->start());
  return plan.transfer->write(memory, *file_);
}

Status ParallelDataset::read(Plan& plan, void* memory) { return plan.transfer->read(memory, *file_); }

TransferFacts ParallelDataset::facts(const Plan& plan, bool in_place) const {
  const auto& transfer = *plan.transfer;
  const bool chunked = (*map_)->chunked();
  const bool buffered = transfer.converts() && !(in_place && transfer.fits_in_memory());
  return {.chunked = chunked,
          .cached_chunks = chunked && !file_->writable(),
          .converts = transfer.converts(),
          .converted = buffered ? transfer.bytes() : 0,
          .moved = transfer.bytes()};
}

void ParallelDataset::written_natively() {
  if (file_->atomic_) return;
  const auto& known = map();
  if (known || reaches_staged(known.error())) file_->forget();
}

Status ParallelDataset::before_resize(std::span<const hsize_t> dims) {
  cut_ = false;
  std::array<hsize_t, H5S_MAX_RANK> now{};
  const int rank =
      H5Sget_simple_extent_dims(ask(under_, connector_, H5VL_DATASET_GET_SPACE).get(), now.data(), nullptr);
  for (std::size_t d = 0; static_cast<int>(d) < rank && d < dims.size(); ++d) cut_ |= dims[d] < now[d];
  // A dataset that grows is looked at when it is next read or written.
  shrank_ = cut_ && map() && !file_->atomic_;
  const bool stops = !cut_ && outgrows(dims);
  if (shrank_ || stops) FOREBAY_TRY(file_->settle());
  if (stops) map_ = Map(std::unexpect, Reason::kGrowsByLittle);
  if (!fills_) fills_ = fills_chunks(ask(under_, connector_, H5VL_DATASET_GET_DCPL).get());
  if (*fills_) held_.emplace(file_.get());
  return {};
}

// From what is the same on all ranks. Where metadata are read collectively, a native call of one rank alone
// might not return.
bool ParallelDataset::outgrows(std::span<const hsize_t> dims) {
  if (file_->collective_metadata_ || (map_ && !*map_ && for_good(map_->error()))) return false;
  std::array<hsize_t, H5S_MAX_RANK> chunk{};
  const auto creation = ask(under_, connector_, H5VL_DATASET_GET_DCPL);
  const Quiet quiet;
  const int rank = H5Pget_chunk(creation.get(), H5S_MAX_RANK, chunk.data());
  std::uint64_t chunks = rank > 0 ? 1 : 0;
  for (std::size_t d = 0; static_cast<int>(d) < rank; ++d) chunks *= (dims[d] + chunk[d] - 1) / chunk[d];
  growth_ += chunks;
  return chunks > kManyChunks && growth_ / chunks > kOften;
}

// B7: of a chunk that was cut, HDF5 has the rest, filled anew, in its chunk cache, and would write it with
// the next flush, over what we have written by then. H5Dflush is not for parallel files; counting the chunks
// writes them.
void ParallelDataset::write_back() const {
  const Quiet quiet;
  hsize_t chunks = 0;
  H5VL_native_dataset_optional_args_t native{};
  native.get_num_chunks.space_id = H5S_ALL;
  native.get_num_chunks.nchunks = &chunks;
  H5VL_optional_args_t args{};
  args.op_type = H5VL_NATIVE_DATASET_GET_NUM_CHUNKS;
  args.args = &native;
  (void)H5VLdataset_optional(under_, connector_, &args, H5P_DATASET_XFER_DEFAULT, nullptr);
}

void ParallelDataset::resized() {
  if (shrank_) write_back();
  ++file_->resizings_;
  if (cut_) ++file_->cuts_;
  if (shrank_ && !held_) file_->ranks_->barrier();
  held_.reset();
  if (file_->collective_metadata_) (void)map();  // D3
}

std::vector<Ticket> ParallelDataset::prefetch(hid_t file_space) {
  std::vector<Ticket> tickets;
  const auto& known = map();
  if (!known || file_->writable()) return tickets;
  auto selection = file_space == H5S_ALL ? Selection(known->elements()) : Selection(file_space);
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  const auto bring = [&] {
    if (end > start) tickets.push_back(file_->engine_file().prefetch(start, end - start));
  };
  for (auto left = selection.elements(); left != 0;) {
    const auto run = selection.take(left);
    if (run.count == 0) break;
    left -= run.count;
    known->locate(run.first, run.count, [&](std::uint64_t at, std::uint64_t length) {
      if (at == kHole) return;
      if (end != 0 && at >= start && at <= end + kNear) {
        end = std::max(end, at + length);
        return;
      }
      bring();
      start = at;
      end = at + length;
    });
  }
  bring();
  return tickets;
}

}  // namespace forebay::hdf5
