#include "door/hdf5/parallel_call.hpp"

#include <algorithm>
#include <utility>

namespace forebay::hdf5 {

void ParallelCall::add(ParallelDataset& dataset, const TransferCall& request, const void* memory,
                       Transfer::Direction direction) {
  parts_.push_back({&dataset, dataset.plan(request, memory, direction)});
}

void ParallelCall::leave(Part& part, Reason why) {
  if (!part.plan.transfer) return;
  part.plan.transfer.reset();
  part.plan.why = why;
}

void ParallelCall::refuse_all() {
  for (auto& part : parts_) leave(part, Reason::kSelection);
}

std::uint64_t ParallelCall::fingerprint() const {
  std::uint64_t sum = 0;
  for (const auto& part : parts_) {
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;  // so that the order counts
    sum = (sum + part.dataset->identity() + 1) * kOdd;
    sum ^= sum >> 32;
  }
  return sum;
}

Status ParallelCall::agree() {
  if (!collective_ || file_.atomic()) return {};
  // Beside one that is not served, HDF5 converts elements in independent transfers only, and tells so.
  const bool whole =
      std::ranges::all_of(parts_, [](const Part& part) { return part.plan.transfer.has_value(); });
  const auto served_here = [whole](const Part& part) {
    return part.plan.transfer ? whole || !part.plan.transfer->converts() : !of_one_call(part.plan.why);
  };
  const bool calm =
      std::ranges::none_of(parts_, [](const Part& part) { return part.dataset->must_settle(part.plan); });
  const auto met = file_.ranks().meet(fingerprint(), std::ranges::all_of(parts_, served_here), calm);
  if (met.same && met.first && met.second) return {};
  FOREBAY_TRY(file_.settle());
  if (!met.same) {
    for (auto& part : parts_) leave(part, Reason::kAnotherRank);
  } else if (!met.first) {
    std::vector<int> everywhere;
    for (const auto& part : parts_) everywhere.push_back(served_here(part) ? 1 : 0);
    // One dataset is the one that somebody cannot be served.
    if (parts_.size() == 1) everywhere[0] = 0;
    if (parts_.size() > 1) file_.ranks().all(everywhere);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (everywhere[i] == 0) leave(parts_[i], Reason::kAnotherRank);
    }
  }
  return {};
}

Status ParallelCall::write(std::size_t index, const void* memory) {
  auto& part = parts_[index];
  return part.dataset->write(part.plan, memory);
}

Status ParallelCall::read(std::size_t index, void* memory) {
  auto& part = parts_[index];
  return part.dataset->read(part.plan, memory);
}

Status ParallelCall::before_native() {
  if (collective_) return {};  // agree() has seen to it
  const bool meets_ours = std::ranges::any_of(parts_, [](const Part& part) {
    return !part.plan.transfer && (of_one_call(part.plan.why) || part.dataset->must_settle(part.plan));
  });
  return meets_ours ? file_.drain() : Status{};
}

void ParallelCall::written_natively() {
  for (const auto& part : parts_) {
    if (!part.plan.transfer) part.dataset->written_natively();
  }
}

bool ParallelCall::partly_served() const {
  const auto served =
      std::ranges::count_if(parts_, [](const Part& part) { return part.plan.transfer.has_value(); });
  return served != 0 && served != std::ssize(parts_);
}

void ParallelCall::tell(Transfer::Direction direction) const {
  const bool whole =
      std::ranges::all_of(parts_, [](const Part& part) { return part.plan.transfer.has_value(); });
  if (!whole || is_default_list(transfer_)) return;
  const bool in_place = direction == Transfer::Direction::kRead || modifies_memory(transfer_);
  TransferFacts sum{};
  for (const auto& part : parts_) {
    const auto facts = part.dataset->facts(part.plan, in_place);
    sum.chunked |= facts.chunked;
    sum.cached_chunks |= facts.cached_chunks;
    sum.converts |= facts.converts;
    sum.converted += facts.converted;
    sum.moved += facts.moved;
  }
  tell_mode(transfer_, sum);
}

}  // namespace forebay::hdf5
