#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "base/bytes.hpp"
#include "base/duration.hpp"
#include "base/format.hpp"
#include "config/machine.hpp"
#include "engine/geometry.hpp"
#include "engine/status.hpp"
#include "os/file_system.hpp"
#include "os/private_file.hpp"
#include "tier/block_store.hpp"
#include "tier/mapped_store.hpp"
#include "tools/forebay/common.hpp"
#include "tools/forebay/doctor/checks.hpp"
#include "tools/forebay/status_report.hpp"

namespace forebay {
namespace {

constexpr const char* kProbe = "doctor.data";
constexpr long kLustre = 0x0BD00BD0;
constexpr long kGpfs = 0x47504653;
constexpr long kBeeGfs = 0x19830326;

bool is_network_file_system(int fd) {
  struct statfs found{};
  if (::fstatfs(fd, &found) != 0) return false;
  const auto type = static_cast<long>(found.f_type);
  return std::ranges::contains(
      std::initializer_list<long>{NFS_SUPER_MAGIC, SMB_SUPER_MAGIC, CIFS_SUPER_MAGIC, CEPH_SUPER_MAGIC,
                                  AFS_SUPER_MAGIC, FUSE_SUPER_MAGIC, kLustre, kGpfs, kBeeGfs},
      type);
}

// What using a store of the tier tells: nothing is left behind.
struct Probe {
  bool in_memory = false;
  bool network = false;
  bool direct = false;
  bool real_pmem = false;
};

Result<Probe> probe(const TierSettings& tier, std::uint64_t bucket_size) {
  std::string path = tier.path + "/.forebay-doctor-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) return fail_errno(errno, "write to directory", tier.path);
  const std::unique_ptr<std::string, void (*)(std::string*)> at_the_end(
      &path, [](std::string* made) { ::rmdir(made->c_str()); });
  FOREBAY_ASSIGN(const auto directory, open_private_directory(path));
  Probe found{.in_memory = is_memory_file_system(directory.get()),
              .network = is_network_file_system(directory.get())};
  const auto use = [&](auto store) -> Status {
    const auto grown = store.grow(0, 1);
    ::unlinkat(directory.get(), kProbe, 0);
    return grown;
  };
  if (tier.kind == TierKind::Memory || tier.kind == TierKind::Pmem) {
    const auto kind = tier.kind == TierKind::Pmem ? MappedStore::Kind::kPmem : MappedStore::Kind::kMemory;
    FOREBAY_ASSIGN(auto store,
                   MappedStore::open(directory, kProbe, bucket_size, 1, kind, Create::kExclusive));
    found.real_pmem = store.is_real_pmem();
    FOREBAY_TRY(use(std::move(store)));
  } else {
    FOREBAY_ASSIGN(auto store, BlockStore::open(directory, kProbe, bucket_size, 1, Create::kExclusive));
    found.direct = store.direct();
    FOREBAY_TRY(use(std::move(store)));
  }
  return found;
}

class TierCheck {
 public:
  TierCheck(const Settings& settings, Findings& findings) : settings_(settings), findings_(findings) {
    if (auto status = look_at_buffer(settings)) buffer_ = std::move(*status);
  }

  void check(const TierSettings& tier) {
    const auto probed = probe(tier, settings_.buffer.bucket_size);
    if (!probed)
      return add(tier, Verdict::kFix, probed.error().message, "an existing directory that you may write to");
    check_room(tier);
    switch (tier.kind) {
      case TierKind::Memory:
        return check_memory(tier, *probed);
      case TierKind::Pmem:
        return check_pmem(tier, *probed);
      case TierKind::Nvme:
      case TierKind::Shared:
        return check_disk(tier, *probed);
    }
  }

 private:
  void add(const TierSettings& tier, Verdict verdict, const std::string& what, std::string remedy = {}) {
    findings_.push_back(
        {"tiers", verdict, format_text("{}: {}", tier.name, printable(what)), std::move(remedy)});
  }

  // What the buffer has already is not needed again.
  [[nodiscard]] std::uint64_t reserved(const TierSettings& tier) const {
    for (const auto& there : buffer_.tiers) {
      if (there.name == tier.name && there.directory == tier_base_directory(tier.path)) return there.reserved;
    }
    return 0;
  }

  void check_room(const TierSettings& tier) {
    const auto space = Machine::current().space(tier.path);
    if (!space) return add(tier, Verdict::kFix, space.error().message);
    const auto needed = tier.size.bytes - std::min(tier.size.bytes, reserved(tier));
    const auto what = format_text("{} in {}, {} free there", format_bytes(tier.size.bytes), tier.path,
                                  format_bytes(space->free));
    needed > space->free
        ? add(tier, Verdict::kFix, what + ": it does not fit", "make it smaller (tiers: size), or make room")
        : add(tier, Verdict::kGood, what);
  }

  void check_memory(const TierSettings& tier, const Probe& probed) {
    if (probed.in_memory) return add(tier, Verdict::kGood, "a tmpfs: survives every process, not the node");
    add(tier, Verdict::kNote,
        "a mapped file on a disk, not memory: the kernel writes it out now and then, which costs time",
        "a tmpfs such as /dev/shm, or kind: nvme");
  }

