#include "door/mpiio/shared_pointer.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <random>
#include <string>

#include "base/format.hpp"

namespace forebay::mpiio {
namespace {

constexpr const char* kName = "the shared pointer";

std::int64_t fresh_stamp() {
  std::random_device source;
  return static_cast<std::int64_t>(std::uint64_t{source()} << 32 | source());
}

}  // namespace

Result<SharedPointer> SharedPointer::make(std::int64_t position) {
  Fd file(::memfd_create("forebay-shared-pointer", MFD_CLOEXEC));
  if (!file || ::ftruncate(file.get(), sizeof(Page)) != 0) return fail_errno(errno, "make", kName);
  FOREBAY_ASSIGN(auto mapping, Mapping::shared(file.get(), sizeof(Page), kName));
  SharedPointer made(std::move(mapping));
  made.page().stamp = fresh_stamp();
  made.set(position);
  made.file_ = std::move(file);
  return made;
}

Result<SharedPointer> SharedPointer::find(const Ticket& ticket) {
  if (ticket.where == 0) return fail(ENOENT, "there is no shared pointer");
  const auto path = format_text("/proc/{}/fd/{}", ticket.where >> 32, ticket.where & 0xffffffff);
  const Fd file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  // Touching more than there is of another file would raise SIGBUS.
  if (!file || ::lseek(file.get(), 0, SEEK_END) != sizeof(Page)) return fail_errno(errno, "open", path);
  FOREBAY_ASSIGN(auto mapping, Mapping::shared(file.get(), sizeof(Page), path));
  SharedPointer found(std::move(mapping));
  if (found.page().stamp != ticket.stamp) return fail(ESTALE, path + " is something else");
  return found;
}

SharedPointer::Ticket SharedPointer::ticket() const {
  return {.where = std::int64_t{::getpid()} << 32 | file_.get(), .stamp = page().stamp};
}

void SharedPointer::restart(bool first) {
  auto& old = word();
  turn_ ^= 1u;
  if (first) old = 0;
}

}  // namespace forebay::mpiio
