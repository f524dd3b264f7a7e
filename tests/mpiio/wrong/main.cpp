// Every function of MPI_File_* with every mistake that it can be called with. FOLDER/answers has what MPI
// answers: the class of the error, which error handlers were called, and what else changed. Natively and with
// the door it is the same.
//
// usage: wrong KIND FOLDER [NAME]: files are made in FOLDER; NAME: only the cases whose name has it in it.
//   data        the functions that move data, by one rank
//   collective  those that ranks call together, all with the same mistake
//   other       the other functions, by any number of ranks
#include <mpi.h>

#include <cstdio>
#include <cstring>
#include <format>
#include <string>

#include "cases.hpp"

namespace {

int rank = 0;
std::string only;
Heard heard;
std::string current;
FILE* answers = nullptr;

void hear(MPI_File* /*file*/, int* code, ...) {
  ++heard.calls;
  MPI_Error_class(*code, &heard.error_class);
}

}  // namespace

int class_of(int code) {
  int found = MPI_SUCCESS;
  MPI_Error_class(code, &found);
  return found;
}

bool wanted(const std::string& name) { return only.empty() || name.contains(only); }

// A case that ends the program can be told by the last name on the other output.
void begin(const std::string& name) {
  heard = {};
  current = name;
  if (rank == 0) std::fprintf(stderr, "%s\n", name.c_str());
}

void tell(int code, const std::string& more) {
  if (rank != 0) return;
  // How often differs from call to call: MPI's own calls are made of others.
  std::fprintf(answers, "%s -> %d, handler %s with %d%s\n", current.c_str(), class_of(code),
               heard.calls == 0 ? "not called" : "called", heard.error_class, more.c_str());
  std::fflush(answers);
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  if (argc > 3) only = argv[3];
  const std::string kind = argv[1];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  answers = std::fopen(std::format("{}/answers.{}", argv[2], rank).c_str(), "w");
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_File_create_errhandler(hear, &handler);
  MPI_File_set_errhandler(MPI_FILE_NULL, handler);  // which files have from their opening, too
  // MPICH gives back a reference at each close that it did not take at the open.
  for (int i = 0; i < 10000; ++i) {
    MPI_Errhandler same = MPI_ERRHANDLER_NULL;
    MPI_File_get_errhandler(MPI_FILE_NULL, &same);
  }
  if (kind == "data") run_data_cases(argv[2], false);
  if (kind == "collective") run_data_cases(argv[2], true);
  if (kind == "other") run_other_cases(argv[2]);
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&handler);
  MPI_Finalize();
  return 0;
}
