#include "operations.hpp"

#include <array>

namespace {

// Waits as programs do: one way or the other, told apart by the size of what they wait for.
int finish(int code, MPI_Request* request, int count, MPI_Status* status) {
  if (code != MPI_SUCCESS) return code;
  if (count % 3 == 0) return MPI_Wait(request, status);
  if (count % 3 == 1) {
    int index = 0;
    return MPI_Waitany(1, request, &index, status);
  }
  for (int done = 0; done == 0;) code = MPI_Test(request, &done, status);
  return code;
}

#define AT(NAME, WRITES, ALL)                                                    \
  {#NAME,                                                                        \
   WRITES,                                                                       \
   ALL,                                                                          \
   true,                                                                         \
   false,                                                                        \
   [](MPI_File f, MPI_Offset o, void* b, int n, MPI_Datatype t, MPI_Status* s) { \
     return MPI_File_##NAME(f, o, b, n, t, s);                                   \
   }}
#define HERE(NAME, WRITES, ALL, SHARED)                                        \
  {#NAME,                                                                      \
   WRITES,                                                                     \
   ALL,                                                                        \
   false,                                                                      \
   SHARED,                                                                     \
   [](MPI_File f, MPI_Offset, void* b, int n, MPI_Datatype t, MPI_Status* s) { \
     return MPI_File_##NAME(f, b, n, t, s);                                    \
   }}
#define IAT(NAME, WRITES, ALL)                                                   \
  {#NAME,                                                                        \
   WRITES,                                                                       \
   ALL,                                                                          \
   true,                                                                         \
   false,                                                                        \
   [](MPI_File f, MPI_Offset o, void* b, int n, MPI_Datatype t, MPI_Status* s) { \
     MPI_Request request = MPI_REQUEST_NULL;                                     \
     return finish(MPI_File_##NAME(f, o, b, n, t, &request), &request, n, s);    \
   }}
#define IHERE(NAME, WRITES, ALL, SHARED)                                       \
  {#NAME,                                                                      \
   WRITES,                                                                     \
   ALL,                                                                        \
   false,                                                                      \
   SHARED,                                                                     \
   [](MPI_File f, MPI_Offset, void* b, int n, MPI_Datatype t, MPI_Status* s) { \
     MPI_Request request = MPI_REQUEST_NULL;                                   \
     return finish(MPI_File_##NAME(f, b, n, t, &request), &request, n, s);     \
   }}
#define SPLIT_AT(NAME, WRITES)                                                   \
  {#NAME "_begin",                                                               \
   WRITES,                                                                       \
   true,                                                                         \
   true,                                                                         \
   false,                                                                        \
   [](MPI_File f, MPI_Offset o, void* b, int n, MPI_Datatype t, MPI_Status* s) { \
     const int code = MPI_File_##NAME##_begin(f, o, b, n, t);                    \
     return code == MPI_SUCCESS ? MPI_File_##NAME##_end(f, b, s) : code;         \
   }}
#define SPLIT(NAME, WRITES, SHARED)                                            \
  {#NAME "_begin",                                                             \
   WRITES,                                                                     \
   true,                                                                       \
   false,                                                                      \
   SHARED,                                                                     \
   [](MPI_File f, MPI_Offset, void* b, int n, MPI_Datatype t, MPI_Status* s) { \
     const int code = MPI_File_##NAME##_begin(f, b, n, t);                     \
     return code == MPI_SUCCESS ? MPI_File_##NAME##_end(f, b, s) : code;       \
   }}

constexpr auto kAll = std::to_array<Operation>({
    AT(read_at, false, false),
    AT(write_at, true, false),
    AT(read_at_all, false, true),
    AT(write_at_all, true, true),
    HERE(read, false, false, false),
    HERE(write, true, false, false),
    HERE(read_all, false, true, false),
    HERE(write_all, true, true, false),
    HERE(read_shared, false, false, true),
    HERE(write_shared, true, false, true),
    HERE(read_ordered, false, true, true),
    HERE(write_ordered, true, true, true),
    IAT(iread_at, false, false),
    IAT(iwrite_at, true, false),
    IAT(iread_at_all, false, true),
    IAT(iwrite_at_all, true, true),
    IHERE(iread, false, false, false),
    IHERE(iwrite, true, false, false),
    IHERE(iread_all, false, true, false),
    IHERE(iwrite_all, true, true, false),
    IHERE(iread_shared, false, false, true),
    IHERE(iwrite_shared, true, false, true),
    SPLIT_AT(read_at_all, false),
    SPLIT_AT(write_at_all, true),
    SPLIT(read_all, false, false),
    SPLIT(write_all, true, false),
    SPLIT(read_ordered, false, true),
    SPLIT(write_ordered, true, true),
});

}  // namespace

std::span<const Operation> operations() { return kAll; }
