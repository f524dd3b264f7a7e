// The functions that move data: a table of them below, and one template for each shape.
#include <mpi.h>

#include "door/mpiio/access.hpp"
#include "door/mpiio/api.hpp"
#include "door/mpiio/errors.hpp"
#include "door/mpiio/file_table.hpp"
#include "door/mpiio/status.hpp"
#include "door/mpiio/type_cache.hpp"

namespace forebay::mpiio {
namespace {

// An ordered write is MPI's while other ranks go on staging (N1a): it may write again what lies between the
// ranks' pieces, from when all have come until all have gone.
bool meets_staging(const OpenFile& file, const Access& access) {
  return access.pointer == Pointer::kOrdered && access.way == Way::kWrite && !file.passes_all();
}

// A collective write in which every rank has many pieces with gaps that the others do not fill, or nothing:
// MPI writes large blocks. Asked by all ranks alike.
bool all_better_natively(const OpenFile& file, const Access& access) {
  if (!file.all_sparse() || !access.collective || access.way != Way::kWrite || access.nonblocking ||
      access.split || access.pointer == Pointer::kOrdered || file.passes(access.pointer))
    return false;
  MPI_Count size = 0;
  if (may_be_type(access.type)) PMPI_Type_size_x(access.type, &size);
  const auto bytes = access.count > 0 ? static_cast<std::uint64_t>(size * access.count) : 0;
  return file.ranks().all(bytes == 0 || file.better_natively(bytes));
}

// All ranks leave it to MPI. Others who have the file open here may have staged something. A rank that cannot
// bring that home fails alone; in a collective call the others wait for it, so it takes its part there, with
// nothing to move (`take_part`).
template <class Native, class TakePart>
int pass(OpenFile& file, const Access& access, Native&& native, TakePart&& take_part) {
  const bool ours = !file.passes(access.pointer);
  file.note_passed(ours ? "MPI-IO: many pieces with narrow gaps" : file.why_passed());
  const bool together = ours || meets_staging(file, access);
  if (const auto status = together ? file.settle() : file.make_way(); !status) {
    // What all ranks have agreed upon nobody waits for.
    if (!together && access.collective) take_part();
    return raise(file.real(), status.error());
  }
  const bool hands_over = ours && access.pointer == Pointer::kIndividual;
  if (hands_over) file.hand_over_pointer();
  const int code = native(access.count);
  if (hands_over) file.take_over_pointer();
  if (together) file.ranks().barrier();
  file.forget();
  return code;
}

template <class Native, class TakePart, class Tell>
int carry_out(MPI_File real, const Access& access, Native&& native, TakePart&& take_part, Tell&& tell) {
  return guarded([&] {
    auto* const file = find(real);
    if (file == nullptr) return native(access.count);
    if (file->passes(access.pointer) || all_better_natively(*file, access))
      return pass(*file, access, native, [&] { take_part(*file); });
    const auto outcome = perform(*file, access);
    if (!outcome) return native(access.count);
    return outcome->code == MPI_SUCCESS ? tell(*file, outcome->bytes) : outcome->code;
  });
}

template <class Native>
int blocking(MPI_File real, const Access& access, MPI_Status* status, Native&& native) {
  return carry_out(
      real, access, native, [&](OpenFile&) { native(0); },
      [&](OpenFile&, std::uint64_t bytes) {
        set_status(status, bytes);
        return MPI_SUCCESS;
      });
}

template <class Native>
int nonblocking(MPI_File real, Access access, MPI_Request* request, Native&& native) {
  access.nonblocking = true;
  const auto take_part = [&](OpenFile& file) {
    if (native(0) == MPI_SUCCESS) file.end_at_close(*request);
    *request = MPI_REQUEST_NULL;
  };
  return carry_out(real, access, native, take_part,
                   [&](OpenFile&, std::uint64_t bytes) { return completed_request(bytes, request); });
}

// The class that MPI raises when a second split collective operation begins on a file.
#ifdef OPEN_MPI
constexpr int kSecondSplit = MPI_ERR_OTHER;
#else
constexpr int kSecondSplit = MPI_ERR_IO;
#endif

// `end`: the native call that ends it.
template <class Native, class End>
int split_begin(MPI_File real, Access access, std::string_view operation, Native&& native, End&& end) {
  access.split = true;
  auto* const file = find(real);
  if (file != nullptr && file->split) return raise(real, kSecondSplit);
  const auto both = [&](MPI_Count count, MPI_Status* status) {
    const int code = native(count);
    return code == MPI_SUCCESS ? end(status) : code;
  };
  const auto take_part = [&] { both(0, MPI_STATUS_IGNORE); };
  if (file != nullptr && file->passes(access.pointer) && meets_staging(*file, access)) {
    return guarded([&] {
      MPI_Status status;
      PMPI_Status_set_elements_x(&status, MPI_BYTE, 0);
      const int code = pass(*file, access, [&](MPI_Count count) { return both(count, &status); }, take_part);
      if (code != MPI_SUCCESS) return code;
      file->split = Split{operation, moved_bytes(status)};
      return code;
    });
  }
  return carry_out(
      real, access, native, [&](OpenFile&) { take_part(); },
      [&](OpenFile& begun, std::uint64_t bytes) {
        begun.split = Split{operation, bytes};
        return MPI_SUCCESS;
      });
}

template <class Native>
int split_end(MPI_File real, std::string_view operation, MPI_Status* status, Native&& native) {
  auto* const file = find(real);
  if (file == nullptr || !file->split || file->split->operation != operation) return native();
  set_status(status, file->split->bytes);
  file->split.reset();
  return MPI_SUCCESS;
}

// By the name of a function.
constexpr bool collective(std::string_view name) {
  return name.ends_with("_all") || name.ends_with("_ordered");
}

void* writable(const void* buffer) { return const_cast<void*>(buffer); }

}  // namespace
}  // namespace forebay::mpiio

