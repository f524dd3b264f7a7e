// The engine's side of the POSIX door: one function for each of the questions in interface.hpp.
#pragma once

#include <string>

#include "base/error.hpp"
#include "door/posix/descriptors.hpp"
#include "door/posix/interface.hpp"
#include "engine/buffer.hpp"

namespace forebay::posix {

// The buffer, joined when it is first needed. Null where there is none to be had, or after leaving.
Buffer* buffer();
// The same, without joining.
Buffer* joined_buffer();

// What `fd` means, in this process: a forked child opens its parent's anew. Nothing where it is not buffered,
// or is used at home only: then the shim is to pass the call on.
Pin served(int fd);
// The same also for a file that is used at home only.
Pin known(int fd);

// The kernel's name of what a descriptor means; empty where it has none.
std::string name_of(int fd);

// A failure as the shim wants it.
long answer(const Status& status);

// A reason for the statistics.
void note(const char* why);

long adopt(int fd, int flags);
long close(int fd, int whole);
void duplicate(int from, int to);
long drain_everything(int inherited);
void stop_buffering(const char* why);
void leave();

// transfer.cpp
long read(int fd, const iovec* pieces, int count, off_t offset);
long write(int fd, const iovec* pieces, int count, off_t offset);
long seek(int fd, off_t offset, int whence);

// attributes.cpp
std::uint64_t device_of(dev_t device);  // as the buffer has it
// The record of a file that the buffer knows; of one with unsaved bytes. Null where there is none.
FileRecord* record_of(std::uint64_t device, std::uint64_t inode, std::uint32_t* number = nullptr);
FileRecord* unsaved_record(std::uint64_t device, std::uint64_t inode, std::uint32_t* number = nullptr);
long truncate(int fd, off_t size);
long truncates_at_home(unsigned long device, unsigned long inode);
long truncated(unsigned long device, unsigned long inode);
long sync(int fd);
long drain(int fd, const char* why);
long go_direct(int fd, const char* why);
long changed_at_home(int fd, int surely);
void locked(int fd);
long advise(int fd, off_t offset, off_t length, int advice);
long fix_stat(struct stat* found);
void status_changed(unsigned long device, unsigned long inode, long long changed_ns);
long times(unsigned long device, unsigned long inode, const timespec* times);
long matters(unsigned long device, unsigned long inode);

// names.cpp
Pin open_here(std::uint32_t number);  // a file as this process has it open, by whichever descriptor
long drain_inode(unsigned long device, unsigned long inode, const char* name);
long losing_name(unsigned long device, unsigned long inode, const char* name);
void unlinked(const Names* file);
void renamed(const Names* file, const char* path);
long drain_below(const char* folder);
void renamed_below(const char* folder, const char* path, int exchanged);

// mappings.cpp
void mapped(int fd, void* at, unsigned long length);
void moved(void* at, unsigned long length, void* to, unsigned long now);

}  // namespace forebay::posix
