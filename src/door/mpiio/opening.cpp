#include "door/mpiio/opening.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "base/format.hpp"
#include "base/log.hpp"
#include "config/load.hpp"
#include "door/mpiio/memory_home.hpp"
#include "door/mpiio/wishes.hpp"
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

// File systems that MPI lets a name begin with, and whose files are reached by the rest of the name.
std::string_view without_prefix(std::string_view name) {
  constexpr auto kPrefixes =
      std::to_array<std::string_view>({"ufs:", "nfs:", "lustre:", "xfs:", "gpfs:", "panfs:"});
  for (const auto prefix : kPrefixes) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return name;
}

// The file's real name if it is meant to be buffered.
Result<std::string> chosen(const char* name, const Wishes& wishes) {
  const auto* const all = settings();
  if (all == nullptr || (all->choice.homes.empty() && !wishes.any()))
    return fail(ENOTSUP, "no homes are set");
  const std::string path(without_prefix(name));
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr), &std::free);
  if (!real) return fail_errno(errno, "find", path);
  if (const auto verdict = all->choice.of_name(real.get()); verdict != FileVerdict::Chosen)
    return fail(ENOTSUP, format_text("{}: {}", real.get(), reason(verdict)));
  return std::string(real.get());
}

struct Beside {
  Buffer* buffer;
  std::shared_ptr<File> file;
  bool prefetch;  // the whole of it
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
  bool prefetch = false;
  const auto adjust = [&](FileSettings& file) {
    if (auto changed = override_file_settings(file, buffer->core().settings, path, given, "MPI_Info")) {
      file = std::move(*changed);
    } else {
      log_warn("MPI-IO: {}: its hints are ignored: {}", path, changed.error().message);
    }
    // Not the same bytes by every rank.
    prefetch = file.prefetch_at_open == PrefetchAtOpen::File;
    if (prefetch) file.prefetch_at_open = PrefetchAtOpen::None;
  };
  FOREBAY_ASSIGN(auto file, buffer->open(path, flags_of(amode), 0666, adjust));
  if (file->settings().mode == Mode::Bypass) {
    (void)file->close();
    return fail(ENOTSUP, path + ": its settings say mode: bypass, or its size is not among those buffered");
  }
  return Beside{buffer, std::move(file), prefetch};
}

bool all_of(MPI_Comm comm, bool mine) {
  int every = mine ? 1 : 0;
  int size = 1;
  PMPI_Comm_size(comm, &size);
  if (size > 1) PMPI_Allreduce(MPI_IN_PLACE, &every, 1, MPI_INT, MPI_MIN, comm);
  return every != 0;
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
  if (!all_of(comm, mine.has_value())) {
    if (mine) {
      mine->buffer->note_passed("MPI-IO: another rank could not have it buffered");
      (void)mine->file->close();
    } else if (mine.error().code != ENOTSUP && real != MPI_FILE_NULL) {
      static std::once_flag once;
      std::call_once(once, [&] { log_warn("MPI-IO: {} is not buffered: {}", name, mine.error().message); });
    }
    return nullptr;
  }
  auto opened = std::make_shared<OpenFile>(real, comm, amode, *mine->buffer, std::move(mine->file));
  if (wishes.prefetch_part || mine->prefetch) opened->prefetch(!wishes.prefetch_part);
  return opened;
}

void settle_before_delete(const char* name) {
  const auto path = chosen(name, {});
  if (!path || settings()->for_path(*path).on_close == OnClose::Home) return;
  const auto buffer = join({});
  if (!buffer) return;
  const auto file = (*buffer)->open(*path, O_RDWR);
  if (file) (void)(*file)->drain();
}

}  // namespace forebay::mpiio
