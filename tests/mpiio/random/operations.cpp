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

#define AT(NAME, END, WRITES, ALL)                                               \
  {#NAME #END,                                                                   \
   WRITES,                                                                       \
   ALL,                                                                          \
   true,                                                                         \
   false,                                                                        \
   [](MPI_File f, MPI_Offset o, void* b, int n, MPI_Datatype t, MPI_Status* s) { \
     return MPI_File_##NAME##END(f, o, b, n, t, s);                              \
   }}
#define HERE(NAME, END, WRITES, ALL, SHARED)                                   \
  {#NAME #END,                                                                 \
   WRITES,                                                                     \
   ALL,                                                                        \
   false,                                                                      \
   SHARED,                                                                     \
   [](MPI_File f, MPI_Offset, void* b, int n, MPI_Datatype t, MPI_Status* s) { \
     return MPI_File_##NAME##END(f, b, n, t, s);                               \
   }}
#define IAT(NAME, END, WRITES, ALL)                                                \
  {#NAME #END,                                                                     \
   WRITES,                                                                         \
   ALL,                                                                            \
   true,                                                                           \
   false,                                                                          \
   [](MPI_File f, MPI_Offset o, void* b, int n, MPI_Datatype t, MPI_Status* s) {   \
     MPI_Request request = MPI_REQUEST_NULL;                                       \
     return finish(MPI_File_##NAME##END(f, o, b, n, t, &request), &request, n, s); \
   },                                                                              \
   [](MPI_File f, MPI_Offset o, void* b, int n, MPI_Datatype t, MPI_Request* r) {  \
     return MPI_File_##NAME##END(f, o, b, n, t, r);                                \
   }}
#define IHERE(NAME, END, WRITES, ALL, SHARED)                                   \
  {#NAME #END,                                                                  \
   WRITES,                                                                      \
   ALL,                                                                         \
   false,                                                                       \
   SHARED,                                                                      \
   [](MPI_File f, MPI_Offset, void* b, int n, MPI_Datatype t, MPI_Status* s) {  \
     MPI_Request request = MPI_REQUEST_NULL;                                    \
     return finish(MPI_File_##NAME##END(f, b, n, t, &request), &request, n, s); \
   },                                                                           \
   [](MPI_File f, MPI_Offset, void* b, int n, MPI_Datatype t, MPI_Request* r) { \
     return MPI_File_##NAME##END(f, b, n, t, r);                                \
   }}
#define SPLIT_AT(NAME, END, WRITES)                                              \
  {#NAME "_begin" #END,                                                          \
   WRITES,                                                                       \
   true,                                                                         \
   true,                                                                         \
   false,                                                                        \
   [](MPI_File f, MPI_Offset o, void* b, int n, MPI_Datatype t, MPI_Status* s) { \
     const int code = MPI_File_##NAME##_begin##END(f, o, b, n, t);               \
     return code == MPI_SUCCESS ? MPI_File_##NAME##_end(f, b, s) : code;         \
   }}
#define SPLIT(NAME, END, WRITES, SHARED)                                       \
  {#NAME "_begin" #END,                                                        \
   WRITES,                                                                     \
   true,                                                                       \
   false,                                                                      \
   SHARED,                                                                     \
   [](MPI_File f, MPI_Offset, void* b, int n, MPI_Datatype t, MPI_Status* s) { \
     const int code = MPI_File_##NAME##_begin##END(f, b, n, t);                \
     return code == MPI_SUCCESS ? MPI_File_##NAME##_end(f, b, s) : code;       \
   }}

#define ALL(END)                                                                                     \
  AT(read_at, END, false, false), AT(write_at, END, true, false), AT(read_at_all, END, false, true), \
      AT(write_at_all, END, true, true), HERE(read, END, false, false, false),                       \
      HERE(write, END, true, false, false), HERE(read_all, END, false, true, false),                 \
      HERE(write_all, END, true, true, false), HERE(read_shared, END, false, false, true),           \
      HERE(write_shared, END, true, false, true), HERE(read_ordered, END, false, true, true),        \
      HERE(write_ordered, END, true, true, true), IAT(iread_at, END, false, false),                  \
      IAT(iwrite_at, END, true, false), IAT(iread_at_all, END, false, true),                         \
      IAT(iwrite_at_all, END, true, true), IHERE(iread, END, false, false, false),                   \
      IHERE(iwrite, END, true, false, false), IHERE(iread_all, END, false, true, false),             \
      IHERE(iwrite_all, END, true, true, false), IHERE(iread_shared, END, false, false, true),       \
      IHERE(iwrite_shared, END, true, false, true), SPLIT_AT(read_at_all, END, false),               \
      SPLIT_AT(write_at_all, END, true), SPLIT(read_all, END, false, false),                         \
      SPLIT(write_all, END, true, false), SPLIT(read_ordered, END, false, true),                     \
      SPLIT(write_ordered, END, true, true)

constexpr auto kAll = std::to_array<Operation>({
    ALL(),
#if MPI_VERSION >= 4
    ALL(_c),
#endif
});

}  // namespace

std::span<const Operation> operations() { return kAll; }
