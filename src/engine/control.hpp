// The control file: made, checked and mapped.
//
// A control file is used only if its header is whole: magic, version, checksum, size, owner, this boot.
// Anything else is recognised and never trusted. The header is constant after creation; `ready` is stored
// last, under the lease file's whole lock, so that a creator killed half-way leaves something that the next
// one makes again.
#pragma once

#include <algorithm>
#include <memory>
#include <string>

#include "base/error.hpp"
#include "config/settings.hpp"
#include "engine/layout.hpp"
#include "extent/byte_map.hpp"
#include "extent/page_weights.hpp"
#include "os/fd.hpp"
#include "os/mapping.hpp"
#include "os/private_file.hpp"

namespace forebay {

// What kind of thing was found where a control file should be.
enum class ControlFinding {
  kUsable,
  kMissing,
  kUnfinished,  // its creator died
  kOtherBoot,   // from before the last restart of the machine: its memory is gone
  kOtherVersion,
  kDamaged,
};

// What every buffer has storage for from the start. Few, so that small buffers grow too: growing takes
// microseconds.
inline constexpr std::uint32_t kFirstBuckets = 16;
inline constexpr std::uint32_t kFirstFiles = 8;
[[nodiscard]] inline std::uint32_t buckets_ready(const Header& header, const Shared& shared) {
  const auto ready = std::uint64_t{kFirstBuckets} + shared.more_buckets.load();
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(header.bucket_count, ready));
}
[[nodiscard]] inline std::uint32_t files_ready(const Header& header, const Shared& shared) {
  const auto ready = std::uint64_t{kFirstFiles} + shared.more_files.load();
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(header.file_count, ready));
}

class Control {
 public:
  // Looks at the control file in `directory`, without mapping it; `why` receives words for everything but
  // kUsable and kMissing. EPERM: something else lies there.
  static Result<ControlFinding> examine(const Fd& directory, std::string& why);
  // The same for a control file that is open already. `header` receives a copy of what it begins with.
  static Result<ControlFinding> examine(const Fd& directory, const Fd& control, Header& header,
                                        std::string& why);

  // Makes a new control file from resolved settings. The caller holds the whole lock.
  static Result<Control> create(const Fd& directory, const Settings& settings);
  // What create made is whole, the tiers' files included: others may use it.
  void publish() const;

  // Maps an existing one, which must be kUsable.
  static Result<Control> open(const Fd& directory);

  // Removes control and sparse file. The caller holds the whole lock and knows that nobody is attached.
  static Status remove(const Fd& directory);

  [[nodiscard]] const Header& header() const { return *at<Header>(0); }
  [[nodiscard]] Shared& shared() const { return *at<Shared>(header().regions.shared); }
  [[nodiscard]] LeaseRecord& lease(std::uint32_t i) const {
    return at<LeaseRecord>(header().regions.leases)[i];
  }
  [[nodiscard]] FileRecord& file(std::uint32_t i) const { return files_[i]; }
  [[nodiscard]] LongPath& long_path(std::uint32_t i) const {
    return at<LongPath>(header().regions.long_paths)[i];
  }
  [[nodiscard]] Word& file_chain(std::uint32_t i) const { return at<Word>(header().regions.file_chains)[i]; }
  [[nodiscard]] Chain& chain(std::uint32_t i) const { return chains_[i]; }
  [[nodiscard]] Bucket& bucket(std::uint32_t i) const { return buckets_[i]; }
  [[nodiscard]] Word& bucket_owner(std::uint32_t i) const { return at<Word>(header().regions.owners)[i]; }
  [[nodiscard]] SlotWord& slot(std::uint32_t i) const { return at<SlotWord>(header().regions.slots)[i]; }
  [[nodiscard]] std::uint32_t bucket_size() const { return bucket_size_; }

  // How many of the descriptors and of the records have storage, from the first on (G1). Nobody makes, or
  // goes through, more of them than a buffer needs.
  [[nodiscard]] std::uint32_t buckets_ready() const { return forebay::buckets_ready(header(), shared()); }
  [[nodiscard]] std::uint32_t files_ready() const { return forebay::files_ready(header(), shared()); }
  // Reserves storage for more than `seen`, unless somebody else has. False: there are no more, or no room.
  [[nodiscard]] bool grow_buckets(std::uint32_t seen) const;
  [[nodiscard]] bool grow_files(std::uint32_t seen) const;

  // The files a lease has open; storage must have been reserved by reserve_opens.
  [[nodiscard]] Word* opens(std::uint32_t lease) const;
  Status reserve_opens(std::uint32_t lease) const;

  // A bucket's byte map; storage must have been reserved by reserve_map (ENOSPC: no room, or too many).
  // Releasing gives the storage back and makes the map all Invalid.
  [[nodiscard]] ByteMap map(std::uint32_t bucket) const;
  Status reserve_map(std::uint32_t bucket) const;
  void release_map(std::uint32_t bucket) const;

  // The checksums of what lies in a slot for `key`; storage must have been reserved by reserve_weights, which
  // is done for all slots that a tier has storage for.
  [[nodiscard]] PageWeights weights(std::uint32_t slot, std::uint64_t key) const {
    constexpr std::uint64_t kOdd = 0x9e37'79b9'7f4a'7c15;
    auto* words = sparse_.data() + header().sparse.weights +
                  std::uint64_t{slot} * PageWeights::storage_for(bucket_size_);
    return {reinterpret_cast<PageWeights::Word*>(words), key * kOdd};
  }
  Status reserve_weights(std::uint32_t first_slot, std::uint32_t count) const;

  // Where it lies, without links.
  [[nodiscard]] const std::string& directory() const { return directory_; }

  // See ticks.hpp. Coarse and cheap.
  [[nodiscard]] std::uint32_t tick() const;
  [[nodiscard]] std::uint64_t nanoseconds() const;

 private:
  Control(Mapping control, Mapping sparse, std::string directory)
      : control_(std::move(control)),
        sparse_(std::move(sparse)),
        directory_(std::move(directory)),
        files_(at<FileRecord>(header().regions.files)),
        chains_(at<Chain>(header().regions.chains)),
        buckets_(at<Bucket>(header().regions.buckets)),
        bucket_size_(header().bucket_size) {}

  template <class T>
  [[nodiscard]] T* at(std::uint64_t offset) const {
    return reinterpret_cast<T*>(control_.data() + offset);
  }
  struct Growing {
    std::uint32_t ready, count, first, at_once;
    std::uint64_t region, each;
    Word& more;
  };
  [[nodiscard]] bool grow(const Growing& what, std::uint32_t seen) const;
  // Storage for a part of one of the two files.
  [[nodiscard]] Status reserve_mapped(const Mapping& mapping, const char* name, std::uint64_t from,
                                      std::uint64_t length) const;
  [[nodiscard]] Status reserve_by_name(const char* name, std::uint64_t offset, std::uint64_t length) const;

  Mapping control_;
  Mapping sparse_;
  std::string directory_;  // for reserving storage later: no descriptor is kept
  // What every access looks up, without the way through the header, which is constant.
  FileRecord* files_;
  Chain* chains_;
  Bucket* buckets_;
  std::uint32_t bucket_size_;
};

inline constexpr const char* kControlFile = "control";
inline constexpr const char* kSparseFile = "sparse";
inline constexpr const char* kLeaseFileName = "leases";

// The directory of buffer `name` below `base`, made private if it is not there and `create` says so.
Result<Fd> open_buffer_directory(const std::string& base, const std::string& name, std::string& path,
                                 Create create = Create::kIfMissing);

}  // namespace forebay
