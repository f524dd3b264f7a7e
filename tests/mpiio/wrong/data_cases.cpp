// Each function that moves data, with each mistake.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <format>
#include <limits>
#include <span>
#include <string>

#include "cases.hpp"
#include "operations.hpp"

namespace {

constexpr int kBytes = 4096;
constexpr int kCount = 5;

struct Files {
  std::string path;
  MPI_File both = MPI_FILE_NULL;
  MPI_File reader = MPI_FILE_NULL;
  MPI_File writer = MPI_FILE_NULL;
  // MPI_MODE_SEQUENTIAL
  MPI_File reads_in_order = MPI_FILE_NULL;
  MPI_File writes_in_order = MPI_FILE_NULL;
};

struct Types {
  MPI_Datatype uncommitted = MPI_DATATYPE_NULL;
  MPI_Datatype empty = MPI_DATATYPE_NULL;
};

struct Arguments {
  MPI_File file;
  MPI_Offset offset = 4;
  bool memory = true;
  int count = kCount;
  MPI_Datatype type = MPI_INT;
};

struct Mistake {
  const char* name;
  bool (*meets)(const Operation& one);
  void (*make)(Arguments& arguments, const Operation& one, const Files& files, const Types& types);
  MPI_Datatype etype = MPI_BYTE;
};

// ROMIO keeps shared pointers of several handles in one file at times.
bool by_own_pointer(const Operation& one) { return !one.shared; }
bool always(const Operation& /*one*/) { return true; }
bool split(const Operation& one) { return std::string_view(one.name).contains("_begin"); }
// One that could not begin may keep others from beginning.
bool where_it_is_over(const Operation& one) { return !split(one); }
bool nonblocking(const Operation& one) { return one.start != nullptr; }
// Others touch it themselves and end the program, or wait without end.
bool where_memory_is_judged(const Operation& one) { return !one.collective && !nonblocking(one); }
// By the shared pointer they do, too.
bool where_modes_are_judged(const Operation& one) { return !(nonblocking(one) && one.shared); }
#ifdef OPEN_MPI
// OMPIO's nonblocking calls divide by nothing, or wait without end.
bool where_nothing_moves(const Operation& one) { return !nonblocking(one) && !split(one); }
// and its collective ones tell of bytes that are not there.
bool reads_at_the_end(const Operation& one) { return !one.writes && !nonblocking(one) && !one.collective; }
// OMPIO moves bytes somewhere, up to exabytes away.
bool where_offsets_are_judged(const Operation& /*one*/) { return false; }
bool where_large_offsets_are_judged(const Operation& /*one*/) { return false; }
#else
// Split ones tell of what they moved before.
bool where_nothing_moves(const Operation& one) { return !split(one); }
// ROMIO's nonblocking collective ones tell of bytes that are not there, and split ones fail.
bool reads_at_the_end(const Operation& one) {
  return !one.writes && !split(one) && !(nonblocking(one) && one.collective);
}
bool where_offsets_are_judged(const Operation& one) { return one.at; }
// ROMIO's nonblocking calls wait without end.
bool where_large_offsets_are_judged(const Operation& one) { return one.at && !nonblocking(one); }
#endif

using A = Arguments;
using O = Operation;
using F = Files;
using T = Types;

constexpr auto kMistakes = std::to_array<Mistake>({
    {"none", always, [](A&, const O&, const F&, const T&) {}},
    {"no file", always, [](A& a, const O&, const F&, const T&) { a.file = MPI_FILE_NULL; }},
    {"negative count", always, [](A& a, const O&, const F&, const T&) { a.count = -1; }},
    {"no type", always, [](A& a, const O&, const F&, const T&) { a.type = MPI_DATATYPE_NULL; }},
#ifndef OPEN_MPI  // whose handles are addresses, which it looks at
    {"not a type", always,
     [](A& a, const O&, const F&, const T&) { a.type = static_cast<MPI_Datatype>(0x12345); }},
    {"not a type, nothing to move", always,
     [](A& a, const O&, const F&, const T&) {
       a.type = static_cast<MPI_Datatype>(0x12345);
       a.count = 0;
     }},
#endif
    {"no type, nothing to move", always,
     [](A& a, const O&, const F&, const T&) {
       a.type = MPI_DATATYPE_NULL;
       a.count = 0;
     }},
    {"uncommitted type", always, [](A& a, const O&, const F&, const T& t) { a.type = t.uncommitted; }},
    {"empty type", where_nothing_moves, [](A& a, const O&, const F&, const T& t) { a.type = t.empty; }},
    {"nothing to move", where_nothing_moves, [](A& a, const O&, const F&, const T&) { a.count = 0; }},
    {"nothing to move, no memory", where_nothing_moves,
     [](A& a, const O&, const F&, const T&) {
       a.count = 0;
       a.memory = false;
     }},
    {"negative offset", where_offsets_are_judged, [](A& a, const O&, const F&, const T&) { a.offset = -5; }},
    {"offset at the end of numbers", where_large_offsets_are_judged,
     [](A& a, const O&, const F&, const T&) { a.offset = std::numeric_limits<MPI_Offset>::max() - 7; }},
    {"no memory", where_memory_is_judged, [](A& a, const O&, const F&, const T&) { a.memory = false; }},
    {"wrong way", where_modes_are_judged,
     [](A& a, const O& one, const F& f, const T&) { a.file = one.writes ? f.reader : f.writer; }},
    {"wrong way, nothing to move", where_modes_are_judged,
     [](A& a, const O& one, const F& f, const T&) {
       a.file = one.writes ? f.reader : f.writer;
       a.count = 0;
     }},
    {"wrong way, no type", where_modes_are_judged,
     [](A& a, const O& one, const F& f, const T&) {
       a.file = one.writes ? f.reader : f.writer;
       a.type = MPI_DATATYPE_NULL;
     }},
    {"wrong way, negative count", where_modes_are_judged,
     [](A& a, const O& one, const F& f, const T&) {
       a.file = one.writes ? f.reader : f.writer;
       a.count = -1;
     }},
    {"sequential", by_own_pointer,
     [](A& a, const O& one, const F& f, const T&) {
       a.file = one.writes ? f.writes_in_order : f.reads_in_order;
     }},
    {"behind the end", reads_at_the_end, [](A& a, const O&, const F&, const T&) { a.offset = 1 << 20; }},
    {"at the end", reads_at_the_end, [](A& a, const O&, const F&, const T&) { a.offset = kBytes - 10; }},
    {"not whole etypes", where_it_is_over,
     [](A& a, const O&, const F&, const T&) {
       a.type = MPI_BYTE;
       a.offset = 1;
     },
     MPI_INT},
    {"after it became shorter", reads_at_the_end, [](A& a, const O&, const F&, const T&) { a.offset = 3000; }},
});

MPI_File open(const std::string& path, int amode) {
  MPI_File file = MPI_FILE_NULL;
  if (MPI_File_open(MPI_COMM_WORLD, path.c_str(), amode, MPI_INFO_NULL, &file) != MPI_SUCCESS)
    MPI_Abort(MPI_COMM_WORLD, 3);
  return file;
}

Files open_all(const std::string& path) {
  Files files{.path = path};
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    FILE* const made = std::fopen(path.c_str(), "w");
    for (int i = 0; i < kBytes; ++i) std::fputc(i * 7 + i / 256, made);
    std::fclose(made);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  files.both = open(path, MPI_MODE_RDWR);
  files.reader = open(path, MPI_MODE_RDONLY);
  files.writer = open(path, MPI_MODE_WRONLY);
  files.reads_in_order = open(path, MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL);
  files.writes_in_order = open(path, MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
  return files;
}

void close_all(Files& files) {
  for (auto* const file :
       {&files.both, &files.reader, &files.writer, &files.reads_in_order, &files.writes_in_order})
    MPI_File_close(file);
}

std::uint64_t hash(std::span<const char> bytes) {
  std::uint64_t sum = 1469598103934665603u;
  for (const char byte : bytes) sum = (sum ^ static_cast<unsigned char>(byte)) * 1099511628211u;
  return sum;
}

// What MPI leaves in memory and status where the two MPIs and calls differ from run to run is not looked at.
std::string what_changed(const Arguments& used, int code, MPI_Status& status, std::span<const char> memory,
                         bool at_the_end) {
  MPI_Offset here = -1;
  MPI_Offset shared = -1;
  MPI_Offset size = -1;
  int bytes = -1;
  if (used.file != MPI_FILE_NULL) {
    MPI_File_get_position(used.file, &here);
    MPI_File_get_position_shared(used.file, &shared);
    MPI_File_get_size(used.file, &size);
  }
  if (code == MPI_SUCCESS) MPI_Get_elements(&status, MPI_BYTE, &bytes);
  // With others ROMIO moves the pointer by what was asked for, whatever came of it.
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks > 1 && (code != MPI_SUCCESS || at_the_end)) here = -1;
  return std::format(", {} bytes, at {} and {} of {}, memory {:x}", bytes, here, shared, size,
                     code == MPI_SUCCESS ? hash(memory) : 0);
}

void run_case(const Operation& one, const Mistake& mistake, const Files& files, const Types& types) {
  const auto name = std::format("{}, {}", one.name, mistake.name);
  if (!mistake.meets(one) || !wanted(name)) return;
  std::array<char, 256> memory{};
  std::ranges::fill(memory, 'm');
  Arguments used{.file = files.both};
  mistake.make(used, one, files, types);
  MPI_File_set_view(files.both, 0, mistake.etype, mistake.etype, "native", MPI_INFO_NULL);
  if (!one.at && !one.shared && used.file == files.both) MPI_File_seek(files.both, used.offset, MPI_SEEK_SET);
  const bool shorter = std::string_view(mistake.name).contains("shorter");
  if (shorter && ::truncate(files.path.c_str(), 100) != 0) std::abort();
  MPI_File_sync(files.both);
  MPI_Barrier(MPI_COMM_WORLD);
  begin(name);
  MPI_Status status{};
  MPI_Status_set_elements(&status, MPI_BYTE, 0);
  const int code =
      one.run(used.file, used.offset, used.memory ? memory.data() : nullptr, used.count, used.type, &status);
  MPI_Barrier(MPI_COMM_WORLD);
  // What is counted of a file that others cut is theirs to know: docs/doors/mpiio.md. The shared pointer
  // after an error is anywhere.
  const std::string_view what = mistake.name;
  const bool anywhere = one.shared && (what.starts_with("wrong way") || what == "not whole etypes");
  tell(code, shorter || anywhere ? "" : what_changed(used, code, status, memory, what.ends_with("the end")));
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

void run_data_cases(const std::string& folder, bool collective_only) {
  Types types;
  MPI_Type_vector(2, 1, 2, MPI_INT, &types.uncommitted);
  MPI_Type_contiguous(0, MPI_INT, &types.empty);
  MPI_Type_commit(&types.empty);
  for (const auto& one : operations()) {
    if (collective_only && !one.collective) continue;
    auto files = open_all(folder + "/data");
    for (const auto& mistake : kMistakes) run_case(one, mistake, files, types);
    close_all(files);
  }
  for (auto* const type : {&types.uncommitted, &types.empty}) MPI_Type_free(type);
}
