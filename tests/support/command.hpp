// For tests: running a program to its end and looking at what it said.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace forebay {

struct Ran {
  int code = -1;    // exit status; -1 when a signal ended it
  int signal = 0;   // that signal; SIGKILL also when it took longer than two minutes
  std::string out;  // standard output
  std::string err;
};

// `program` by path or by name. Standard input is empty.
Ran run(const std::string& program, const std::vector<std::string>& arguments);

// A program that is under way: kill it, or wait for it.
class Running {
 public:
  Running(const std::string& program, const std::vector<std::string>& arguments);
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running();

  void kill();
  // What it said until it ended, or was ended after two minutes.
  Ran wait();

 private:
  std::string directory_;
  pid_t pid_ = -1;
};

// The value of a Python expression over `d`, the JSON document `text`; the error if it is no JSON.
std::string json_value(const std::string& text, const std::string& expression);

}  // namespace forebay
