#include <fcntl.h>

#include <algorithm>
#include <forebay/forebay.hpp>

#include "tools/demo/writer.hpp"

namespace forebay::demo {
namespace {

class ForebayWriter final : public Writer {
 public:
  explicit ForebayWriter(const std::vector<std::string>& settings)
      : buffer_(Buffer::attach("", "demo", settings)) {}

  void write(const std::string& path, std::span<const std::byte> bytes) override {
    auto file = buffer_.open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666, {"on_close=detach"});
    for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
      file.write(bytes.data() + at, std::min(kPiece, bytes.size() - at), at);
    }
    file.close();
  }
  void finish() override { buffer_.detach(); }

 private:
  Buffer buffer_;
};

}  // namespace

std::unique_ptr<Writer> make_forebay_writer(const std::vector<std::string>& settings) {
  return std::make_unique<ForebayWriter>(settings);
}

}  // namespace forebay::demo
