// What the preloaded shim (shim/) and the engine behind it say to each other. Plain C: the shim knows no C++
// library.
//
// Every function answers as a system call does: a negative errno is a failure. kPass means that the file
// itself is to be used: the shim then makes the call it was asked for. The shim calls none of them from a
// signal handler that interrupted another, and disables cancellation meanwhile.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

namespace forebay::posix {

inline constexpr long kPass = -1'000'000;
inline constexpr long kClosed = 1;  // with an errno added: the close failed
inline constexpr long kLookAgain = 2;
inline constexpr off_t kHere = -1;  // as an offset: at the descriptor's own position

struct Names {
  unsigned long device, inode;
  long long born_ns;
  unsigned links;
};

struct Engine {
  // A descriptor that was just opened, or met for the first time (flags < 0). 1: it is buffered from now on.
  // A failure: there is no room for it here, and others have the file buffered, so that it must not be open.
  long (*adopt)(int fd, int flags);
  // Before the real close. An error is the close's to report; the descriptor is forgotten in any case. With
  // `whole` (for close(2) alone) the answer may be kClosed: the descriptor itself is closed.
  long (*close)(int fd, int whole);
  // `to` means the same open file as `from`, from now on. What it meant before is closed already.
  void (*duplicate)(int from, int to);
  long (*read)(int fd, const iovec* pieces, int count, off_t offset);
  long (*write)(int fd, const iovec* pieces, int count, off_t offset);
  long (*seek)(int fd, off_t offset, int whence);
  long (*truncate)(int fd, off_t size);
  // Before a file is truncated by its name. 1: that is to be done at home, for nobody buffers it, or this
  // process has it open, and to open and close it once more would end its record locks; `truncated` is due
  // then. 0: it is to be opened.
  long (*truncates_at_home)(unsigned long device, unsigned long inode);
  long (*truncated)(unsigned long device, unsigned long inode);
  long (*sync)(int fd);
  // All that is unsaved of the file goes home. With a reason it is counted as passed through.
  long (*drain)(int fd, const char* why);
  // The file is used at home only from now on, by everybody on the node.
  long (*go_direct)(int fd, const char* why);
  // Somebody may have changed the file at home; `surely`: a system call of ours has, so that nothing of it is
  // as it was.
  long (*changed_at_home)(int fd, int surely);
  // The open file has a lock now that ends with it.
  void (*locked)(int fd);
  long (*advise)(int fd, off_t offset, off_t length, int advice);
  // The file's times were set (null: to now). 1: some of it is unsaved, and a drain that was under way may
  // have ended with the time before: they are to be set once more.
  long (*times)(unsigned long device, unsigned long inode, const timespec* times);
  // Puts into `found` what the buffer knows better than home. 1: `found` was changed. kLookAgain: what was
  // unsaved when home was looked at is home by now.
  long (*fix_stat)(struct stat* found);
  // The file's mode or owner was changed, then, as home says.
  void (*status_changed)(unsigned long device, unsigned long inode, long long changed_ns);
  // What is unsaved of it goes home. `name` (null: none) leads to it, for where the buffer's own name does
  // not.
  long (*drain_inode)(unsigned long device, unsigned long inode, const char* name);
  // One of its several names is about to go, by which the buffer may know it: what is unsaved goes home, and
  // the buffer finds it by another one, or uses it at home only.
  long (*losing_name)(unsigned long device, unsigned long inode, const char* name);
  // 1: somebody has it open, or some of it is unsaved.
  long (*matters)(unsigned long device, unsigned long inode);
  void (*unlinked)(const Names* file);
  void (*renamed)(const Names* file, const char* path);
  // The same of all files in a folder and below.
  long (*drain_below)(const char* folder);
  void (*renamed_below)(const char* folder, const char* path, int exchanged);
  // The file is mapped there: it is used at home only as long as it is, whoever closes what.
  void (*mapped)(int fd, void* at, unsigned long length);
  // What was mapped there is elsewhere now, in another length, or (null) nowhere.
  void (*moved)(void* at, unsigned long length, void* to, unsigned long now);
  // Everything of this process goes home. With `inherited`: also what a parent left in files this process
  // has.
  long (*drain_everything)(int inherited);
  // From now on every file is direct: the process has a way to files that nobody sees.
  void (*stop_buffering)(const char* why);
  // Memory was unmapped or protected (user_memory.hpp).
  void (*forget_memory)();
  void (*leave)();
};

inline constexpr char kEngineFunction[] = "forebay_posix_engine";
using EngineFunction = const Engine* (*)();

}  // namespace forebay::posix