using namespace forebay::mpiio;

#define FOREBAY_ACCESS(NAME, WAY, POINTER, OFFSET) \
  Access { Way::WAY, Pointer::POINTER, OFFSET, writable(buffer), count, type, collective(#NAME) }

// Shapes. Each exists with small and, where the library has them, with large counts. The native calls take
// as many elements as they are told: what was asked for, or none.
#define FOREBAY_AT(NAME, END, COUNT, BUFFER, WAY, POINTER)                                               \
  FOREBAY_MPI_API int MPI_File_##NAME##END(MPI_File file, MPI_Offset offset, BUFFER buffer, COUNT count, \
                                           MPI_Datatype type, MPI_Status* status) {                      \
    return blocking(file, FOREBAY_ACCESS(NAME, WAY, POINTER, offset), status, [&](MPI_Count n) {         \
      return PMPI_File_##NAME##END(file, offset, buffer, static_cast<COUNT>(n), type, status);           \
    });                                                                                                  \
  }
#define FOREBAY_HERE(NAME, END, COUNT, BUFFER, WAY, POINTER)                                             \
  FOREBAY_MPI_API int MPI_File_##NAME##END(MPI_File file, BUFFER buffer, COUNT count, MPI_Datatype type, \
                                           MPI_Status* status) {                                         \
    return blocking(file, FOREBAY_ACCESS(NAME, WAY, POINTER, 0), status, [&](MPI_Count n) {              \
      return PMPI_File_##NAME##END(file, buffer, static_cast<COUNT>(n), type, status);                   \
    });                                                                                                  \
  }
#define FOREBAY_IAT(NAME, END, COUNT, BUFFER, WAY, POINTER)                                              \
  FOREBAY_MPI_API int MPI_File_##NAME##END(MPI_File file, MPI_Offset offset, BUFFER buffer, COUNT count, \
                                           MPI_Datatype type, MPI_Request* request) {                    \
    return nonblocking(file, FOREBAY_ACCESS(NAME, WAY, POINTER, offset), request, [&](MPI_Count n) {     \
      return PMPI_File_##NAME##END(file, offset, buffer, static_cast<COUNT>(n), type, request);          \
    });                                                                                                  \
  }
#define FOREBAY_IHERE(NAME, END, COUNT, BUFFER, WAY, POINTER)                                            \
  FOREBAY_MPI_API int MPI_File_##NAME##END(MPI_File file, BUFFER buffer, COUNT count, MPI_Datatype type, \
                                           MPI_Request* request) {                                       \
    return nonblocking(file, FOREBAY_ACCESS(NAME, WAY, POINTER, 0), request, [&](MPI_Count n) {          \
      return PMPI_File_##NAME##END(file, buffer, static_cast<COUNT>(n), type, request);                  \
    });                                                                                                  \
  }
