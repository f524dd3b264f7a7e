// The functions that open, close and shape a file. Those that are not here need nothing of us: handles are
// MPI's own.
#include <mpi.h>

#include <algorithm>
#include <mutex>

#include "door/mpiio/api.hpp"
#include "door/mpiio/errors.hpp"
#include "door/mpiio/file_table.hpp"
#include "door/mpiio/opening.hpp"
#include "door/mpiio/wishes.hpp"
#include "session/session.hpp"

namespace forebay::mpiio {
namespace {

int finish(MPI_Comm /*comm*/, int /*key*/, void* /*value*/, void* /*state*/) {
  leave();
  return MPI_SUCCESS;
}

// MPI_Finalize frees the attributes of MPI_COMM_SELF first of all, the latest one first. Those of MPI's own
// I/O, which we still need then, were set by the first open. Sessions have an end of their own.
void finish_before_finalize() {
  if (!world_is_there()) return;
  static std::once_flag once;
  std::call_once(once, [] {
    int key = MPI_KEYVAL_INVALID;
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finish, &key, nullptr);
    PMPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
  });
}

// For programs that end without MPI_Finalize. A forked child has nothing to leave.
__attribute__((destructor)) void finish_at_exit() { (void)leave_all(); }

bool is_of_class(int code, int wanted) {
  int found = MPI_SUCCESS;
  PMPI_Error_class(code, &found);
  return found == wanted;
}

int open(MPI_Comm comm, const char* name, int amode, MPI_Info info, MPI_File* file) {
  const int code = PMPI_File_open(comm, name, amode, info, file);
  if (is_of_class(code, MPI_ERR_COMM)) return code;
  if (code == MPI_SUCCESS) finish_before_finalize();
  auto opened = begin_buffering(comm, name, amode, info, code == MPI_SUCCESS ? *file : MPI_FILE_NULL);
  if (opened) insert(*file, std::move(opened));
  return code;
}

// What is removed need not go home first. If it stays, because that is refused or it has other names, it
// does.
int close_and_delete(MPI_File* file, OpenFile& opened) {
  const auto only = opened.only_name();
  // The first to come would remove it under the others' hands.
  opened.ranks().barrier();
  const int code = PMPI_File_close(file);
  // One rank removes it, and OMPIO does not wait for that.
  opened.ranks().barrier();
  only.was_removed();
  if (const auto status = opened.close(); !status && status.error().code != ENOTCONN)
    return raise(MPI_FILE_NULL, status.error());
  return code;
}

int close(MPI_File* file) {
  const auto opened = *file == MPI_FILE_NULL ? nullptr : remove(*file);
  if (!opened) return PMPI_File_close(file);
  int code = MPI_SUCCESS;
  opened->end_requests();
  if (opened->passes_some()) opened->forget();
  if (opened->deletes_on_close()) return close_and_delete(file, *opened);
  opened->await_writers();
  if (const auto status = opened->close(); !status && status.error().code != ENOTCONN)
    code = raise(*file, status.error());
  const int native = PMPI_File_close(file);
  return code == MPI_SUCCESS ? native : code;
}

int set_size(OpenFile& file, MPI_Offset size) {
  // What others wrote before they came here is staged by now.
  file.ranks().barrier();
  const int code = PMPI_File_set_size(file.real(), size);
  if (!file.ranks().all(code == MPI_SUCCESS)) return code;
  const auto status = file.truncate(static_cast<std::uint64_t>(size));
  return status ? MPI_SUCCESS : raise(file.real(), status.error());
}

// Home may be longer than the engine knows: other nodes, and calls left to MPI, write there.
int get_size(OpenFile& file, MPI_Offset* size) {
  const int code = PMPI_File_get_size(file.real(), size);
  if (code != MPI_SUCCESS) return code;
  if (const auto staged = file.engine().size()) *size = std::max(*size, static_cast<MPI_Offset>(*staged));
  return MPI_SUCCESS;
}

int preallocate(OpenFile& file, MPI_Offset size) {
  // MPI may allocate by reading and writing what is there: nothing may be on its way home meanwhile.
  if (const auto status = file.settle(); !status) return raise(file.real(), status.error());
  // OMPIO reads and writes from the individual pointer on, and leaves it where it stopped.
  const bool ours = !file.passes(Pointer::kIndividual);
  if (ours) file.hand_over_pointer();
  int code = PMPI_File_preallocate(file.real(), size);
  if (ours) file.take_over_pointer();
  MPI_Offset now = 0;
  if (code == MPI_SUCCESS) code = get_size(file, &now);
  // OMPIO refuses nobody, also who may only read.
  if (!file.ranks().all(code == MPI_SUCCESS) || !file.writable()) return code;
  const auto status = file.truncate(static_cast<std::uint64_t>(now));
  return status ? MPI_SUCCESS : raise(file.real(), status.error());
}

int sync(OpenFile& file) {
  int code = MPI_SUCCESS;
  if (!file.writable()) {
    code = PMPI_File_sync(file.real());
  } else if (const auto status = file.engine().sync(); !status) {
    code = raise(file.real(), status.error());
  }
  // What other nodes wrote and synced is at home, and so is what MPI wrote since a nonblocking call began.
  if (file.others_elsewhere() || file.passes_some()) file.forget();
  return code;
}

int set_atomicity(OpenFile& file, int flag) {
  if (const auto status = file.settle(); !status) return raise(file.real(), status.error());
  const int code = PMPI_File_set_atomicity(file.real(), flag);
  if (code == MPI_SUCCESS) file.set_atomic(flag != 0);
  return code;
}

int seek(OpenFile& file, MPI_Offset offset, int whence) {
  if (whence == MPI_SEEK_END) {
    // Where the file ends in the view is for MPI to say; it must see the whole file for that.
    if (const auto status = file.bring_home(); !status) return raise(file.real(), status.error());
  }
  const bool relative = whence == MPI_SEEK_CUR;
  const int code = PMPI_File_seek(file.real(), relative ? file.position + offset : offset,
                                  relative ? MPI_SEEK_SET : whence);
  if (code == MPI_SUCCESS) file.take_over_pointer();
  return code;
}

// The real handle judges the arguments, and knows where the file ends in the view.
int seek_shared(OpenFile& file, MPI_Offset offset, int whence) {
  if (whence == MPI_SEEK_END) {
    if (const auto status = file.settle(); !status) return raise(file.real(), status.error());
  } else {
    file.ranks().barrier();  // nobody moves it any more
  }
  const bool relative = whence == MPI_SEEK_CUR;
  const int code = PMPI_File_seek_shared(file.real(), relative ? file.shared().position() + offset : offset,
                                         relative ? MPI_SEEK_SET : whence);
  if (!file.ranks().all(code == MPI_SUCCESS)) return code;
  file.take_over_shared_pointer();
  return MPI_SUCCESS;
}

// `served` if the file is ours.
template <class Native, class Served>
int shape(MPI_File real, Native&& native, Served&& served) {
  return guarded([&] {
    auto* const file = find(real);
    return file == nullptr ? native() : served(*file);
  });
}

// The same, unless such a pointer is the real handle's.
template <class Native, class Served>
int point(MPI_File real, Pointer pointer, Native&& native, Served&& served) {
  return shape(real, native, [&](OpenFile& file) { return file.passes(pointer) ? native() : served(file); });
}

}  // namespace
}  // namespace forebay::mpiio

