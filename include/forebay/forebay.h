/* Forebay's native API: files through the node's buffer, with the caller in control.
 *
 *   forebay_buffer* buffer;
 *   forebay_file* file;
 *   if (forebay_attach(NULL, NULL, NULL, &buffer) < 0) die(forebay_error_message());
 *   if (forebay_open(buffer, "/scratch/state", O_RDWR | O_CREAT, 0666, NULL, &file) < 0) die(...);
 *   forebay_write(file, data, size, 0);    // returns once staged, at memory speed
 *   compute();                             // meanwhile the bytes are carried home
 *   forebay_close(file);                   // returns once they are home
 *   forebay_detach(buffer);
 *
 * Results. A function returns 0 or a count on success, and on failure the negative of an errno value.
 * forebay_error_message() then has the words. No function changes errno on purpose or throws.
 *
 * Threads. Every function may be called by any thread at any time, with one exception: forebay_close,
 * forebay_detach and forebay_ticket_free end a handle, and no other call that uses the handle (for
 * forebay_detach: the buffer or any of its files) may be under way or follow.
 *
 * Processes. A handle belongs to the process that made it. In a forked child every call on it fails with
 * -ENOTCONN; the child may attach by itself. If a process exits without detaching, what it wrote is carried
 * home on the way out; if it is killed or calls _exit, the bytes stay in the buffer and go home with whoever
 * attaches next (or by `forebay recover`).
 *
 * What a call promises about the bytes depends on the settings of the file (docs/settings.md): `durability`,
 * `on_close`, `on_flush`. Settings are given as a NULL-terminated array of "key=value"; NULL is an empty one.
 *
 * The interface is stable: functions and fields are added, never changed or removed, within a major version
 * from 1 on. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define FOREBAY_VERSION_MAJOR 0
#define FOREBAY_VERSION_MINOR 1
#define FOREBAY_VERSION_PATCH 0

#if defined(__GNUC__)
#define FOREBAY_API __attribute__((visibility("default")))
#else
#define FOREBAY_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct forebay_buffer forebay_buffer; /* this process's membership of a node's buffer */
typedef struct forebay_file forebay_file;     /* an open file */
typedef struct forebay_ticket forebay_ticket; /* a prefetch under way */

/* "0.1.0": of the library that is linked at run time. */
FOREBAY_API const char* forebay_version(void);

/* What went wrong in the last call of this thread that failed: one line, "" if none has. Valid until the next
 * call of this thread that fails. Words beyond about 1000 bytes are cut. */
FOREBAY_API const char* forebay_error_message(void);

/* Joins a buffer of this node, making it if it is not there. `config` is a YAML file, or NULL for the one
 * that FOREBAY_CONFIG names, if any; `name` is the buffer's name, or NULL for the one the settings give
 * ("default" unless configured). `settings` override file and environment. What processes that died left in
 * the buffer is taken over and goes home. A process may attach more than once.
 *
 * -EINVAL  a setting is wrong: the message says where, and what is allowed
 * -ENOSPC  a tier does not fit where it should lie
 * -EBADMSG, -EPROTO  what lies there is damaged or of another version
 * -EPERM, -EACCES    it is not private to this user
 * -EUSERS  buffer.max_processes are attached already */
FOREBAY_API int forebay_attach(const char* config, const char* name, const char* const* settings,
                               forebay_buffer** buffer);

/* Leaves the buffer when everything this process wrote is home; files still open are closed first. The handle
 * is gone in any case. Handles of files that were open answer -ENOTCONN from now on and are to be freed with
 * forebay_close, as tickets are with forebay_ticket_free.
 *
 * An error says that bytes stayed behind in the buffer (they are not lost), or what forebay_close of a file
 * would have said. */
FOREBAY_API int forebay_detach(forebay_buffer* buffer);

/* Returns when everything this process has written is home, and what dead processes left. A negative timeout
 * stands for limits.home_wait. -ETIMEDOUT: home has not answered in time; the drain goes on. */
FOREBAY_API int forebay_drain_all(forebay_buffer* buffer, int64_t timeout_ms);

/* Opens a regular file as open(2) does, with its flags and its errors. `mode` matters with O_CREAT only.
 * O_SYNC and O_DSYNC hold: each write is stable at home before it returns. O_DIRECT has no meaning and is
 * ignored. O_APPEND, O_DIRECTORY and O_PATH are refused with -EINVAL: offsets are explicit here, and
 * forebay_append appends. `settings` override, for this handle, what the buffer's settings say about the
 * file; only those marked as per file may be given. */
FOREBAY_API int forebay_open(forebay_buffer* buffer, const char* path, int flags, mode_t mode,
                             const char* const* settings, forebay_file** file);

/* Closes the file. Returns when its bytes are home, or at once with on_close=detach; reports an error of the
 * drain that no earlier call reported. The handle is gone in any case, and staged bytes are never lost: those
 * that could not go home stay in the buffer. */
FOREBAY_API int forebay_close(forebay_file* file);

/* Writes `size` bytes at `offset` and returns how many were taken: fewer only if an error came after some had
 * been. Once it returns, the bytes are seen by every process that uses the buffer and survive the death of
 * all of them. An error that an earlier write met on its way home may be reported here, as in write(2); then
 * nothing was taken. -EFBIG: beyond the largest file the buffer can hold. */
FOREBAY_API int64_t forebay_write(forebay_file* file, const void* data, size_t size, uint64_t offset);

/* Writes at the end of the file, wherever that is by then, and returns the offset where that was. Appends to
 * a file by several processes of the node never overlap. */
FOREBAY_API int64_t forebay_append(forebay_file* file, const void* data, size_t size);