#define FOREBAY_AT_BEGIN(NAME, END, COUNT, BUFFER, WAY, POINTER)                                    \
  FOREBAY_MPI_API int MPI_File_##NAME##_begin##END(MPI_File file, MPI_Offset offset, BUFFER buffer, \
                                                   COUNT count, MPI_Datatype type) {                \
    return split_begin(                                                                             \
        file, FOREBAY_ACCESS(NAME, WAY, POINTER, offset), #NAME,                                    \
        [&](MPI_Count n) {                                                                          \
          return PMPI_File_##NAME##_begin##END(file, offset, buffer, static_cast<COUNT>(n), type);  \
        },                                                                                          \
        [&](MPI_Status* status) { return PMPI_File_##NAME##_end(file, buffer, status); });          \
  }
#define FOREBAY_BEGIN(NAME, END, COUNT, BUFFER, WAY, POINTER)                                 \
  FOREBAY_MPI_API int MPI_File_##NAME##_begin##END(MPI_File file, BUFFER buffer, COUNT count, \
                                                   MPI_Datatype type) {                       \
    return split_begin(                                                                       \
        file, FOREBAY_ACCESS(NAME, WAY, POINTER, 0), #NAME,                                   \
        [&](MPI_Count n) {                                                                    \
          return PMPI_File_##NAME##_begin##END(file, buffer, static_cast<COUNT>(n), type);    \
        },                                                                                    \
        [&](MPI_Status* status) { return PMPI_File_##NAME##_end(file, buffer, status); });    \
  }
#define FOREBAY_END(NAME, BUFFER)                                                                        \
  FOREBAY_MPI_API int MPI_File_##NAME##_end(MPI_File file, BUFFER buffer, MPI_Status* status) {          \
    return split_end(file, #NAME, status, [&] { return PMPI_File_##NAME##_end(file, buffer, status); }); \
  }

#if MPI_VERSION >= 4
#define FOREBAY_BOTH(SHAPE, NAME, ...) SHAPE(NAME, , int, __VA_ARGS__) SHAPE(NAME, _c, MPI_Count, __VA_ARGS__)
#else
#define FOREBAY_BOTH(SHAPE, NAME, ...) SHAPE(NAME, , int, __VA_ARGS__)
#endif
#define FOREBAY_READ(SHAPE, NAME, POINTER) FOREBAY_BOTH(SHAPE, NAME, void*, kRead, POINTER)
#define FOREBAY_WRITE(SHAPE, NAME, POINTER) FOREBAY_BOTH(SHAPE, NAME, const void*, kWrite, POINTER)

FOREBAY_READ(FOREBAY_AT, read_at, kExplicit)
FOREBAY_READ(FOREBAY_AT, read_at_all, kExplicit)
FOREBAY_READ(FOREBAY_HERE, read, kIndividual)
FOREBAY_READ(FOREBAY_HERE, read_all, kIndividual)
FOREBAY_READ(FOREBAY_HERE, read_shared, kShared)
FOREBAY_READ(FOREBAY_HERE, read_ordered, kOrdered)
FOREBAY_READ(FOREBAY_IAT, iread_at, kExplicit)
FOREBAY_READ(FOREBAY_IAT, iread_at_all, kExplicit)
FOREBAY_READ(FOREBAY_IHERE, iread, kIndividual)
FOREBAY_READ(FOREBAY_IHERE, iread_all, kIndividual)
FOREBAY_READ(FOREBAY_IHERE, iread_shared, kShared)
FOREBAY_READ(FOREBAY_AT_BEGIN, read_at_all, kExplicit)
FOREBAY_READ(FOREBAY_BEGIN, read_all, kIndividual)
FOREBAY_READ(FOREBAY_BEGIN, read_ordered, kOrdered)
FOREBAY_END(read_at_all, void*)
FOREBAY_END(read_all, void*)
FOREBAY_END(read_ordered, void*)

FOREBAY_WRITE(FOREBAY_AT, write_at, kExplicit)
FOREBAY_WRITE(FOREBAY_AT, write_at_all, kExplicit)
FOREBAY_WRITE(FOREBAY_HERE, write, kIndividual)
FOREBAY_WRITE(FOREBAY_HERE, write_all, kIndividual)
FOREBAY_WRITE(FOREBAY_HERE, write_shared, kShared)
FOREBAY_WRITE(FOREBAY_HERE, write_ordered, kOrdered)
FOREBAY_WRITE(FOREBAY_IAT, iwrite_at, kExplicit)
FOREBAY_WRITE(FOREBAY_IAT, iwrite_at_all, kExplicit)
FOREBAY_WRITE(FOREBAY_IHERE, iwrite, kIndividual)
FOREBAY_WRITE(FOREBAY_IHERE, iwrite_all, kIndividual)
FOREBAY_WRITE(FOREBAY_IHERE, iwrite_shared, kShared)
FOREBAY_WRITE(FOREBAY_AT_BEGIN, write_at_all, kExplicit)
FOREBAY_WRITE(FOREBAY_BEGIN, write_all, kIndividual)
FOREBAY_WRITE(FOREBAY_BEGIN, write_ordered, kOrdered)
FOREBAY_END(write_at_all, const void*)
FOREBAY_END(write_all, const void*)
FOREBAY_END(write_ordered, const void*)
