// What the cases have in common: saying a name before the call and the answer after it.
#pragma once

#include <mpi.h>

#include <string>

// What the error handler of all files heard since the case began.
struct Heard {
  int calls = 0;
  int error_class = MPI_SUCCESS;
};

int class_of(int code);
bool wanted(const std::string& name);
void begin(const std::string& name);
void tell(int code, const std::string& more = "");

// The functions that move data, and all others.
void run_data_cases(const std::string& folder, bool collective_only);
void run_other_cases(const std::string& folder);
