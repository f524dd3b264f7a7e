#include "door/mpiio/access.hpp"

#include <cerrno>
#include <climits>
#include <optional>
#include <tuple>

#include "door/mpiio/errors.hpp"
#include "door/mpiio/transfer.hpp"
#include "door/mpiio/type_cache.hpp"

namespace forebay::mpiio {
namespace {

// Where a native call is to begin: at an offset, or at the real handle's own pointer.
using Start = std::optional<MPI_Offset>;

#if MPI_VERSION >= 4
int call_large(MPI_File real, const Access& access, Start at, MPI_Status* status) {
  const auto [buffer, count, type] = std::tie(access.buffer, access.count, access.type);
  if (access.way == Way::kRead) {
    return at ? PMPI_File_read_at_c(real, *at, buffer, count, type, status)
              : PMPI_File_read_c(real, buffer, count, type, status);
  }
  return at ? PMPI_File_write_at_c(real, *at, buffer, count, type, status)
            : PMPI_File_write_c(real, buffer, count, type, status);
}
#else
int call_large(MPI_File real, const Access& /*access*/, Start /*at*/, MPI_Status* /*status*/) {
  return raise(real, MPI_ERR_COUNT);  // it could not have been asked for
}
#endif

// The two differ in what they do at the end of a file.
int call_nonblocking(MPI_File real, const Access& access, Start at, MPI_Status* status) {
  const int count = static_cast<int>(access.count);
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_SUCCESS;
  if (access.way == Way::kRead) {
    code = at ? PMPI_File_iread_at(real, *at, access.buffer, count, access.type, &request)
              : PMPI_File_iread(real, access.buffer, count, access.type, &request);
  } else {
    code = at ? PMPI_File_iwrite_at(real, *at, access.buffer, count, access.type, &request)
              : PMPI_File_iwrite(real, access.buffer, count, access.type, &request);
  }
  return code == MPI_SUCCESS ? PMPI_Wait(&request, status) : code;
}

int call_native(MPI_File real, const Access& access, Start at, MPI_Status* status) {
  if (access.count > INT_MAX) return call_large(real, access, at, status);
  if (access.nonblocking) return call_nonblocking(real, access, at, status);
  const int count = static_cast<int>(access.count);
  if (access.way == Way::kRead) {
    return at ? PMPI_File_read_at(real, *at, access.buffer, count, access.type, status)
              : PMPI_File_read(real, access.buffer, count, access.type, status);
  }
  return at ? PMPI_File_write_at(real, *at, access.buffer, count, access.type, status)
            : PMPI_File_write(real, access.buffer, count, access.type, status);
}

// With nothing of it unsaved or kept, before and after.
Outcome leave_to_native(OpenFile& file, const Access& access, std::string_view why) {
  file.note_passed(why);
  if (const auto status = file.engine().drain(); !status && status.error().code != ENOTCONN)
    return {.code = raise(file.real(), status.error())};
  MPI_Status status;
  PMPI_Status_set_elements_x(&status, MPI_BYTE, 0);
  Outcome outcome;
  if (access.pointer == Pointer::kIndividual) {
    file.hand_over_pointer();
    outcome.code = call_native(file.real(), access, std::nullopt, &status);
    file.take_over_pointer();
  } else {
    outcome.code = call_native(file.real(), access, access.offset, &status);
  }
  if (access.way == Way::kWrite) file.forget();
  MPI_Count bytes = 0;
  PMPI_Get_elements_x(&status, MPI_BYTE, &bytes);
  if (bytes > 0) outcome.bytes = static_cast<std::uint64_t>(bytes);
  return outcome;
}

// Nobody but MPI knows whether a type was committed: a native call that moves nothing tells.
int check_committed(OpenFile& file, Access access) {
  access.count = 0;
  access.nonblocking = false;
  const int code = call_native(file.real(), access, 0, MPI_STATUS_IGNORE);
  if (code != MPI_SUCCESS) forget_type(access.type);
  return code;
}

bool good_arguments(const OpenFile& file, const Access& access) {
  return access.count >= 0 && (access.pointer != Pointer::kExplicit || access.offset >= 0) &&
         access.type != MPI_DATATYPE_NULL && (access.way == Way::kRead ? file.readable() : file.writable());
}

// What most reads are, in the fewest steps: of a predefined type, from a view without gaps, by an offset, and
// all of it is there. False: nothing was done, or nothing that reading again would not do.
bool read_plainly(OpenFile& file, const Access& access, Outcome& outcome) {
  if (access.way != Way::kRead || access.pointer != Pointer::kExplicit || !file.view().contiguous() ||
      access.count <= 0 || access.offset < 0 || !file.readable())
    return false;
  const auto* const type = remembered_type(access.type);
  if (type == nullptr || !type->contiguous(access.count)) return false;
  const auto& view = file.view();
  const auto unit = static_cast<std::uint64_t>(view.etype_size());
  const auto bytes = static_cast<std::uint64_t>(type->size) * static_cast<std::uint64_t>(access.count);
  if (unit != 1 && bytes % unit != 0) return false;
  auto* const out = static_cast<std::byte*>(access.buffer) + type->runs.front().offset;
  const auto place = view.place_of(static_cast<std::uint64_t>(access.offset) * unit);
  const auto came = file.engine().read(place, {out, bytes});
  if (!came || *came != bytes) return false;
  outcome.bytes = bytes;
  return true;
}

}  // namespace

Outcome perform(OpenFile& file, const Access& access) {
  if (Outcome plain; read_plainly(file, access, plain)) return plain;
  if (!good_arguments(file, access))
    return leave_to_native(file, access, "MPI-IO: arguments that MPI may refuse");
  const auto type = known_type(access.type);
  if (type.fresh) {
    if (const int code = check_committed(file, access); code != MPI_SUCCESS) return {.code = code};
  }
  if (type.flat == nullptr) return leave_to_native(file, access, "MPI-IO: a datatype that is not flat");
  const Memory memory{static_cast<std::byte*>(access.buffer), type.flat, access.count};
  const auto& view = file.view();
  const auto unit = static_cast<std::uint64_t>(view.etype_size());
  const auto bytes = memory.bytes();
  if (bytes % unit != 0) return leave_to_native(file, access, "MPI-IO: not a whole number of etypes");

  const auto etypes = static_cast<std::int64_t>(bytes / unit);
  const bool own = access.pointer == Pointer::kIndividual;
  const auto at = own ? file.position.fetch_add(etypes) : access.offset;
  const auto position = static_cast<std::uint64_t>(at) * unit;
  Result<std::uint64_t> moved = bytes;
  if (access.way == Way::kRead) {
    moved = read(file.engine(), view, position, memory);
  } else if (auto status = write(file.engine(), view, position, memory); !status) {
    moved = std::unexpected(std::move(status).error());
  }
  if (moved && *moved == bytes) return {.bytes = bytes};
  if (own) file.position = at;
  if (moved) return leave_to_native(file, access, "MPI-IO: a read at the end of the file");
  if (moved.error().code == ENOTCONN)
    return leave_to_native(file, access, "MPI-IO: this process has left the buffer");
  return {.code = raise(file.real(), moved.error())};
}

}  // namespace forebay::mpiio
