// What the opaque handles of forebay.h point to.
//
// A Session is shared by a buffer's handle and those of its files; its engine is gone after detaching, and in
// a forked child it is there but not this process's. Session::engine() is asked before each use and tells
// both.
#pragma once

#include <forebay/forebay.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <memory>
#include <mutex>
#include <set>

#include "base/error.hpp"
#include "engine/buffer.hpp"

namespace forebay::native {

class Session {
 public:
  explicit Session(std::unique_ptr<Buffer> engine) : engine_(engine.release()) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  // ENOTCONN after detaching and in a forked child. Allocates nothing on success.
  [[nodiscard]] Result<Buffer*> engine() const;

  void add(forebay_file* file);
  void remove(forebay_file* file);

  // Carries everything home and ends the membership.
  Status detach();

  // At exit, when other threads may be inside a call: carries everything home, and from then on engine()
  // fails. The engine stays, for those threads. False: some bytes stayed behind.
  bool finish();
  // Frees what finish() left. The caller is the only thread.
  void discard();

 private:
  Status close_files();

  std::atomic<Buffer*> engine_;
  Buffer* finished_ = nullptr;     // set by finish()
  std::mutex mutex_;               // never taken in a forked child: another thread may have held it
  std::set<forebay_file*> files_;  // guarded by mutex_
};

// The session will be finished if the process exits before it is forgotten.
void remember(Session& session);
// False: the process is exiting, and the session is being finished.
bool forget(Session& session);

}  // namespace forebay::native

struct forebay_buffer {
  std::shared_ptr<forebay::native::Session> session;
};

struct forebay_file {
  std::shared_ptr<forebay::native::Session> session;
  std::shared_ptr<forebay::File> engine;  // none once the session has detached
  bool synchronous = false;               // O_SYNC, O_DSYNC
};

struct forebay_ticket {
  std::shared_ptr<forebay::native::Session> session;
  forebay::Ticket ticket;
  std::chrono::nanoseconds patience;  // limits.home_wait
};

namespace forebay::native {

// The engine's file behind a handle, if it may be used.
inline Result<File*> engine_of(const forebay_file* file) {
  if (file == nullptr) return fail(EINVAL, "the file is NULL");
  FOREBAY_TRY(file->session->engine());
  return file->engine.get();
}

}  // namespace forebay::native