/* Reads up to `size` bytes at `offset`: fewer only at the end of the file, 0 beyond it. */
FOREBAY_API int64_t forebay_read(forebay_file* file, void* data, size_t size, uint64_t offset);

/* The file's size, with what is staged. */
FOREBAY_API int64_t forebay_size(forebay_file* file);

/* Makes the file `size` bytes long, here and at home. */
FOREBAY_API int forebay_truncate(forebay_file* file, uint64_t size);

/* What was written to the file before, by anybody on this node, is safe when this returns: stable at home, or
 * staged with on_flush=stage. */
FOREBAY_API int forebay_sync(forebay_file* file);

/* As forebay_sync, but always home, and without asking home to make it stable. */
FOREBAY_API int forebay_drain(forebay_file* file);

/* Starts to bring a range from home into the buffer and returns at once. It is a wish: without room nothing
 * comes. An error that is not known at once is reported by the ticket. `ticket` may be NULL if nobody will
 * ask. */
FOREBAY_API int forebay_prefetch(forebay_file* file, uint64_t offset, uint64_t length,
                                 forebay_ticket** ticket);

/* Waits until the prefetch has ended and returns how many bytes came (those that were there already do not
 * count). A negative timeout stands for limits.home_wait. -ETIMEDOUT: it goes on, and may be waited for
 * again. -ECANCELED: the process left the buffer before it began. */
FOREBAY_API int64_t forebay_ticket_wait(forebay_ticket* ticket, int64_t timeout_ms);

/* 1 if it has ended, 0 if it goes on. */
FOREBAY_API int forebay_ticket_test(forebay_ticket* ticket);

/* Frees the ticket; the prefetch goes on. NULL is fine. */
FOREBAY_API void forebay_ticket_free(forebay_ticket* ticket);

/* Brings a range of the file, as long as it is now, into the buffer and keeps it there until it is unpinned,
 * or its file is closed by everyone. Works by whole buckets. -ENOSPC: the tiers have no room for all of it,
 * and none of it is pinned but what was before. Of a file opened for writing only, what is written there
 * later is kept, and nothing is brought. */
FOREBAY_API int forebay_pin(forebay_file* file, uint64_t offset, uint64_t length);
FOREBAY_API int forebay_unpin(forebay_file* file, uint64_t offset, uint64_t length);

/* Forgets what the buffer holds of a range and home has too: it is read from home next time. By whole
 * buckets; bytes that are not home yet, and pinned ones, stay. */
FOREBAY_API int forebay_evict(forebay_file* file, uint64_t offset, uint64_t length);

/* What a program may tell about its plans. A hint never changes what is read or written. */
typedef enum forebay_hint_kind {
  FOREBAY_HINT_NORMAL = 0,
  FOREBAY_HINT_SEQUENTIAL = 1, /* reads will go forward: read ahead */
  FOREBAY_HINT_RANDOM = 2,     /* no read-ahead */
  FOREBAY_HINT_WILL_NEED = 3,  /* prefetch the range */
  FOREBAY_HINT_DONT_NEED = 4,  /* evict the range */
  FOREBAY_HINT_EXCLUSIVE = 5   /* no other node writes the file while it is open here */
} forebay_hint_kind;

/* `hint` is a forebay_hint_kind. The range matters to WILL_NEED and DONT_NEED only; the others hold for the
 * whole file. */
FOREBAY_API int forebay_hint(forebay_file* file, int hint, uint64_t offset, uint64_t length);

typedef enum forebay_scope {
  FOREBAY_SCOPE_PROCESS = 0, /* this membership, since it attached */
  FOREBAY_SCOPE_NODE = 1     /* everybody, since the buffer was made, with those who have left */
} forebay_scope;

/* Figures that only add up. Set `size` to sizeof(forebay_statistics) before the call: that many bytes are
 * filled, and fields that the library does not know become 0. */
typedef struct forebay_statistics {
  size_t size;

  uint64_t writes; /* calls, appends included */
  uint64_t written_bytes;
  uint64_t staged_bytes;        /* of them, taken into the buffer */
  uint64_t straight_home_bytes; /* of them, not staged for want of room */

  uint64_t reads; /* calls */
  uint64_t read_bytes;
  uint64_t hit_bytes;  /* of them, from the buffer */
  uint64_t miss_bytes; /* of them, from home */

  uint64_t home_writes; /* requests to home */
  uint64_t home_written_bytes;
  uint64_t home_reads;
  uint64_t home_read_bytes;
  uint64_t home_errors; /* writes to home that failed; their bytes stayed in the buffer */

  uint64_t prefetched_bytes; /* by forebay_prefetch and its relatives */
  uint64_t readahead_bytes;
  uint64_t filled_bytes; /* of what came from home, kept in the buffer */

  uint64_t evictions; /* buckets: forgotten, moved to a slower tier, moved to a faster one */
  uint64_t demotions;
  uint64_t promotions;
  uint64_t damaged; /* buckets whose bytes were not what was staged, and were not written home */

  uint64_t waits_for_room; /* writes that found every tier full */
  uint64_t wait_ns;        /* how long those waited */

  uint64_t take_overs; /* locks of processes that had died */
  uint64_t recovered_bytes;
  uint64_t passed_through; /* bytes read and written at home past the buffer, as mode=bypass asks */

  uint64_t home_write_ns; /* how long home was being written to, */
  uint64_t home_read_ns;  /* and read from, */
  uint64_t home_wait_ns;  /* and how long programs waited for the former; */
  uint64_t close_wait_ns; /* how much of that in closes */
} forebay_statistics;

/* `scope` is a forebay_scope. */
FOREBAY_API int forebay_get_statistics(forebay_buffer* buffer, int scope, forebay_statistics* statistics);

#ifdef __cplusplus
}
#endif
