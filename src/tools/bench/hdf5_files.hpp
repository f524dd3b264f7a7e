// HDF5 files as the job's configuration wants them: shared by all ranks or one for each, collective metadata,
// alignment, subfiling.
#pragma once

#include <string>

#include "tools/bench/hid.hpp"
#include "tools/bench/job.hpp"
#include "tools/bench/world.hpp"

namespace forebay::kernels {

class Hdf5Files {
 public:
  Hdf5Files(const Job& job, const World& world) : job_(job), world_(world) {}

  // The file that `rank` uses.
  [[nodiscard]] std::string path(std::uint64_t rank) const;
  [[nodiscard]] bool file_per_rank() const { return job_.flag("FILE_PER_PROC"); }

  [[nodiscard]] Hid create(const std::string& path) const;
  [[nodiscard]] Hid open(const std::string& path, bool writable) const;
  // By this process without the other ranks.
  [[nodiscard]] Hid create_alone(const std::string& path) const;
  [[nodiscard]] Hid open_alone(const std::string& path, bool writable = false) const;
  // For transfers: as the configuration has them, or collective.
  [[nodiscard]] Hid transfer_properties() const { return transfer_properties(job_.flag("COLLECTIVE_DATA")); }
  [[nodiscard]] Hid transfer_properties(bool collective) const;

 private:
  [[nodiscard]] Hid access(bool alone = false) const;
  [[nodiscard]] bool shared_by_ranks() const {
    return job_.stage == Stage::kRun && !file_per_rank() && !job_.null;
  }
  void set_driver(hid_t properties, bool alone) const;

  const Job& job_;
  const World& world_;
};

// An event set, or none if the kernel is synchronous; HDF5's asynchronous calls take both.
class EventSet {
 public:
  explicit EventSet(bool asynchronous);
  [[nodiscard]] hid_t get() const { return set_.get() < 0 ? H5ES_NONE : set_.get(); }
  // Until everything in it is done; throws if something failed.
  void wait() const;

 private:
  Hid set_;
};

}  // namespace forebay::kernels
