// Walks through folders, in which the C library looks at files by itself.
#include <fts.h>
#include <ftw.h>

#include "door/posix/shim/by_name.hpp"

using namespace forebay::posix;

namespace {

// What the buffer knows better. What has been drained since the C library looked stays as it was then.
void fix(const char* path, struct stat* found) {
  if (!S_ISREG(found->st_mode) || !on_home_device(found->st_dev, AT_FDCWD, path)) return;
  const auto* const there = engine_of_buffer();
  if (there == nullptr) return;
  const Crossing crossing;
  (void)there->fix_stat(found);
}

// The functions that this thread walks with now: neither call takes a word for them along.
thread_local constinit __nftw_func_t with = nullptr;
thread_local constinit __ftw_func_t with_less = nullptr;

int visit(const char* path, const struct stat* found, int kind, struct FTW* where) {
  struct stat copy = *found;
  if (kind != FTW_NS) fix(path, &copy);
  return with(path, &copy, kind, where);
}

int visit_less(const char* path, const struct stat* found, int kind) {
  struct stat copy = *found;
  if (kind != FTW_NS) fix(path, &copy);
  return with_less(path, &copy, kind);
}

template <class Function>
class Walking {
 public:
  Walking(Function& current, Function wanted) : current_(current), before_(current) { current = wanted; }
  Walking(const Walking&) = delete;
  Walking& operator=(const Walking&) = delete;
  ~Walking() { current_ = before_; }

 private:
  Function& current_;
  Function before_;
};

FTSENT* fixed(FTSENT* entry) {
  if (entry != nullptr && entry->fts_info == FTS_F && entry->fts_statp != nullptr)
    fix(entry->fts_path, entry->fts_statp);
  return entry;
}

}  // namespace

FOREBAY_CALL int fb_nftw(const char* path, __nftw_func_t function, int descriptors, int flags) {
  if (!active.load(std::memory_order_relaxed)) return real.nftw(path, function, descriptors, flags);
  const Walking walking(with, function);
  return real.nftw(path, visit, descriptors, flags);
}
FOREBAY_CALL int fb_ftw(const char* path, __ftw_func_t function, int descriptors) {
  if (!active.load(std::memory_order_relaxed)) return real.ftw(path, function, descriptors);
  const Walking walking(with_less, function);
  return real.ftw(path, visit_less, descriptors);
}
FOREBAY_CALL FTSENT* fb_fts_read(FTS* tree) { return fixed(real.fts_read(tree)); }
FOREBAY_CALL FTSENT* fb_fts_children(FTS* tree, int options) {
  FTSENT* const first = real.fts_children(tree, options);
  for (auto* entry = first; entry != nullptr; entry = entry->fts_link) (void)fixed(entry);
  return first;
}

FOREBAY_EXPORT(nftw, fb_nftw);
FOREBAY_EXPORT(nftw64, fb_nftw);
FOREBAY_EXPORT(ftw, fb_ftw);
FOREBAY_EXPORT(ftw64, fb_ftw);
FOREBAY_EXPORT(fts_read, fb_fts_read);
FOREBAY_EXPORT(fts64_read, fb_fts_read);
FOREBAY_EXPORT(fts_children, fb_fts_children);
FOREBAY_EXPORT(fts64_children, fb_fts_children);
