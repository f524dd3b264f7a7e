// A file that the program has open and the engine beside it.
//
// The real handle has the same view and error handler as ours at all times, so that any call can be left to
// it: docs/mpiio-invariants.md. Used as MPI allows: by several threads at once for data, by one for what
// is collective.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "door/mpiio/only_name.hpp"
#include "door/mpiio/ranks.hpp"
#include "door/mpiio/shared_pointer.hpp"
#include "door/mpiio/sieving.hpp"
#include "door/mpiio/view.hpp"
#include "engine/buffer.hpp"

namespace forebay::mpiio {

enum class Way { kRead, kWrite };
enum class Pointer { kExplicit, kIndividual, kShared, kOrdered };

// A split collective operation between its begin and its end. What it moved has moved already.
struct Split {
  std::string_view operation;
  std::uint64_t bytes;
};

// What was asked for at open, by hints or settings, and the engine's settings do not tell.
struct Wished {
  PrefetchAtOpen prefetch = PrefetchAtOpen::None;
  std::string path{};
};

class OpenFile {
 public:
  // Collective. `comm` is that of the open. `shared`: what this rank has of the shared pointer.
  OpenFile(MPI_File real, MPI_Comm comm, int amode, Buffer& buffer, std::shared_ptr<File> engine,
           std::optional<SharedPointer> shared);

  [[nodiscard]] bool readable() const { return (amode_ & (MPI_MODE_RDONLY | MPI_MODE_RDWR)) != 0; }
  [[nodiscard]] bool writable() const { return (amode_ & (MPI_MODE_WRONLY | MPI_MODE_RDWR)) != 0; }
  [[nodiscard]] bool deletes_on_close() const { return (amode_ & MPI_MODE_DELETE_ON_CLOSE) != 0; }

  // Are all accesses of this kind left to the real handle, on every rank alike? Then its pointers are the
  // true ones.
  [[nodiscard]] bool passes(Pointer pointer) const {
    return passes_all() || (!shared_ && (pointer == Pointer::kShared || pointer == Pointer::kOrdered));
  }
  // Of any kind? Then what is at home may have been written by MPI itself.
  [[nodiscard]] bool passes_some() const { return passes(Pointer::kShared); }
  // Of every kind? Then no rank of this open stages anything.
  [[nodiscard]] bool passes_all() const { return atomic_ || odd_view_; }
  [[nodiscard]] std::string_view why_passed() const;

  // Collective, after PMPI_File_set_view did the same.
  Status set_view(MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype, const char* datarep);
  // Collective, around the native call: what was written is home before, and nothing stale is kept.
  Status settle();
  void set_atomic(bool atomic);
  // Collective, after the real handle's shared pointer was moved: ours is there, too.
  void take_over_shared_pointer();
  // Collective, after the native call made home that long.
  Status truncate(std::uint64_t size);

  // Keeps this node's drains from the file while MPI writes it. For writes of this rank only: N1a.
  class NativeWrite {
   public:
    explicit NativeWrite(OpenFile& file) : file_(file) { file_.engine_->hold_drain(); }
    NativeWrite(const NativeWrite&) = delete;
    NativeWrite& operator=(const NativeWrite&) = delete;
    ~NativeWrite() { file_.engine_->let_drain_go(); }

   private:
    OpenFile& file_;
  };
  // Would the drain carry so many pieces of this view home one by one, where MPI writes large blocks with
  // what lies between them? Not if other ranks may fill the gaps.
  [[nodiscard]] bool better_natively(std::uint64_t bytes) const {
    return sparse_ && bytes >= kManyPieces * view_.mean_piece();
  }
  // The same view by view, and agreed upon: collective calls ask (data_calls.cpp).
  [[nodiscard]] bool all_sparse() const { return all_sparse_; }

  // Begins to bring the file as wished, in the background, and nobody waits for it: each rank a part.
  // Together all ranks bring it once, or, if every buffer is to have it whole, those of each buffer do.
  void prefetch();

  // Collective, before what is unsaved goes home: all ranks have staged what they wrote until then. Pieces
  // that they interleaved lie together by now, and go in large writes.
  void await_writers() const {
    if (writable()) ranks_.barrier();
  }

  // Nothing this node has of the file is unsaved, whoever wrote it. Also of a file that is only read here,
  // and of one that never goes home by itself (mode: scratch).
  Status bring_home();
  // The same, and nothing clean is kept: the real handle may go on.
  Status make_way();
  // The individual pointer goes to the real handle before a native call that uses it, and comes back.
  void hand_over_pointer() { PMPI_File_seek(real_, position, MPI_SEEK_SET); }
  void take_over_pointer();
  void forget() { (void)engine_->forget(); }
  // Before it is removed.
  [[nodiscard]] OnlyName only_name() const { return {buffer_, engine_->home().fd(), engine_->path()}; }
  // The engine's part. What others wrote on other nodes is not kept beyond it.
  Status close();

  // A native operation that the others take part in, and that the program knows nothing of.
  void end_at_close(MPI_Request request) { to_end_.push_back(request); }
  void end_requests();

  [[nodiscard]] const View& view() const { return view_; }
  [[nodiscard]] MPI_File real() const { return real_; }
  [[nodiscard]] File& engine() { return *engine_; }
  [[nodiscard]] const Ranks& ranks() const { return ranks_; }
  // May ranks that do not share this one's buffer write it? What they synced is to be seen after a sync, and
  // what they closed after an open.
  [[nodiscard]] bool others_elsewhere() const { return others_elsewhere_; }
  // Only where the file does not pass Pointer::kShared.
  [[nodiscard]] const SharedPointer& shared() const { return *shared_; }
  // Collective, after anything it depends on: N1a. MPI's own calls do not write again what lies between the
  // pieces, unless nobody stages anything.
  void choose_sieving();
  [[nodiscard]] const SievingHint& sieving() const { return sieving_; }
  // A call was left to the real handle: counted with its reason.
  void note_passed(std::string_view why) { buffer_.note_passed(why); }

  std::atomic<std::int64_t> position = 0;  // the individual pointer, in etypes
  std::optional<Split> split{};
  Wished wished{};  // set once, by the open

 private:
  const MPI_File real_;
  const int amode_;
  Buffer& buffer_;
  const std::shared_ptr<File> engine_;
  const Ranks ranks_;
  static constexpr std::uint64_t kManyPieces = 256;
  // May what is kept of it be older than what another node has closed, and nobody would notice?
  [[nodiscard]] bool may_be_stale() const;
  // The next open is not to believe that home is as it was.
  void doubt_recent_change();

  bool others_elsewhere_ = false;        // constant once constructed
  std::optional<SharedPointer> shared_;  // only if every rank has it, and then constant
  SievingHint sieving_{};
  // The same: of the ranks that share a buffer, which one this is, and how many there are.
  int number_in_buffer_ = 0;
  int ranks_in_buffer_ = 1;
  std::vector<MPI_Request> to_end_{};
  View view_{};
  bool odd_view_ = false;
  bool sparse_ = false;      // this rank's view
  bool all_sparse_ = false;  // every rank's
  bool atomic_ = false;
};

}  // namespace forebay::mpiio
