#include "engine/data_owner.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>

#include "engine/control.hpp"
#include "os/private_file.hpp"

namespace forebay {
namespace {

std::string name_of(const std::string& file) { return file + ".owner"; }

// Empty when nobody is noted.
Result<std::string> owner_of(const Fd& directory, const std::string& file) {
  const auto note = open_private_file(directory, name_of(file), Create::kNever);
  if (!note && note.error().code == ENOENT) return std::string{};
  if (!note) return std::unexpected(note.error());
  std::array<char, 4096> text{};
  FOREBAY_ASSIGN(const auto size, read_fully(note->get(), text.data(), text.size(), 0));
  return std::string(text.data(), size);
}

bool buffer_there(const std::string& control_directory) {
  const auto directory = open_private_directory(control_directory, Create::kNever);
  if (!directory) return false;
  std::string why;
  const auto finding = Control::examine(*directory, why);
  return !finding || (*finding != ControlFinding::kMissing && *finding != ControlFinding::kUnfinished &&
                      *finding != ControlFinding::kOtherBoot);
}

}  // namespace

Status claim_data_file(const Fd& directory, const std::string& file, const std::string& control_directory) {
  FOREBAY_ASSIGN(const auto owner, owner_of(directory, file));
  if (owner == control_directory) return {};
  if (!owner.empty() && buffer_there(owner)) {
    return fail(EBUSY, path_of(directory.get()) + "/" + file + " is in use by the buffer in " + owner +
                           ": give this one another name (buffer.name) or other tiers");
  }
  FOREBAY_ASSIGN(const auto note, open_private_file(directory, name_of(file), Create::kIfMissing));
  if (::ftruncate(note.get(), 0) != 0) return fail_errno(errno, "empty", name_of(file));
  return write_fully(note.get(), control_directory.data(), control_directory.size(), 0);
}

Status check_data_file(const Fd& directory, const std::string& file, const std::string& control_directory) {
  FOREBAY_ASSIGN(const auto owner, owner_of(directory, file));
  if (owner.empty() || owner == control_directory) return {};
  return fail(EBADMSG, path_of(directory.get()) + "/" + file +
                           " is no longer of this buffer, but of the one in " + owner);
}

bool release_data_file(const Fd& directory, const std::string& file, const std::string& control_directory) {
  const auto owner = owner_of(directory, file);
  if (!owner || (*owner != control_directory && !owner->empty() && buffer_there(*owner))) return false;
  ::unlinkat(directory.get(), name_of(file).c_str(), 0);
  return true;
}

}  // namespace forebay
