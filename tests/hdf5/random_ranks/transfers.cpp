#include "session.hpp"

#include <H5VLconnector.h>
#include <H5VLconnector_passthru.h>
#include <mpi.h>

#include <algorithm>
#include <filesystem>

#include "base/format.hpp"

namespace forebay::hdf5 {

std::vector<Session::Part> Session::parts(const Dataset& dataset) {
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

Hid Session::select(const Dataset& dataset, const Part& part) {
  const hsize_t dims[] = {dataset.rows(), kColumns};
  Hid space(H5Screate_simple(2, dims, nullptr));
  if (part.count[0] == 0) {
    H5Sselect_none(space.get());
  } else {
    H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, part.start, nullptr, part.count, nullptr);
  }
  return space;
}

hid_t Session::transfer_list(bool collective, const Dataset& dataset, Odd odd) {
  // HDF5's own: a rank that looks up chunks alone where metadata are read together comes out of step.
  const bool may_be_odd = collective ? !dataset.shrunk : !collective_metadata_ && !dataset.shrunk;
  const bool is_odd = odd == Odd::kRankZero ? rank_here == 0 : odd == Odd::kPerhaps && dice_.own_chance(10);
  if (may_be_odd && is_odd) return collective ? odd_collective_.get() : odd_.get();
  return collective ? collective_.get() : H5P_DEFAULT;
}

Hid Session::memory_of(const Part& part) {
  const hsize_t count = part.count[0] * part.count[1];
  const hsize_t length = std::max<hsize_t>(count, 1);
  Hid space(H5Screate_simple(1, &length, nullptr));
  if (count == 0) H5Sselect_none(space.get());
  return space;
}

bool Session::is_served(ParallelCall& call, Dataset& dataset, const TransferCall& request, const void* memory,
                        Transfer::Direction direction) const {
  if (buffers_ == 0) return false;
  const Inside inside;
  call.add(*dataset.engine, request, memory, direction);
  must(call.agree(), "agree");
  if (call.serves(0)) return true;
  must(call.before_native(), "before_native");
  return false;
}

void Session::meet() {
  if (buffers_ == 0) MPI_Barrier(MPI_COMM_WORLD);
  if (!pending_) return;
  pending_ = false;
  if (buffers_ > 1) {
    flush();
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

void Session::write(const std::string& name, bool collective, Odd odd) {
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
  expect(
      H5Dwrite(dataset.id.get(), H5T_NATIVE_INT32, memory_space.get(), space.get(), list, memory.data()) >= 0,
      "H5Dwrite");
  {
    const Inside inside;
    call.written_natively();
  }
  pending_ = true;
}

void Session::read(const std::string& name, bool collective, Odd odd) {
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
        die(format_text("{}[{}, {}] of {} rows is {}, must be {}", name, mine.start[0] + i, mine.start[1] + j,
                        dataset.rows(), have, want));
    }
  }
  // Nobody may change it before all have looked.
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace forebay::hdf5
