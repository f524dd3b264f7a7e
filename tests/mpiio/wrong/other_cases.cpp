// The functions that open, close, shape and describe a file, with each mistake.
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <format>
#include <string>

#include "cases.hpp"

namespace {

struct Scene {
  std::string folder;
  std::string path;
  MPI_File both = MPI_FILE_NULL;
  MPI_File reader = MPI_FILE_NULL;
  MPI_File writer = MPI_FILE_NULL;
  MPI_File in_order = MPI_FILE_NULL;
  MPI_Datatype uncommitted = MPI_DATATYPE_NULL;
  MPI_Datatype empty = MPI_DATATYPE_NULL;
  MPI_Datatype backwards = MPI_DATATYPE_NULL;
  MPI_Datatype below = MPI_DATATYPE_NULL;  // has a byte before its beginning
  MPI_Info wrong_hints = MPI_INFO_NULL;
  int rank = 0;
};

MPI_File open(const std::string& path, int amode) {
  MPI_File file = MPI_FILE_NULL;
  if (MPI_File_open(MPI_COMM_WORLD, path.c_str(), amode, MPI_INFO_NULL, &file) != MPI_SUCCESS)
    MPI_Abort(MPI_COMM_WORLD, 3);
  return file;
}

void set_scene(Scene& scene) {
  if (scene.rank == 0) {
    FILE* const made = std::fopen(scene.path.c_str(), "w");
    for (int i = 0; i < 1000; ++i) std::fputc(i, made);
    std::fclose(made);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  scene.both = open(scene.path, MPI_MODE_RDWR);
  scene.reader = open(scene.path, MPI_MODE_RDONLY);
  scene.writer = open(scene.path, MPI_MODE_WRONLY);
  scene.in_order = open(scene.path, MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
}

void end_scene(Scene& scene) {
  for (auto* const file : {&scene.both, &scene.reader, &scene.writer, &scene.in_order}) {
    if (*file != MPI_FILE_NULL) MPI_File_close(file);
  }
}

// Opens, and closes again what could be opened.
int try_open(MPI_Comm comm, const std::string& path, int amode, MPI_Info info = MPI_INFO_NULL) {
  MPI_File file = MPI_FILE_NULL;
  const int code = MPI_File_open(comm, path.c_str(), amode, info, &file);
  if (code == MPI_SUCCESS) MPI_File_close(&file);
  return code;
}

int view(MPI_File file, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
         const char* representation = "native", MPI_Info info = MPI_INFO_NULL) {
  return MPI_File_set_view(file, displacement, etype, filetype, representation, info);
}

struct Case {
  const char* name;
  int (*run)(Scene& scene);
};

MPI_Offset place = 0;
MPI_Aint extent = 0;
int number = 0;
MPI_Group group = MPI_GROUP_NULL;

constexpr int kAll = MPI_MODE_RDONLY | MPI_MODE_WRONLY | MPI_MODE_RDWR;

// Of each function. Natively some crash one of the two MPIs: those are not here.
constexpr auto kCases = std::to_array<Case>({
    {"open, no mode", [](Scene& s) { return try_open(MPI_COMM_WORLD, s.path, 0); }},
    {"open, all modes", [](Scene& s) { return try_open(MPI_COMM_WORLD, s.path, kAll); }},
    {"open, read and write twice",
     [](Scene& s) { return try_open(MPI_COMM_WORLD, s.path, MPI_MODE_RDONLY | MPI_MODE_WRONLY); }},
    {"open, create to read",
     [](Scene& s) { return try_open(MPI_COMM_WORLD, s.folder + "/new", MPI_MODE_RDONLY | MPI_MODE_CREATE); }},
    {"open, exclusively to read",
     [](Scene& s) { return try_open(MPI_COMM_WORLD, s.path, MPI_MODE_RDONLY | MPI_MODE_EXCL); }},
    {"open, read and write in order",
     [](Scene& s) { return try_open(MPI_COMM_WORLD, s.path, MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL); }},
    {"open, read in order",
     [](Scene& s) { return try_open(MPI_COMM_WORLD, s.path, MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL); }},
    {"open, append only", [](Scene& s) { return try_open(MPI_COMM_WORLD, s.path, MPI_MODE_APPEND); }},
    {"open, append and read",
     [](Scene& s) { return try_open(MPI_COMM_WORLD, s.path, MPI_MODE_RDONLY | MPI_MODE_APPEND); }},
    {"open, unknown mode", [](Scene& s) { return try_open(MPI_COMM_WORLD, s.path, 1 << 20); }},
    {"open, missing",
     [](Scene& s) { return try_open(MPI_COMM_WORLD, s.folder + "/missing", MPI_MODE_RDWR); }},
    {"open, missing folder",
     [](Scene& s) {
       return try_open(MPI_COMM_WORLD, s.folder + "/missing/file", MPI_MODE_RDWR | MPI_MODE_CREATE);
     }},
    {"open, a file as a folder",
     [](Scene& s) { return try_open(MPI_COMM_WORLD, s.path + "/file", MPI_MODE_RDWR | MPI_MODE_CREATE); }},
    {"open, a folder", [](Scene& s) { return try_open(MPI_COMM_WORLD, s.folder, MPI_MODE_RDWR); }},
    {"open, a folder to read", [](Scene& s) { return try_open(MPI_COMM_WORLD, s.folder, MPI_MODE_RDONLY); }},
    {"open, a loop of links",
     [](Scene& s) { return try_open(MPI_COMM_WORLD, s.folder + "/loop", MPI_MODE_RDWR); }},
    {"open, a link to nothing",
     [](Scene& s) { return try_open(MPI_COMM_WORLD, s.folder + "/nothing", MPI_MODE_RDWR); }},
    {"open, exists",
     [](Scene& s) {
       return try_open(MPI_COMM_WORLD, s.path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL);
     }},
    {"open, no name", [](Scene&) { return try_open(MPI_COMM_WORLD, "", MPI_MODE_RDWR); }},
#ifndef OPEN_MPI  // which ends the program
    {"open, a long name",
     [](Scene& s) {
       return try_open(MPI_COMM_WORLD, s.folder + "/" + std::string(300, 'n'), MPI_MODE_RDWR | MPI_MODE_CREATE);
     }},
    {"open, no ranks", [](Scene& s) { return try_open(MPI_COMM_NULL, s.path, MPI_MODE_RDWR); }},
#endif
    {"open, wrong hints",
     [](Scene& s) { return try_open(MPI_COMM_WORLD, s.path, MPI_MODE_RDWR, s.wrong_hints); }},
    {"open, other modes elsewhere",
     [](Scene& s) {
       return try_open(MPI_COMM_WORLD, s.path, s.rank == 0 ? MPI_MODE_RDWR : MPI_MODE_RDONLY);
     }},
    {"close, no file",
     [](Scene&) {
       MPI_File none = MPI_FILE_NULL;
       return MPI_File_close(&none);
     }},
    {"delete, missing",
     [](Scene& s) {
       return s.rank == 0 ? MPI_File_delete((s.folder + "/missing").c_str(), MPI_INFO_NULL) : MPI_SUCCESS;
     }},
    {"delete, a folder",
     [](Scene& s) { return s.rank == 0 ? MPI_File_delete(s.folder.c_str(), MPI_INFO_NULL) : MPI_SUCCESS; }},
    {"delete, no name",
     [](Scene& s) { return s.rank == 0 ? MPI_File_delete("", MPI_INFO_NULL) : MPI_SUCCESS; }},
    {"delete, while it is open",
     [](Scene& s) {
       MPI_Barrier(MPI_COMM_WORLD);
       return s.rank == 0 ? MPI_File_delete(s.path.c_str(), MPI_INFO_NULL) : MPI_SUCCESS;
     }},
    {"set_view, no file", [](Scene&) { return view(MPI_FILE_NULL, 0, MPI_BYTE, MPI_BYTE); }},
    {"set_view, negative displacement", [](Scene& s) { return view(s.both, -5, MPI_BYTE, MPI_BYTE); }},
    {"set_view, here", [](Scene& s) { return view(s.both, MPI_DISPLACEMENT_CURRENT, MPI_BYTE, MPI_BYTE); }},
    {"set_view, in order, not here", [](Scene& s) { return view(s.in_order, 0, MPI_BYTE, MPI_BYTE); }},
    {"set_view, no etype", [](Scene& s) { return view(s.both, 0, MPI_DATATYPE_NULL, MPI_BYTE); }},
    {"set_view, no filetype", [](Scene& s) { return view(s.both, 0, MPI_BYTE, MPI_DATATYPE_NULL); }},
    {"set_view, uncommitted etype", [](Scene& s) { return view(s.both, 0, s.uncommitted, s.uncommitted); }},
    {"set_view, uncommitted filetype", [](Scene& s) { return view(s.both, 0, MPI_INT, s.uncommitted); }},
    {"set_view, not whole etypes", [](Scene& s) { return view(s.both, 0, MPI_INT, MPI_BYTE); }},
    {"set_view, a filetype that goes back", [](Scene& s) { return view(s.both, 0, MPI_INT, s.backwards); }},
    {"set_view, a filetype before its beginning", [](Scene& s) { return view(s.both, 0, MPI_INT, s.below); }},
    {"set_view, no representation", [](Scene& s) { return view(s.both, 0, MPI_BYTE, MPI_BYTE, ""); }},
    {"set_view, unknown representation",
     [](Scene& s) { return view(s.both, 0, MPI_BYTE, MPI_BYTE, "no such thing"); }},
    {"set_view, NATIVE", [](Scene& s) { return view(s.both, 0, MPI_BYTE, MPI_BYTE, "NATIVE"); }},
    {"set_view, wrong hints",
     [](Scene& s) { return view(s.both, 0, MPI_BYTE, MPI_BYTE, "native", s.wrong_hints); }},
    {"set_view, another etype elsewhere",
     [](Scene& s) {
       const auto type = s.rank == 0 ? MPI_INT : MPI_SHORT;
       return view(s.both, 0, type, type);
     }},
    {"get_view, no file",
     [](Scene&) {
       MPI_Datatype etype = MPI_DATATYPE_NULL;
       MPI_Datatype filetype = MPI_DATATYPE_NULL;
       char representation[MPI_MAX_DATAREP_STRING] = "";
       return MPI_File_get_view(MPI_FILE_NULL, &place, &etype, &filetype, representation);
     }},
    {"set_size, no file", [](Scene&) { return MPI_File_set_size(MPI_FILE_NULL, 10); }},
    {"set_size, negative", [](Scene& s) { return MPI_File_set_size(s.both, -1); }},
    {"set_size, of a reader", [](Scene& s) { return MPI_File_set_size(s.reader, 10); }},
    {"set_size, other sizes elsewhere", [](Scene& s) { return MPI_File_set_size(s.both, 500 + s.rank); }},
    {"get_size, no file", [](Scene&) { return MPI_File_get_size(MPI_FILE_NULL, &place); }},
    {"get_size, in order", [](Scene& s) { return MPI_File_get_size(s.in_order, &place); }},
    {"preallocate, no file", [](Scene&) { return MPI_File_preallocate(MPI_FILE_NULL, 10); }},
    {"preallocate, negative", [](Scene& s) { return MPI_File_preallocate(s.both, -1); }},
    {"preallocate, of a reader", [](Scene& s) { return MPI_File_preallocate(s.reader, 10); }},
    {"preallocate, in order", [](Scene& s) { return MPI_File_preallocate(s.in_order, 10); }},
    {"preallocate, other sizes elsewhere",
     [](Scene& s) { return MPI_File_preallocate(s.both, 1500 + s.rank); }},
    {"sync, no file", [](Scene&) { return MPI_File_sync(MPI_FILE_NULL); }},
    {"sync, of a reader", [](Scene& s) { return MPI_File_sync(s.reader); }},
    {"set_atomicity, no file", [](Scene&) { return MPI_File_set_atomicity(MPI_FILE_NULL, 1); }},
    {"set_atomicity, of a reader", [](Scene& s) { return MPI_File_set_atomicity(s.reader, 1); }},
    {"set_atomicity, 7", [](Scene& s) { return MPI_File_set_atomicity(s.both, 7); }},
    {"set_atomicity, different elsewhere", [](Scene& s) { return MPI_File_set_atomicity(s.both, s.rank % 2); }},
    {"get_atomicity, no file", [](Scene&) { return MPI_File_get_atomicity(MPI_FILE_NULL, &number); }},
    {"seek, no file", [](Scene&) { return MPI_File_seek(MPI_FILE_NULL, 0, MPI_SEEK_SET); }},
    {"seek, unknown whence", [](Scene& s) { return MPI_File_seek(s.both, 5, 12345); }},
    {"seek, before the beginning", [](Scene& s) { return MPI_File_seek(s.both, -1, MPI_SEEK_SET); }},
    {"seek, back before the beginning", [](Scene& s) { return MPI_File_seek(s.both, -1, MPI_SEEK_CUR); }},
    {"seek, from the end before the beginning",
     [](Scene& s) { return MPI_File_seek(s.both, -5000, MPI_SEEK_END); }},
    {"seek, behind the end", [](Scene& s) { return MPI_File_seek(s.both, 5000, MPI_SEEK_SET); }},
    {"seek, in order", [](Scene& s) { return MPI_File_seek(s.in_order, 5, MPI_SEEK_SET); }},
    {"get_position, no file", [](Scene&) { return MPI_File_get_position(MPI_FILE_NULL, &place); }},
    {"get_position, in order", [](Scene& s) { return MPI_File_get_position(s.in_order, &place); }},
    {"seek_shared, no file", [](Scene&) { return MPI_File_seek_shared(MPI_FILE_NULL, 0, MPI_SEEK_SET); }},
    {"seek_shared, unknown whence", [](Scene& s) { return MPI_File_seek_shared(s.both, 5, 12345); }},
    {"seek_shared, before the beginning", [](Scene& s) { return MPI_File_seek_shared(s.both, -1, MPI_SEEK_SET); }},
    {"seek_shared, back before the beginning",
     [](Scene& s) { return MPI_File_seek_shared(s.both, -1, MPI_SEEK_CUR); }},
    {"seek_shared, other places elsewhere",
     [](Scene& s) { return MPI_File_seek_shared(s.both, s.rank, MPI_SEEK_SET); }},
    {"seek_shared, in order", [](Scene& s) { return MPI_File_seek_shared(s.in_order, 5, MPI_SEEK_SET); }},
    {"get_position_shared, no file", [](Scene&) { return MPI_File_get_position_shared(MPI_FILE_NULL, &place); }},
    {"get_position_shared, in order",
     [](Scene& s) { return MPI_File_get_position_shared(s.in_order, &place); }},
    {"get_byte_offset, no file", [](Scene&) { return MPI_File_get_byte_offset(MPI_FILE_NULL, 5, &place); }},
    {"get_byte_offset, negative", [](Scene& s) { return MPI_File_get_byte_offset(s.both, -5, &place); }},
    {"get_byte_offset, in order", [](Scene& s) { return MPI_File_get_byte_offset(s.in_order, 5, &place); }},
    {"get_type_extent, no file", [](Scene&) { return MPI_File_get_type_extent(MPI_FILE_NULL, MPI_INT, &extent); }},
    {"get_type_extent, no type",
     [](Scene& s) { return MPI_File_get_type_extent(s.both, MPI_DATATYPE_NULL, &extent); }},
#if MPI_VERSION >= 4
    {"get_type_extent_c, no type",
     [](Scene& s) {
       MPI_Count large = 0;
       return MPI_File_get_type_extent_c(s.both, MPI_DATATYPE_NULL, &large);
     }},
#endif
    {"get_group, no file", [](Scene&) { return MPI_File_get_group(MPI_FILE_NULL, &group); }},
    {"get_amode, no file", [](Scene&) { return MPI_File_get_amode(MPI_FILE_NULL, &number); }},
#ifndef OPEN_MPI  // which ends the program
    {"set_info, no file", [](Scene&) { return MPI_File_set_info(MPI_FILE_NULL, MPI_INFO_NULL); }},
#endif
    {"set_info, wrong hints", [](Scene& s) { return MPI_File_set_info(s.both, s.wrong_hints); }},
#ifndef OPEN_MPI
    {"get_info, no file",
     [](Scene&) {
       MPI_Info told = MPI_INFO_NULL;
       return MPI_File_get_info(MPI_FILE_NULL, &told);
     }},
#endif
    {"call_errhandler", [](Scene& s) { return MPI_File_call_errhandler(s.both, MPI_ERR_QUOTA); }},
});

// A handle is good after whatever was asked of it.
std::string still_good(Scene& scene) {
  if (class_of(MPI_File_set_atomicity(scene.both, 0)) != MPI_SUCCESS) return ", it stays atomic";
  view(scene.both, 0, MPI_BYTE, MPI_BYTE);
  std::array<char, 4> bytes{'a', 'b', 'c', 'd'};
  MPI_Offset size = -1;
  const int wrote =
      MPI_File_write_at(scene.both, 4 * scene.rank, bytes.data(), 4, MPI_BYTE, MPI_STATUS_IGNORE);
  const int read = MPI_File_read_at(scene.both, 4 * scene.rank, bytes.data(), 4, MPI_BYTE, MPI_STATUS_IGNORE);
  MPI_File_get_size(scene.both, &size);
  return std::format(", then write {}, read {}, {} bytes", class_of(wrote), class_of(read), size);
}

}  // namespace

void run_other_cases(const std::string& folder) {
  Scene scene{.folder = folder, .path = folder + "/file"};
  MPI_Comm_rank(MPI_COMM_WORLD, &scene.rank);
  MPI_Type_vector(2, 1, 2, MPI_INT, &scene.uncommitted);
  MPI_Type_contiguous(0, MPI_INT, &scene.empty);
  MPI_Type_commit(&scene.empty);
  const std::array<int, 2> lengths{1, 1};
  const std::array<int, 2> back{3, 0};
  MPI_Type_indexed(2, lengths.data(), back.data(), MPI_INT, &scene.backwards);
  MPI_Type_commit(&scene.backwards);
  const std::array<int, 2> before{-1, 2};
  MPI_Type_indexed(2, lengths.data(), before.data(), MPI_INT, &scene.below);
  MPI_Type_commit(&scene.below);
  MPI_Info_create(&scene.wrong_hints);
  for (const auto* const key :
       {"forebay_mode", "forebay_path", "forebay_drain_trigger", "cb_nodes", "nonsense"})
    MPI_Info_set(scene.wrong_hints, key, "no such thing");
  if (scene.rank == 0) {
    if (::symlink("loop", (folder + "/loop").c_str()) != 0) std::abort();
    if (::symlink("nowhere", (folder + "/nothing").c_str()) != 0) std::abort();
  }
  for (const auto& one : kCases) {
    if (!wanted(one.name)) continue;
    set_scene(scene);
    begin(one.name);
    const int code = one.run(scene);
    MPI_Barrier(MPI_COMM_WORLD);
    tell(code, still_good(scene));
    end_scene(scene);
  }
  for (auto* const type : {&scene.uncommitted, &scene.empty, &scene.backwards, &scene.below})
    MPI_Type_free(type);
  MPI_Info_free(&scene.wrong_hints);
}