  void check_pmem(const TierSettings& tier, const Probe& probed) {
    if (probed.real_pmem)
      return add(tier, Verdict::kGood, "persistent memory: survives the node's power loss");
    if (probed.in_memory) {
      return add(tier, Verdict::kFix,
                 "declared persistent, but it is a tmpfs: nothing of it survives power loss",
                 "a DAX file system, or kind: memory");
    }
    add(tier, Verdict::kNote, "no persistent memory: bytes are made durable by msync, which is slow",
        "a DAX file system, or kind: nvme");
  }

  void check_disk(const TierSettings& tier, const Probe& probed) {
    if (probed.in_memory) {
      return add(tier, Verdict::kNote,
                 "declared a disk, but it is a tmpfs: it counts as memory and survives no power loss",
                 "a directory on a local disk, or kind: memory");
    }
    if (tier.kind == TierKind::Nvme && probed.network) {
      add(tier, Verdict::kNote, "declared a local disk, but it lies on a network or FUSE file system",
          "a directory on a local disk, or kind: shared");
    }
    probed.direct ? add(tier, Verdict::kGood, "direct I/O; survives the node's power loss")
                  : add(tier, Verdict::kNote,
                        "no direct I/O here: bytes pass through the page cache, which takes memory");
  }

  const Settings& settings_;
  Findings& findings_;
  BufferStatus buffer_;
};

void check_private(const std::string& path, Findings& findings) {
  const auto directory = open_private_directory(path, Create::kNever);
  if (directory) {
    findings.push_back({"directories", Verdict::kGood, format_text("{}: yours alone", printable(path))});
  } else if (directory.error().code == ENOENT) {
    findings.push_back({"directories", Verdict::kGood,
                        format_text("{}: not there yet, made when it is needed", printable(path))});
  } else {
    findings.push_back({"directories", Verdict::kFix, printable(directory.error().message),
                        format_text("ls -ld {}; then chmod 700 it if it is yours, or name another directory",
                                    printable(path))});
  }
}

void check_buffer(const BufferStatus& status, Findings& findings) {
  const auto add = [&](Verdict verdict, const std::string& what, const std::string& verb) {
    const auto remedy = verb.empty() ? "" : format_text("forebay {} --buffer {}", verb, status.name);
    findings.push_back({"buffers", verdict, format_text("{}: {}", status.name, printable(what)), remedy});
  };
  if (status.finding == ControlFinding::kUnfinished || status.finding == ControlFinding::kOtherBoot) {
    return add(Verdict::kNote, status.why + "; the next to use it makes it anew", "clean");
  }
  if (status.finding != ControlFinding::kUsable)
    return add(Verdict::kFix, "cannot be used: " + status.why, "clean --force");
  const auto orphaned = orphaned_bytes(status);
  for (const auto& file : status.files) {
    if (file.scratch) continue;
    if (file.error != 0 && file.unsaved != 0) {
      add(Verdict::kFix,
          format_text("{} of {} are not home since {}: {}", format_bytes(file.unsaved), name_of(file),
                      format_duration(file.error_age), error_words(file.error)),
          "");
    }
  }
  if (status.damaged != 0)
    add(Verdict::kFix, format_text("{} bucket(s) are damaged", status.damaged), "recover --rescue DIR");
  if (orphaned != 0) {
    add(Verdict::kFix,
        format_text("{} unsaved, and the processes that wrote them are gone", format_bytes(orphaned)),
        "recover");
  }
  if (status.anybody_alive() || orphaned != 0 || status.damaged != 0) {
    const auto alive = std::ranges::count_if(status.processes, &ProcessStatus::alive);
    return add(Verdict::kGood, format_text("used by {} process(es)", alive), "");
  }
  std::uint64_t reserved = 0;
  for (const auto& tier : status.tiers) reserved += tier.kind == TierKind::Memory ? tier.reserved : 0;
  add(reserved == 0 ? Verdict::kGood : Verdict::kNote,
      format_text("nobody uses it; all of it is home; it keeps {} of memory", format_bytes(reserved)),
      reserved == 0 ? "" : "clean");
}

}  // namespace

void check_tiers(const Settings& settings, Findings& findings) {
  TierCheck check(settings, findings);
  for (const auto& tier : settings.tiers) check.check(tier);
}

void check_directories(const Settings& settings, Findings& findings) {
  check_private(settings.buffer.directory, findings);
  for (const auto& tier : settings.tiers) {
    const auto path = tier_base_directory(tier.path);
    if (path != settings.buffer.directory) check_private(path, findings);
  }
}

void check_buffers(const Settings& settings, Findings& findings) {
  const auto names = buffer_names(settings);
  if (!names) return;  // said with the directories
  for (const auto& name : *names) {
    auto one = settings;
    one.buffer.name = name;
    const auto status = look_at_buffer(one);
    if (status) {
      check_buffer(*status, findings);
    } else if (status.error().code != ENOENT) {
      findings.push_back({"buffers", Verdict::kFix, printable(status.error().message)});
    }
  }
  if (names->empty()) findings.push_back({"buffers", Verdict::kGood, "there are none"});
}

}  // namespace forebay
