// The shared file pointer of an open whose ranks all share a node: a word of memory that all of them map.
//
// One rank makes it and hands out a ticket; nothing with a name is left behind, whoever dies. In etypes, as
// MPI counts. take() and position() are for any thread at any time, the rest is part of collective calls.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "base/error.hpp"
#include "os/fd.hpp"
#include "os/mapping.hpp"

namespace forebay::mpiio {

class SharedPointer {
 public:
  // Where other processes find it, as numbers that MPI can carry.
  struct Ticket {
    std::int64_t where = 0;  // process and descriptor; 0: nowhere
    std::int64_t stamp = 0;  // so that another file in its place is told apart
  };

  static Result<SharedPointer> make(std::int64_t position);
  static Result<SharedPointer> find(const Ticket& ticket);

  [[nodiscard]] Ticket ticket() const;
  // Nobody looks for it any more.
  void found_by_all() { file_.reset(); }

  // Moves it, and tells where it was.
  std::int64_t take(std::int64_t etypes) const { return word().fetch_add(etypes); }
  [[nodiscard]] std::int64_t position() const { return word().load(); }
  void set(std::int64_t position) const { word().store(position); }

  // Begins at 0 again. Each rank does so once all have come, and `first` is true for one of them. Nobody
  // waits: the word of the next turn was made ready in the last one, when nobody used it.
  void restart(bool first);

 private:
  struct Page {
    std::atomic<std::int64_t> stamp;
    std::array<std::atomic<std::int64_t>, 2> words;  // by turns
  };

  explicit SharedPointer(Mapping mapping) : mapping_(std::move(mapping)) {}
  [[nodiscard]] Page& page() const { return *reinterpret_cast<Page*>(mapping_.data()); }
  [[nodiscard]] std::atomic<std::int64_t>& word() const { return page().words[turn_]; }

  Mapping mapping_;
  Fd file_{};
  std::uint32_t turn_ = 0;
};

}  // namespace forebay::mpiio
