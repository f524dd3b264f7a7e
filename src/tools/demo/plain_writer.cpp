#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "tools/demo/writer.hpp"

namespace forebay::demo {
namespace {

class PlainWriter final : public Writer {
 public:
  void write(const std::string& path, std::span<const std::byte> bytes) override {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) throw std::system_error(errno, std::generic_category(), "cannot open " + path);
    for (std::size_t at = 0; at < bytes.size();) {
      const auto n =
          ::pwrite(fd, bytes.data() + at, std::min(kPiece, bytes.size() - at), static_cast<off_t>(at));
      if (n < 0) {
        const int code = errno;
        ::close(fd);
        throw std::system_error(code, std::generic_category(), "cannot write " + path);
      }
      at += static_cast<std::size_t>(n);
    }
    if (::close(fd) != 0) throw std::system_error(errno, std::generic_category(), "cannot close " + path);
  }
  void finish() override {}
};

}  // namespace

std::unique_ptr<Writer> make_plain_writer() { return std::make_unique<PlainWriter>(); }

}  // namespace forebay::demo
