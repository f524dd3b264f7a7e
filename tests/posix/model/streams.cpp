// Streams of the C library.
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "model/call.hpp"

namespace model {
namespace {

std::string op_fopen(Call& call) {
  auto*& stream = call.stream();
  const auto name = call.name();
  const char* const mode = call.pick<const char*>({"r", "r+", "w", "w+", "a", "a+"});
  if (stream != nullptr && call.next() % 4 == 0) {
    stream = ::freopen(name.c_str(), mode, stream);
    return std::string(" re ") + mode + said(stream == nullptr ? -1 : 0);
  }
  if (stream != nullptr) ::fclose(stream);
  stream = ::fopen(name.c_str(), mode);
  return std::string(" ") + mode + said(stream == nullptr ? -1 : 0);
}

std::string op_fdopen(Call& call) {
  auto*& stream = call.stream();
  if (stream != nullptr) ::fclose(stream);
  const int fd = ::dup(call.fd());
  stream = fd < 0 ? nullptr : ::fdopen(fd, call.pick<const char*>({"r", "r+", "w", "a", "a+"}));
  const int why = errno;
  if (stream == nullptr && fd >= 0) ::close(fd);
  errno = why;
  return said(stream == nullptr ? -1 : 0);
}

std::string op_lines(Call& call) {
  auto*& stream = call.stream();
  if (stream == nullptr) return " none";
  char room[300] = "";
  const auto which = call.next() % 7;
  std::string text = " kind " + std::to_string(which);
  errno = 0;
  ::fseek(stream, 0, SEEK_CUR);
  if (which == 0) {
    text += ::fgets(room, sizeof room, stream) == nullptr
                ? " none"
                : " hash " + std::to_string(hash(room, ::strlen(room)));
  } else if (which == 1) {
    text += said(::fputs("some words\nand more", stream) < 0 ? -1 : 0);
  } else if (which == 2) {
    const int c = ::fgetc(stream);
    text += said(c) + said(c < 0 ? 0 : ::ungetc(c, stream)) + said(::ftell(stream));
  } else if (which == 3) {
    text += said(::setvbuf(stream, nullptr, call.pick({_IONBF, _IOLBF, _IOFBF}), 100));
  } else if (which == 4) {
    text += said(::fflush(nullptr));
  } else if (which == 5) {
    ::rewind(stream);
    text += said(::ftell(stream));
  } else {
    text += said(::putw(7, stream)) + said(::fputc('c', stream));
  }
  text += ::ferror(stream) != 0 ? " error" : "";
  text += ::feof(stream) != 0 ? " end" : "";
  ::clearerr(stream);
  return text;
}

std::string op_stream(Call& call) {
  auto*& stream = call.stream();
  if (stream == nullptr) return " none";
  const auto which = call.next() % 8;
  std::string text = " kind " + std::to_string(which);
  errno = 0;
  if (which == 0) {
    std::vector<char> data(call.length() + 1);
    ::fseek(stream, 0, SEEK_CUR);
    const auto n = ::fread(data.data(), 1, data.size() - 1, stream);
    text += got(static_cast<long>(n), data);
  } else if (which <= 2) {
    const auto data = bytes(call.next(), call.length());
    ::fseek(stream, 0, SEEK_CUR);
    text += said(static_cast<long>(::fwrite(data.data(), 1, data.size() - 1, stream)));
  } else if (which == 3) {
    text += said(::fseek(stream, call.offset(), call.pick({SEEK_SET, SEEK_END})));
    text += said(::ftell(stream));
  } else if (which == 4) {
    text += said(::fflush(stream));
  } else if (which == 5) {
    text += said(::fprintf(stream, "line %u\n", call.next()));
  } else if (which == 6) {
    text += said(::ftell(stream));
  } else {
    text += said(::fclose(stream));
    stream = nullptr;
  }
  if (stream != nullptr) text += ::ferror(stream) != 0 ? " error" : "";
  if (stream != nullptr) ::clearerr(stream);
  return text;
}

constexpr Named kTable[] = {
    {"fopen", op_fopen},   {"fdopen", op_fdopen}, {"lines", op_lines},   {"lines", op_lines},
    {"stream", op_stream}, {"stream", op_stream}, {"stream", op_stream}, {"stream", op_stream},
};

}  // namespace

std::span<const Named> streams_of_files() { return kTable; }

}  // namespace model
