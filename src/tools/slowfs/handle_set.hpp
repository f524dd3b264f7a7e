// What the kernel holds open that is more than a descriptor, owned here because a file system that ends may
// never be told of the release. Thread-safe; a handle itself is used by one request at a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace forebay::slowfs {

struct Handle {
  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  virtual ~Handle() = default;
};

class HandleSet {
 public:
  // The number to give to the kernel.
  uint64_t add(std::unique_ptr<Handle> handle) {
    const std::scoped_lock lock(mutex_);
    handles_.emplace(++last_, std::move(handle));
    return last_;
  }

  // `number` is one that `add` gave for a handle of this type, not yet removed.
  template <class T>
  T& get(uint64_t number) {
    const std::scoped_lock lock(mutex_);
    return static_cast<T&>(*handles_.at(number));
  }

  void remove(uint64_t number) {
    const std::scoped_lock lock(mutex_);
    handles_.erase(number);
  }

 private:
  std::mutex mutex_;
  // Guarded by mutex_:
  uint64_t last_ = 0;
  std::map<uint64_t, std::unique_ptr<Handle>> handles_;
};

}  // namespace forebay::slowfs
