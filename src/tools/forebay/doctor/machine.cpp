#include <liburing.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>

#include <cstdio>
#include <fstream>
#include <thread>

#include "base/bytes.hpp"
#include "base/format.hpp"
#include "config/machine.hpp"
#include "os/memory_room.hpp"
#include "tools/forebay/common.hpp"
#include "tools/forebay/doctor/checks.hpp"

namespace forebay {
namespace {

constexpr const char* kArea = "machine";
constexpr const char* kShmemHugePages = "/sys/kernel/mm/transparent_hugepage/shmem_enabled";

int kernel_version(const char* release) {
  int major = 0;
  int minor = 0;
  return std::sscanf(release, "%d.%d", &major, &minor) == 2 ? major * 1000 + minor : 0;
}

void check_kernel(Findings& findings) {
  utsname name{};
  ::uname(&name);
  const auto version = kernel_version(name.release);
  const auto what = format_text("Linux {} on {}, {} processors", name.release, name.machine,
                                std::thread::hardware_concurrency());
  if (version < 4014) {
    findings.push_back(
        {kArea, Verdict::kFix, what + ": older than 4.14, which Forebay needs", "use a newer kernel"});
  } else if (version < 5014) {
    findings.push_back(
        {kArea, Verdict::kNote, what + ": before 5.14 memory is made ready page by page, which is slower"});
  } else {
    findings.push_back({kArea, Verdict::kGood, what});
  }
}

void check_io_uring(Findings& findings) {
  io_uring ring{};
  const int code = ::io_uring_queue_init(2, &ring, 0);
  if (code == 0) {
    ::io_uring_queue_exit(&ring);
    findings.push_back(
        {kArea, Verdict::kGood, "io_uring can be used: disks are kept busy with many transfers at a time"});
    return;
  }
  findings.push_back(
      {kArea, Verdict::kNote,
       format_text("io_uring cannot be used ({}): disk tiers move one bucket at a time", error_words(-code)),
       "sysctl kernel.io_uring_disabled=0, and a container profile that allows io_uring"});
}

void check_memory(const Settings& settings, Findings& findings) {
  const auto memory = Machine::current().memory;
  const auto room = memory_room();
  std::uint64_t wanted = 0;
  for (const auto& tier : settings.tiers) wanted += tier.kind == TierKind::Memory ? tier.size.bytes : 0;
  const auto what = format_text("{} of memory for this process (machine and control groups), {} of it free",
                                format_bytes(memory), format_bytes(room));
  if (wanted > memory) {
    findings.push_back({kArea, Verdict::kFix,
                        format_text("{}; the memory tiers want {}", what, format_bytes(wanted)),
                        "make the memory tiers smaller (tiers: size), or raise the control group's limit"});
  } else if (wanted > room) {
    findings.push_back(
        {kArea, Verdict::kNote,
         format_text("{}; the memory tiers may take {}: they stop growing before memory runs out", what,
                     format_bytes(wanted))});
  } else {
    findings.push_back({kArea, Verdict::kGood, what});
  }
}

void check_huge_pages(Findings& findings) {
  std::string line;
  if (!std::getline(std::ifstream(kShmemHugePages), line)) return;
  const auto open = line.find('[');
  const auto chosen = open == std::string::npos ? line : line.substr(open + 1, line.find(']') - open - 1);
  if (chosen == "never" || chosen == "deny") {
    findings.push_back({kArea, Verdict::kNote,
                        format_text("huge pages for shared memory are off ({})", chosen),
                        format_text("as root: echo advise > {}", kShmemHugePages)});
  } else {
    findings.push_back({kArea, Verdict::kGood, format_text("huge pages for shared memory: {}", chosen)});
  }
}

void check_open_files(const Settings& settings, Findings& findings) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const auto wanted = settings.limits.descriptors + 64u;
  if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < wanted) {
    findings.push_back(
        {kArea, Verdict::kFix,
         format_text("a process may have {} files open, and Forebay may want {}", limit.rlim_cur, wanted),
         format_text("ulimit -n {} before the job, or a smaller limits.descriptors", 4 * wanted)});
  } else {
    findings.push_back({kArea, Verdict::kGood,
                        limit.rlim_cur == RLIM_INFINITY
                            ? "a process may have any number of files open"
                            : format_text("a process may have {} files open", limit.rlim_cur)});
  }
}

}  // namespace

void check_machine(const Settings& settings, Findings& findings) {
  check_kernel(findings);
  check_io_uring(findings);
  check_memory(settings, findings);
  check_huge_pages(findings);
  check_open_files(settings, findings);
}

}  // namespace forebay