using namespace forebay::mpiio;

FOREBAY_MPI_API int MPI_File_open(MPI_Comm comm, const char* name, int amode, MPI_Info info, MPI_File* file) {
  return guarded([&] { return open(comm, name, amode, info, file); });
}

FOREBAY_MPI_API int MPI_File_close(MPI_File* file) {
  return guarded([&] { return close(file); });
}

#ifdef FOREBAY_MPI_SESSIONS
FOREBAY_MPI_API int MPI_Session_finalize(MPI_Session* session) {
  return guarded([&] {
    settle_all();
    return PMPI_Session_finalize(session);
  });
}
#endif

FOREBAY_MPI_API int MPI_File_delete(const char* name, MPI_Info info) {
  return guarded([&] { return delete_file(name, info); });
}

FOREBAY_MPI_API int MPI_File_set_view(MPI_File file, MPI_Offset displacement, MPI_Datatype etype,
                                      MPI_Datatype filetype, const char* datarep, MPI_Info info) {
  return guarded([&] {
    const int code = PMPI_File_set_view(file, displacement, etype, filetype, datarep, info);
    auto* const opened = code == MPI_SUCCESS ? find(file) : nullptr;
    if (opened == nullptr) return code;
    const auto status = opened->set_view(displacement, etype, filetype, datarep);
    return status ? MPI_SUCCESS : raise(file, status.error());
  });
}

