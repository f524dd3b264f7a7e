#include "tier/journal_directory.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "base/format.hpp"
#include "os/life_lock.hpp"
#include "os/private_file.hpp"

namespace forebay {

Result<std::uint64_t> random_id() {
  std::uint64_t id = 0;
  for (int attempt = 0; attempt < 100 && id == 0; ++attempt) {
    if (::getrandom(&id, sizeof id, 0) != sizeof id) id = 0;
  }
  if (id == 0) return fail_errno(errno, "draw", "a random number");
  return id;
}

std::string hexadecimal(std::uint64_t value) { return format_text("{:016x}", value); }

Result<std::vector<std::string>> list_names(const Fd& directory) {
  // A description of its own: reading moves its position.
  Fd fd(::openat(directory.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return fail_errno(errno, "open", path_of(directory.get()));
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(fd.get()), ::closedir);
  if (!stream) return fail_errno(errno, "list", path_of(directory.get()));
  [[maybe_unused]] const int owned_by_stream = fd.release();
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const auto* entry = ::readdir(stream.get());
    if (entry == nullptr) break;
    names.emplace_back(&entry->d_name[0]);
  }
  if (errno != 0) return fail_errno(errno, "list", path_of(directory.get()));
  return names;
}

Status sync_directory(const Fd& directory) {
  if (::fsync(directory.get()) != 0) return fail_errno(errno, "sync", path_of(directory.get()));
  return {};
}

Status rename_if_new(const Fd& directory, const std::string& from, const std::string& to) {
  if (::renameat2(directory.get(), from.c_str(), directory.get(), to.c_str(), RENAME_NOREPLACE) == 0)
    return {};
  // Some network file systems know only the older way.
  if (errno == EINVAL || errno == ENOSYS) {
    if (::linkat(directory.get(), from.c_str(), directory.get(), to.c_str(), 0) == 0) {
      ::unlinkat(directory.get(), from.c_str(), 0);
      return {};
    }
  }
  return fail_errno(errno, "make", to);
}

Status publish_file(const Fd& directory, const std::string& name, std::span<const std::byte> content) {
  // Whoever tidies up may take the forming file away before it is locked: then once more.
  for (int attempt = 0;; ++attempt) {
    FOREBAY_ASSIGN(const auto id, random_id());
    const auto forming = std::string(kFormingPrefix) + hexadecimal(id);
    FOREBAY_ASSIGN(const auto file, open_private_file(directory, forming, Create::kExclusive));
    auto status = lock_with_descriptor(file.get(), forming);
    if (status) status = write_fully(file.get(), content.data(), content.size(), 0);
    if (status && ::fdatasync(file.get()) != 0) status = fail_errno(errno, "sync", forming);
    if (status) status = rename_if_new(directory, forming, name);
    if (status) return sync_directory(directory);
    ::unlinkat(directory.get(), forming.c_str(), 0);
    const int code = status.error().code;
    if (code == EEXIST) return sync_directory(directory);
    if ((code != ENOENT && code != EAGAIN) || attempt == 10) return status;
  }
}

}  // namespace forebay
