#include "journal.hpp"

#include <mpi.h>

namespace {

FILE* journal = nullptr;

}  // namespace

void begin_journal(const std::string& path) {
  journal = std::fopen(path.c_str(), "w");
  if (journal == nullptr) MPI_Abort(MPI_COMM_WORLD, 2);
  std::setvbuf(journal, nullptr, _IOLBF, BUFSIZ);
}

void end_journal() { std::fclose(journal); }

void write_line(const std::string& line) { std::fputs((line + "\n").c_str(), journal); }

int class_of(int code) {
  int found = MPI_SUCCESS;
  MPI_Error_class(code, &found);
  return found;
}

std::uint64_t hash(const std::vector<char>& bytes) {
  std::uint64_t sum = 1469598103934665603u;
  for (const char byte : bytes) sum = (sum ^ static_cast<unsigned char>(byte)) * 1099511628211u;
  return sum;
}
