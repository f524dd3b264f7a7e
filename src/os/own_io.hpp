// While one lives, what this thread does to files is the engine's own doing. Where the POSIX door is
// preloaded it would else take the engine of another door (HDF5, MPI-IO) in the same process for the
// application.
#pragma once

extern "C" __attribute__((weak, visibility("default"))) void forebay_posix_enter(int by);

namespace forebay {

class OwnIo {
 public:
  OwnIo() {
    if (forebay_posix_enter != nullptr) forebay_posix_enter(1);
  }
  OwnIo(const OwnIo&) = delete;
  OwnIo& operator=(const OwnIo&) = delete;
  ~OwnIo() {
    if (forebay_posix_enter != nullptr) forebay_posix_enter(-1);
  }
};

}  // namespace forebay
