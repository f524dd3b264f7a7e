#include "door/mpiio/opening.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/format.hpp"
#include "base/log.hpp"
#include "config/load.hpp"
#include "door/mpiio/memory_home.hpp"
#include "door/mpiio/only_name.hpp"
#include "door/mpiio/shared_pointer.hpp"
#include "door/mpiio/wishes.hpp"
#include "os/fd.hpp"
#include "session/session.hpp"

namespace forebay::mpiio {
namespace {

// What file, environment and nothing else say: whether any file at all is meant is known without a buffer.
const Settings* settings() {
  static const auto* const kLoaded = []() -> const Settings* {
    auto result = load();
    if (result) return new Settings(std::move(*result));
    log_error("MPI-IO: no file is buffered: {}", result.error().message);
    return nullptr;
  }();
  return kLoaded;
}

// File systems that ROMIO lets a name begin with, and whose files are reached by the rest of the name.
std::string_view without_prefix(std::string_view name) {
  constexpr auto kPrefixes =
      std::to_array<std::string_view>({"ufs:", "nfs:", "lustre:", "xfs:", "gpfs:", "panfs:"});
  for (const auto prefix : kPrefixes) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return name;
}

// The name of the file that MPI has open under `name`. OMPIO takes names as they are, and ROMIO may be in its
// place: what is there tells, unless both are.
Result<std::string> opened_path(std::string_view name) {
  std::string path(without_prefix(name));
#ifdef OPEN_MPI
  std::string whole(name);
  if (path == whole || ::access(whole.c_str(), F_OK) != 0) return path;
  if (::access(path.c_str(), F_OK) == 0) return fail(ENOTSUP, whole + " may be either of two files");
  return whole;
#else
  return path;
#endif
}

// The file's real name if it is meant to be buffered.
Result<std::string> chosen(const char* name, const Wishes& wishes) {
  const auto* const all = settings();
  if (all == nullptr || (all->choice.homes.empty() && !wishes.any()))
    return fail(ENOTSUP, "no homes are set");
  FOREBAY_ASSIGN(const auto path, opened_path(name));
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr), &std::free);
  if (!real) return fail_errno(errno, "find", path);
  if (const auto verdict = all->choice.of_name(real.get()); verdict != FileVerdict::Chosen)
    return fail(ENOTSUP, format_text("{}: {}", real.get(), reason(verdict)));
  return std::string(real.get());
}

struct Beside {
  Buffer* buffer;
  std::shared_ptr<File> file;
  PrefetchAtOpen prefetch;  // wished, and not begun: not the same bytes by every rank
};

int flags_of(int amode) {
  if ((amode & MPI_MODE_RDWR) != 0) return O_RDWR;
  return (amode & MPI_MODE_WRONLY) != 0 ? O_WRONLY : O_RDONLY;
}

// The tier that lies in the wished directory; one of a buffer of its own if the configuration has none there.
Membership membership(const Wishes& wishes, std::vector<std::string>& given) {
  if (wishes.path.empty()) return {};
  for (const auto& tier : settings()->tiers) {
    if (tier.path != wishes.path) continue;
    if (!tier.name.empty()) given.push_back("tier=" + tier.name);
    return {};
  }
  const auto name = format_text("path-{:016x}", std::hash<std::string>{}(wishes.path));
  return {.overrides = {"buffer.name=" + name, format_text("tiers=pmem:{}:25%", wishes.path)},
          .overrides_from = "MPI_Info"};
}

Result<Beside> open_beside(const char* name, int amode, const Wishes& wishes) {
  if ((amode & MPI_MODE_SEQUENTIAL) != 0) return fail(ENOTSUP, "opened with MPI_MODE_SEQUENTIAL");
  FOREBAY_ASSIGN(const auto path, chosen(name, wishes));
  if (!wishes.any() && home_will_do(path, *settings()))
    return fail(ENOTSUP, path + ": home is memory already");
  auto given = wishes.settings;
  FOREBAY_ASSIGN(auto* const buffer, join(membership(wishes, given)));
  auto prefetch = PrefetchAtOpen::None;
  const auto adjust = [&](FileSettings& file) {
    if (auto changed = override_file_settings(file, buffer->core().settings, path, given, "MPI_Info")) {
      file = std::move(*changed);
    } else {
      log_warn("MPI-IO: {}: its hints are ignored: {}", path, changed.error().message);
    }
    prefetch = std::exchange(file.prefetch_at_open, PrefetchAtOpen::None);
  };
  FOREBAY_ASSIGN(auto file, buffer->open(path, flags_of(amode), 0666, adjust));
  if (file->settings().mode == Mode::Bypass) {
    (void)file->close();
    return fail(ENOTSUP, path + ": its settings say mode: bypass, or its size is not among those buffered");
  }
  return Beside{buffer, std::move(file), prefetch};
}

