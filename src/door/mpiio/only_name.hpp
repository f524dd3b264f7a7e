// A file that is about to lose its name: nothing of it goes home any more if that was the only one. What a
// buffer kept would end in a later file with the same number.
#pragma once

#include <string>

#include "engine/buffer.hpp"

namespace forebay::mpiio {

class OnlyName {
 public:
  // `fd`: the file, of which `path` is a name. Before that is removed.
  OnlyName(Buffer& buffer, int fd, std::string path);
  [[nodiscard]] bool is_so() const { return buffer_ != nullptr; }
  // After it should have been removed: if it was, and was the only one, the buffer forgets the file with its
  // last user here.
  void was_removed() const;

 private:
  Buffer* buffer_ = nullptr;  // null: the file has other names, or cannot be asked
  std::string path_;
  HomeIdentity identity_{};
};

}  // namespace forebay::mpiio
