#include "door/mpiio/access.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <tuple>
#include <vector>

#include "door/mpiio/errors.hpp"
#include "door/mpiio/status.hpp"
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
  if (const auto status = file.bring_home(); !status && status.error().code != ENOTCONN)
    return {.code = raise(file.real(), status.error())};
  MPI_Status status;
  PMPI_Status_set_elements_x(&status, MPI_BYTE, 0);
  Outcome outcome;
  // What it writes again of the file must not be on its way home.
  std::optional<OpenFile::NativeWrite> alone;
  if (access.way == Way::kWrite && !file.view().contiguous()) alone.emplace(file);
  if (access.pointer == Pointer::kIndividual) {
    file.hand_over_pointer();
    outcome.code = call_native(file.real(), access, std::nullopt, &status);
    file.take_over_pointer();
  } else {
    outcome.code = call_native(file.real(), access, access.offset, &status);
  }
  if (access.way == Way::kWrite) file.forget();
  outcome.bytes = moved_bytes(status);
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

// The mode of the open does not allow it, to none of the ranks.
bool wrong_way(const OpenFile& file, const Access& access) {
  return access.way == Way::kRead ? !file.readable() : !file.writable();
}

bool good_arguments(const OpenFile& file, const Access& access) {
  return access.count >= 0 && (access.pointer != Pointer::kExplicit || access.offset >= 0) &&
         may_be_type(access.type) && !wrong_way(file, access);
}

// Is the memory such that touching it would end the program? The native call answers EFAULT. (Types of
// absolute addresses go from MPI_BOTTOM, which may be null, too.)
bool nowhere(const Access& access, const FlatType& type) {
  constexpr std::uintptr_t kNeverMapped = 4096;
  return access.count > 0 && !type.runs.empty() &&
         reinterpret_cast<std::uintptr_t>(access.buffer) +
                 static_cast<std::uintptr_t>(type.runs.front().offset) <
             kNeverMapped;
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
  if ((unit != 1 && bytes % unit != 0) || nowhere(access, *type)) return false;
  auto* const out = static_cast<std::byte*>(access.buffer) + type->runs.front().offset;
  const auto place = view.place_of(static_cast<std::uint64_t>(access.offset) * unit);
  const auto came = file.engine().read(place, {out, bytes});
  if (!came || *came != bytes) return false;
  outcome.bytes = bytes;
  return true;
}

MPI_Count size_of(const KnownType& known, MPI_Datatype type) {
  MPI_Count size = 0;
  if (known.flat == nullptr) PMPI_Type_size_x(type, &size);
  return known.flat != nullptr ? known.flat->size : size;
}

// How much MPI packs in one call at most.
constexpr MPI_Count kMostPacked = 1 << 30;

// A type that is not flat, brought together by MPI. False: there is too much of it for one call, or nothing
// to call by.
bool pack(const Access& access, std::vector<std::byte>& room) {
  MPI_Count size = 0;
  PMPI_Type_size_x(access.type, &size);
  if (size > kMostPacked || !world_is_there()) return false;
  room.resize(static_cast<std::size_t>(size * access.count));
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  PMPI_Type_get_extent(access.type, &lower, &extent);
  const auto step = size == 0 ? access.count : std::max<MPI_Count>(1, kMostPacked / size);
  for (MPI_Count done = 0; done < access.count; done += step) {
    const auto count = std::min(step, access.count - done);
    const auto bytes = static_cast<int>(count * size);
    int packed = 0;
    if (PMPI_Pack(static_cast<std::byte*>(access.buffer) + done * extent, static_cast<int>(count),
                  access.type, room.data() + done * size, bytes, &packed, MPI_COMM_SELF) != MPI_SUCCESS ||
        packed != bytes)
      return false;
  }
  return true;
}

