// A file that HDF5 has open with the MPI-IO driver, and the engine beside it for raw data.
//
// The rules are in docs/hdf5-parallel.md. Methods called "collective" must be called by all ranks, and are
// called from callbacks of collective HDF5 calls. Used like HDF5 itself: by one thread at a time. Shared by
// the connector's file object and by its datasets, the last of which closes it.
//
// A mount, a link or a virtual dataset may lead from one file to another, and HDF5 does not say where it led.
// So what is done to a file by name is done to its neighbours as well: all that are open on the same ranks.
#pragma once

#include <H5Ipublic.h>

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "door/hdf5/file_wishes.hpp"
#include "door/hdf5/ranks.hpp"
#include "door/hdf5/transfer.hpp"
#include "engine/buffer.hpp"

namespace forebay::hdf5 {

class ParallelFile : public RawFile {
 public:
  // Collective, before the native open or create: what a node still holds unsaved of the file goes home,
  // where HDF5 will look for it. `buffer` is null on a rank that could not attach.
  static Status settle(Buffer* buffer, const std::string& path, const Ranks& ranks);

  // Collective, after it. `wished`: for the file's settings. All ranks get a file, or none does and the file
  // is HDF5's alone; the error says why.
  static Result<std::shared_ptr<ParallelFile>> open(Buffer* buffer, const std::string& path, bool writable,
                                                    bool collective_metadata, std::unique_ptr<Ranks> ranks,
                                                    const Adjustment& wished = {});
  ~ParallelFile() override;

  // Collective, before the native call of the same name. After an error the native call must not be made. A
  // flush reaches what is mounted, or what it is mounted in.
  Status flush();
  Status close();
  // Whose failures are those of a call.
  enum class Mind { kOwn, kNeighbours };

  // Collective, before storage of a served dataset may be freed or is read by HDF5 (unlink, shrink, H5Ocopy
  // from this file, a change of atomicity). Nothing is unsaved on any rank then, and nothing clean is kept.
  // With its neighbours. Not collective where this file is open for reading only: of this node then.
  Status settle(Mind mind = Mind::kNeighbours);
  // Collective, after storage was allocated without filling it together (H5Ocopy to this file).
  void allocated() { ranks_->barrier(); }
  // The same before a link is removed: what goes wrong with a neighbour counts only if a mount may lead
  // there.
  Status settle_names();
  // Collective: links of this file or of a neighbour were removed. After the native call.
  void unlinked();
  // A file was mounted somewhere in another.
  static void mounted();
  // Collective, after settle(): in atomic mode HDF5 moves all data itself.
  void set_atomic(bool atomic) { atomic_ = atomic; }

  [[nodiscard]] bool atomic() const { return atomic_; }

  [[nodiscard]] const Ranks& ranks() const { return *ranks_; }
  // Is the other one open on the same ranks?
  [[nodiscard]] bool same_ranks(const ParallelFile& other) const { return ranks_->same_as(*other.ranks_); }

  // Of this node only, before HDF5 reads raw data of a served dataset by itself (H5Dread_chunk, a virtual
  // dataset, H5Fget_vfd_handle, H5Dflush), and before it writes them. With its neighbours.
  Status drain(Mind mind = Mind::kNeighbours);
  // After HDF5 wrote raw data of a served dataset by itself. With its neighbours.
  void forget();

  Status write(std::uint64_t offset, std::span<const std::byte> data) override;
  Status read(std::uint64_t offset, std::span<std::byte> out) override;

  [[nodiscard]] File& engine_file() { return *file_; }
  [[nodiscard]] const std::shared_ptr<File>& engine() const { return file_; }
  [[nodiscard]] bool writable() const { return writable_; }
  [[nodiscard]] bool collective_metadata() const { return collective_metadata_; }

 private:
  friend class ParallelDataset;
  ParallelFile(std::shared_ptr<File> file, bool writable, bool collective_metadata,
               std::unique_ptr<Ranks> ranks);
  // Before what all ranks drain together: the pieces of one may lie between those of the others, so that what
  // all have staged goes home in a few writes, and what one drains before the others have come in thousands.
  void gather() const;
  // Did all ranks succeed? The error is this rank's, or tells of another's.
  Status agree(Status mine) const;

  friend class HeldDrain;
  // Calls take(ParallelFile&) for this file and its neighbours.
  template <class Take>
  void for_each_neighbour(const Take& take);

  const std::shared_ptr<File> file_;
  const bool writable_;
  const bool collective_metadata_;
  const std::unique_ptr<Ranks> ranks_;
  bool several_buffers_ = false;  // constant once open() has returned
  bool atomic_ = false;
  // Datasets (by start()) that this rank wrote to since all ranks last agreed that nothing is unsaved.
  std::set<std::uint64_t> staged_;
  // How often that has happened, on every rank alike.
  std::uint64_t resizings_ = 0;
  std::uint64_t cuts_ = 0;  // those that made a dataset smaller
  std::uint64_t unlinkings_ = 0;
};

// Around a native call in which all ranks write together: MPI-IO may then read what lies between their pieces
// and write it again, so that nothing of ours may arrive there meanwhile (B8). For its neighbours, too.
// Collective, both ends; null: not needed.
//
// kAlone: no rank waits for another, and it is for speed. HDF5 writes the metadata of a flush or a close in
// small requests one after the other; each would queue behind all that is under way of what may go home
// later.
class HeldDrain {
 public:
  enum class Ends { kTogether, kAlone };
  explicit HeldDrain(ParallelFile* file, Ends ends = Ends::kTogether);
  HeldDrain(const HeldDrain&) = delete;
  HeldDrain& operator=(const HeldDrain&) = delete;
  ~HeldDrain();

 private:
  ParallelFile* const file_;
  const Ends ends_;
  std::vector<std::shared_ptr<File>> held_{};
};

}  // namespace forebay::hdf5