FOREBAY_MPI_API int MPI_File_set_size(MPI_File file, MPI_Offset size) {
  return shape(
      file, [&] { return PMPI_File_set_size(file, size); },
      [&](OpenFile& ours) { return set_size(ours, size); });
}

FOREBAY_MPI_API int MPI_File_get_size(MPI_File file, MPI_Offset* size) {
  return shape(
      file, [&] { return PMPI_File_get_size(file, size); },
      [&](OpenFile& ours) { return get_size(ours, size); });
}

FOREBAY_MPI_API int MPI_File_preallocate(MPI_File file, MPI_Offset size) {
  return shape(
      file, [&] { return PMPI_File_preallocate(file, size); },
      [&](OpenFile& ours) { return preallocate(ours, size); });
}

FOREBAY_MPI_API int MPI_File_sync(MPI_File file) {
  return shape(file, [&] { return PMPI_File_sync(file); }, [&](OpenFile& ours) { return sync(ours); });
}

FOREBAY_MPI_API int MPI_File_set_atomicity(MPI_File file, int flag) {
  return shape(
      file, [&] { return PMPI_File_set_atomicity(file, flag); },
      [&](OpenFile& ours) { return set_atomicity(ours, flag); });
}

FOREBAY_MPI_API int MPI_File_seek(MPI_File file, MPI_Offset offset, int whence) {
  return point(
      file, Pointer::kIndividual, [&] { return PMPI_File_seek(file, offset, whence); },
      [&](OpenFile& ours) { return seek(ours, offset, whence); });
}

FOREBAY_MPI_API int MPI_File_get_position(MPI_File file, MPI_Offset* offset) {
  return point(
      file, Pointer::kIndividual, [&] { return PMPI_File_get_position(file, offset); },
      [&](OpenFile& ours) {
        *offset = ours.position;
        return MPI_SUCCESS;
      });
}

FOREBAY_MPI_API int MPI_File_seek_shared(MPI_File file, MPI_Offset offset, int whence) {
  return point(
      file, Pointer::kShared, [&] { return PMPI_File_seek_shared(file, offset, whence); },
      [&](OpenFile& ours) { return seek_shared(ours, offset, whence); });
}

FOREBAY_MPI_API int MPI_File_get_position_shared(MPI_File file, MPI_Offset* offset) {
  return point(
      file, Pointer::kShared, [&] { return PMPI_File_get_position_shared(file, offset); },
      [&](OpenFile& ours) {
        *offset = ours.shared().position();
        return MPI_SUCCESS;
      });
}

FOREBAY_MPI_API int MPI_File_set_info(MPI_File file, MPI_Info info) {
  return guarded([&] {
    const int code = PMPI_File_set_info(file, info);
    auto* const opened = code == MPI_SUCCESS ? find(file) : nullptr;
    if (opened != nullptr) opened->choose_sieving();
    return code;
  });
}

FOREBAY_MPI_API int MPI_File_get_info(MPI_File file, MPI_Info* info) {
  return guarded([&] {
    const int code = PMPI_File_get_info(file, info);
    auto* const opened = code == MPI_SUCCESS ? find(file) : nullptr;
    if (opened == nullptr) return code;
    opened->sieving().conceal(*info);
    auto settings = opened->engine().settings();
    settings.prefetch_at_open = opened->wished.prefetch;
    tell(settings, opened->wished.path, *info);
    return code;
  });
}