// The buffer that would have a file with such wishes, if there is one already.
Buffer* buffer_there_is(const Wishes& wishes) {
  std::vector<std::string> ignored;
  const auto wanted = membership(wishes, ignored);
  if (wanted.overrides.empty() && !buffer_was_made(*settings())) return nullptr;
  const auto buffer = join(wanted);
  return buffer ? *buffer : nullptr;
}

void settle(Buffer& buffer, const std::string& path) {
  const auto file = buffer.open(path, O_RDWR);
  if (file) (void)(*file)->drain();
}

// What all ranks learn from each other in the one reduction of an open.
struct Agreement {
  bool all = false;  // of them want it
  std::optional<SharedPointer> shared{};
};

Agreement agree(MPI_Comm comm, bool mine, std::int64_t begins_at) {
  int rank = 0;
  int size = 1;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &size);
  Agreement agreement;
  SharedPointer::Ticket ticket{};
  if (mine && rank == 0) {
    if (auto made = SharedPointer::make(begins_at)) {
      ticket = made->ticket();
      agreement.shared = std::move(*made);
    }
  }
  // Rank 0 tells, and the others have nothing to add.
  constexpr auto kNothing = std::numeric_limits<std::int64_t>::max();
  std::array<std::int64_t, 3> words{mine ? 1 : 0, rank == 0 ? ticket.where : kNothing,
                                    rank == 0 ? ticket.stamp : kNothing};
  if (size > 1) PMPI_Allreduce(MPI_IN_PLACE, words.data(), 3, MPI_INT64_T, MPI_MIN, comm);
  agreement.all = words[0] != 0;
  if (agreement.all && rank != 0) {
    if (auto found = SharedPointer::find({.where = words[1], .stamp = words[2]}))
      agreement.shared = std::move(*found);
  }
  return agreement;
}

// Where an open leaves all pointers.
std::int64_t first_position(const Result<Beside>& mine, int amode) {
  if (!mine || (amode & MPI_MODE_APPEND) == 0) return 0;
  return static_cast<std::int64_t>(mine->file->size().value_or(0));
}

}  // namespace

std::shared_ptr<OpenFile> begin_buffering(MPI_Comm comm, const char* name, int amode, MPI_Info info,
                                          MPI_File real) {
  Result<Beside> mine = fail(ENOENT, "it could not be opened");
  Wishes wishes;
  if (real != MPI_FILE_NULL) {
    wishes = wishes_of(info);
    mine = open_beside(name, amode, wishes);
  }
  // Whether anybody wants it is known to each rank alone: so this is asked always.
  auto agreement = agree(comm, mine.has_value(), first_position(mine, amode));
  if (!agreement.all) {
    if (mine) {
      mine->buffer->note_passed("MPI-IO: another rank could not have it buffered");
      (void)mine->file->close();
    } else if (mine.error().code != ENOTSUP && real != MPI_FILE_NULL) {
      static std::once_flag once;
      std::call_once(once, [&] { log_warn("MPI-IO: {} is not buffered: {}", name, mine.error().message); });
    }
    return nullptr;
  }
  auto opened = std::make_shared<OpenFile>(real, comm, amode, *mine->buffer, std::move(mine->file),
                                           std::move(agreement.shared));
  opened->wished = {.prefetch = mine->prefetch, .path = wishes.path};
  opened->prefetch();
  return opened;
}

int delete_file(const char* name, MPI_Info info) {
  const auto wishes = wishes_of(info);
  const auto path = chosen(name, wishes);
  auto* const buffer = path ? buffer_there_is(wishes) : nullptr;
  if (buffer == nullptr) return PMPI_File_delete(name, info);
  // While it is held its number is not another's.
  const Fd held(::open(path->c_str(), O_PATH | O_CLOEXEC));
  const OnlyName only(*buffer, held.get(), *path);
  // Whoever carries the rest home later looks for it under this name.
  if (!only.is_so()) settle(*buffer, *path);
  const int code = PMPI_File_delete(name, info);
  if (code == MPI_SUCCESS) only.was_removed();
  return code;
}

}  // namespace forebay::mpiio
