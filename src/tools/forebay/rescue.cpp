#include "tools/forebay/rescue.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "base/format.hpp"
#include "engine/salvage.hpp"
#include "os/private_file.hpp"
#include "tools/forebay/common.hpp"

namespace forebay {
namespace {

constexpr const char* kIndex = "INDEX.txt";
constexpr std::string_view kAbout =
    "# Unsaved bytes that could not go home, as written by `forebay recover --rescue`.\n"
    "# Each file below is sparse: only the ranges listed hold bytes, the rest are holes.\n"
    "# A range OFFSET+LENGTH is put back by\n"
    "#   dd if=FILE of=HOME iflag=skip_bytes,count_bytes oflag=seek_bytes conv=notrunc skip=OFFSET "
    "seek=OFFSET count=LENGTH\n"
    "# `damaged` ranges failed their checksum; they lie in FILE.damaged.\n";

std::string buffer_line(const std::string& buffer) { return format_text("buffer: {}\n", buffer); }

// A file that takes its name only when it is whole.
class PartFile {
 public:
  PartFile(std::string directory, std::string name) : path_(std::move(directory) + "/" + std::move(name)) {}
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;
  ~PartFile() {
    if (fd_) ::unlink(part().c_str());
  }

  Status write(std::span<const std::byte> bytes, std::uint64_t offset) {
    if (!fd_) FOREBAY_TRY(open());
    if (const auto status = write_fully(fd_.get(), bytes.data(), bytes.size(), offset); !status) {
      return fail_errno(status.error().code, "write", path_);
    }
    return {};
  }
  [[nodiscard]] bool used() const { return static_cast<bool>(fd_); }
  // `size`: at least so long.
  Status finish(std::uint64_t size) {
    struct stat found{};
    if (::fstat(fd_.get(), &found) != 0) return fail_errno(errno, "examine", path_);
    if (static_cast<std::uint64_t>(found.st_size) < size &&
        ::ftruncate(fd_.get(), static_cast<off_t>(size)) != 0) {
      return fail_errno(errno, "size", path_);
    }
    if (::fsync(fd_.get()) != 0) return fail_errno(errno, "sync", path_);
    if (::rename(part().c_str(), path_.c_str()) != 0) return fail_errno(errno, "rename", part());
    fd_.reset();
    return {};
  }

 private:
  [[nodiscard]] std::string part() const { return path_ + ".part"; }
  Status open() {
    ::unlink(part().c_str());
    fd_.reset(::open(part().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!fd_) return fail_errno(errno, "make", part());
    return {};
  }

  std::string path_;
  Fd fd_;
};

Status prepare(const std::string& directory, const std::string& buffer) {
  if (::mkdir(directory.c_str(), 0700) == 0) return {};
  if (errno != EEXIST) return fail_errno(errno, "make directory", directory);
  std::error_code error;
  if (std::filesystem::is_empty(directory, error)) return {};
  if (error) return fail_errno(error.value(), "list", directory);
  std::ifstream index(directory + "/" + kIndex);
  for (std::string line; std::getline(index, line);) {
    if (line + "\n" == buffer_line(buffer)) return {};
  }
  return fail(EEXIST,
              directory + " is not empty and holds no earlier rescue of this buffer: name another directory");
}

// "7-checkpoint.h5"
std::string name_for(const RescuedFile& file) {
  auto base = file.home.substr(file.home.rfind('/') + 1);
  for (auto& c : base) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '_';
  }
  return format_text("{}-{}", file.file, base.empty() ? "unknown" : base.substr(0, 200));
}

Status rescue_file(Core& core, const std::string& directory, RescuedFile& file, std::string& index) {
  const auto name = name_for(file);
  PartFile whole(directory, name);
  PartFile damaged(directory, name + ".damaged");
  std::string ranges;
  FOREBAY_TRY(salvage(core, file.file,
                      [&](std::uint64_t offset, std::span<const std::byte> bytes, Soundness soundness) {
                        switch (soundness) {
                          case Soundness::kWhole:
                            file.bytes += bytes.size();
                            ranges += format_text("bytes: {}+{}\n", offset, bytes.size());
                            return whole.write(bytes, offset);
                          case Soundness::kDamaged:
                            file.damaged_bytes += bytes.size();
                            ranges += format_text("damaged: {}+{}\n", offset, bytes.size());
                            return damaged.write(bytes, offset);
                          case Soundness::kUnreadable:
                            ++file.unreadable_blocks;
                            ranges += format_text("unreadable: {}+{}\n", offset, core.bucket_size());
                            break;
                        }
                        return Status{};
                      }));
  if (ranges.empty()) return {};
  const auto size = core.control.file(file.file).size.load();
  if (whole.used()) FOREBAY_TRY(whole.finish(size));
  if (damaged.used()) FOREBAY_TRY(damaged.finish(0));
  file.name = name;
  index += format_text("\nfile: {}\nhome: {}\nwhy: {}\nsize: {}\n{}", name,
                       file.home.empty() ? "(not known)" : printable(file.home), printable(file.why), size,
                       ranges);
  return {};
}

}  // namespace

Status rescue(Core& core, const std::string& directory, const std::string& buffer,
              std::vector<RescuedFile>& files) {
  FOREBAY_TRY(prepare(directory, buffer));
  auto index = std::string(kAbout) + "\n" + buffer_line(buffer);
  const auto write_index = [&]() -> Status {
    PartFile file(directory, kIndex);
    FOREBAY_TRY(file.write(std::as_bytes(std::span(index)), 0));
    return file.finish(0);
  };
  // First of all, so that a second attempt knows the directory again.
  FOREBAY_TRY(write_index());
  for (auto& file : files) FOREBAY_TRY(rescue_file(core, directory, file, index));
  return write_index();
}

}  // namespace forebay
