#include "session.hpp"

#include <H5VLconnector.h>
#include <H5VLconnector_passthru.h>
#include <mpi.h>

#include <algorithm>
#include <filesystem>

#include "base/format.hpp"
#include "config/load.hpp"
#include "door/hdf5/native_dataset.hpp"

namespace forebay::hdf5 {

std::string Session::tier_folder(const std::string& folder) {
  const auto own = format_text("{}/tier{}", folder, rank_here);
  std::filesystem::create_directories(own);
  return own;
}

Session::Session(const std::string& folder, unsigned seed, int buffers)
    : path_(folder + "/data.h5"),
      buffers_(buffers),
      dice_{std::mt19937(seed), std::mt19937(seed * 100u + static_cast<unsigned>(rank_here))} {
  LoadOptions options;
  options.overrides = {format_text("buffer.directory={}/buffer{}", folder, rank_here % std::max(buffers, 1)),
                       "buffer.bucket_size=4KiB", "buffer.max_processes=16",
                       format_text("tiers=memory:{}:2MiB", folder)};
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

void Session::open(bool create, bool writable) {
  note(create ? "create file" : writable ? "open file" : "open file to read");
  {
    auto ranks = Ranks::of(access_.get());
    expect(ranks != nullptr, "no ranks");
    must(ParallelFile::settle(buffer_.get(), path_, *ranks), "settle");
    file_id_ = Hid(create ? H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, creation_.get(), access_.get())
                          : H5Fopen(path_.c_str(), writable ? H5F_ACC_RDWR : H5F_ACC_RDONLY, access_.get()));
    expect(static_cast<bool>(file_id_), "H5Fopen");
    file_ = must(ParallelFile::open(buffer_.get(), path_, writable,
                                    reads_metadata_collectively(access_.get()), std::move(ranks)),
                 "open");
  }
  writable_ = writable;
}

void Session::close() {
  note("close file");
  for (auto& [name, dataset] : datasets_) close_dataset(dataset);
  must(file_->close(), "close");
  expect(H5Fclose(file_id_.release()) >= 0, "H5Fclose");
  file_.reset();
  if (buffers_ > 1) MPI_Barrier(MPI_COMM_WORLD);
}

void Session::attach_engine(Dataset& dataset) {
  const Inside inside;
  dataset.engine = std::make_unique<ParallelDataset>(file_, H5VLobject(dataset.id.get()), native_.get());
}

Dataset& Session::opened(const std::string& name) {
  auto& dataset = datasets_.at(name);
  if (!dataset.engine) {
    dataset.id = Hid(H5Dopen2(file_id_.get(), name.c_str(), dataset_access_.get()));
    expect(static_cast<bool>(dataset.id), "H5Dopen " + name);
    attach_engine(dataset);
  }
  return dataset;
}

void Session::close_dataset(Dataset& dataset) {
  dataset.engine.reset();
  dataset.id = Hid();
  dataset.shrunk = false;
}

std::string Session::create_dataset(bool chunked, bool filtered, hsize_t rows) {
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

std::string Session::any() {
  auto it = datasets_.begin();
  std::advance(it, dice_.pick(0, datasets_.size() - 1));
  return it->first;
}

void Session::resize(const std::string& name, hsize_t rows) {
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

void Session::unlink(const std::string& name) {
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

void Session::copy(const std::string& name) {
  if (datasets_.at(name).shrunk) return;
  const auto target = format_text("d{}", ++names_);
  note(format_text("copy {} to {}", name, target));
  must(file_->settle(), "settle");
  expect(H5Ocopy(file_id_.get(), name.c_str(), file_id_.get(), target.c_str(), H5P_DEFAULT, H5P_DEFAULT) >= 0,
         "H5Ocopy");
  file_->allocated();
  const auto& from = datasets_.at(name);
  auto& to = datasets_[target];
  to.content = from.content;
  to.chunked = from.chunked;
  to.filtered = from.filtered;
}

void Session::flush() {
  note("flush");
  must(file_->flush(), "flush");
  expect(H5Fflush(file_id_.get(), H5F_SCOPE_GLOBAL) >= 0, "H5Fflush");
  MPI_Barrier(MPI_COMM_WORLD);
}

void Session::compare_natively() {
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
    die(format_text("in the end {}[{}, {}] of {} rows is {}, must be {}", name, at / kColumns, at % kColumns,
                    dataset.rows(), *h, *w));
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

void Session::close_dataset(const std::string& name) {
  note("close " + name);
  close_dataset(datasets_.at(name));
}

}  // namespace forebay::hdf5
