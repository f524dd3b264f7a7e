#include "config/file_text.hpp"

#include <cerrno>
#include <cstdio>
#include <memory>

#include "base/format.hpp"

namespace forebay {

Result<std::string> read_text(const std::string& path, std::string_view what) {
  constexpr std::size_t kMaxSize = 1024 * 1024;
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "re"), &std::fclose);
  if (!file) return fail_errno(errno, format_text("open {}", what), path);
  std::string content(kMaxSize + 1, '\0');
  content.resize(std::fread(content.data(), 1, content.size(), file.get()));
  if (std::ferror(file.get()) != 0) return fail_errno(errno, format_text("read {}", what), path);
  if (content.size() > kMaxSize) return fail(EFBIG, format_text("{} {} is larger than 1MiB", what, path));
  return content;
}

}  // namespace forebay