// Where an access of so many etypes begins, and the pointer it goes by behind it.
std::int64_t begin(OpenFile& file, const Access& access, std::int64_t etypes) {
  switch (access.pointer) {
    case Pointer::kIndividual:
      return file.position.fetch_add(etypes);
    case Pointer::kShared:
      return file.shared().take(etypes);
    case Pointer::kOrdered: {
      const auto& ranks = file.ranks();
      const auto before = ranks.before(etypes);
      const int last = ranks.size() - 1;
      // Only the last one knows how much it is all together.
      const auto first = ranks.rank() == last ? file.shared().take(before + etypes) : 0;
      return ranks.told(first, last) + before;
    }
    case Pointer::kExplicit:
      break;
  }
  return access.offset;
}

bool by_shared_pointer(const Access& access) {
  return access.pointer == Pointer::kShared || access.pointer == Pointer::kOrdered;
}

// What is staged and what is not: the bytes of an access whose place is known. Short only where a file ends.
Result<std::uint64_t> move(OpenFile& file, const Access& access, const FlatType& type,
                           std::uint64_t position) {
  const Memory memory{static_cast<std::byte*>(access.buffer), &type, access.count};
  if (access.way == Way::kRead) return read(file.engine(), file.view(), position, memory);
  FOREBAY_TRY(write(file.engine(), file.view(), position, memory));
  return memory.bytes();
}

}  // namespace

std::optional<Outcome> perform(OpenFile& file, const Access& access) {
  if (Outcome plain; read_plainly(file, access, plain)) return plain;
  // In an ordered call others may wait to hear how much this rank moves.
  const auto nothing_moves = [&] {
    if (access.pointer == Pointer::kOrdered) (void)begin(file, access, 0);
  };
  if (!good_arguments(file, access)) {
    nothing_moves();
    if (by_shared_pointer(access) || wrong_way(file, access)) return std::nullopt;
    return leave_to_native(file, access, "MPI-IO: arguments that MPI may refuse");
  }
  const auto type = known_type(access.type);
  if (type.fresh) {
    if (const int code = check_committed(file, access); code != MPI_SUCCESS) {
      nothing_moves();
      return Outcome{.code = code};
    }
  }
  if (type.flat == nullptr && access.way == Way::kWrite) {
    if (std::vector<std::byte> room; pack(access, room)) {
      auto packed = access;
      packed.buffer = room.data();
      packed.count = static_cast<MPI_Count>(room.size());
      packed.type = MPI_BYTE;
      return perform(file, packed);
    }
  }
  const auto bytes = static_cast<std::uint64_t>(size_of(type, access.type) * access.count);
  const auto unit = static_cast<std::uint64_t>(file.view().etype_size());
  const bool whole = bytes % unit == 0;
  // From here on the place is known: what is left to MPI goes there, whatever pointer told it.
  auto here = access;
  const bool own = access.pointer == Pointer::kIndividual;
  const auto at = begin(file, access, whole ? static_cast<std::int64_t>(bytes / unit) : 0);
  if (!own) {
    here.pointer = Pointer::kExplicit;
    here.offset = at;
  }
  const auto leave = [&](std::string_view why) {
    if (own) file.position = at;
    return leave_to_native(file, here, why);
  };
  if (!whole) return leave("MPI-IO: not a whole number of etypes");
  if (type.flat == nullptr) return leave("MPI-IO: a datatype that is not flat");
  if (nowhere(access, *type.flat)) return leave("MPI-IO: memory that is not there");
#ifndef OPEN_MPI  // which writes them piece by piece as well
  if (access.way == Way::kWrite && !by_shared_pointer(access) && file.better_natively(bytes))
    return leave("MPI-IO: many pieces with narrow gaps");
#endif
  const auto moved = move(file, access, *type.flat, static_cast<std::uint64_t>(at) * unit);
  if (moved && *moved == bytes) return Outcome{.bytes = bytes};
  if (moved) return leave("MPI-IO: a read at the end of the file");
  if (moved.error().code == ENOTCONN) return leave("MPI-IO: this process has left the buffer");
  if (own) file.position = at;
  return Outcome{.code = raise(file.real(), moved.error())};
}

}  // namespace forebay::mpiio
