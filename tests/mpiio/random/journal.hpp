// What the programs say of what MPI answered: line by line, natively and with the door the same.
#pragma once

#include <cstdint>
#include <cstdio>
#include <format>
#include <string>
#include <vector>

// One for each rank. Whoever looks while the program hangs sees all of it.
void begin_journal(const std::string& path);
void end_journal();
void write_line(const std::string& line);

template <class... Arguments>
void note(std::format_string<Arguments...> form, Arguments&&... arguments) {
  write_line(std::format(form, std::forward<Arguments>(arguments)...));
}

// Of an error.
int class_of(int code);
std::uint64_t hash(const std::vector<char>& bytes);
