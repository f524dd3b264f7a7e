// Reading ahead by processes of one's own, as the loaders of training frameworks do it: forked workers take
// turns in a list of tasks, put what they read into shared memory, and the parent takes it out in order.
//
// Owns the workers: they are gone when it is. One thread uses it.
#pragma once

#include <semaphore.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace forebay::kernels {

class ReaderPool {
 public:
  // Does task number i into the memory given. Made by `prepare` in each worker. May throw.
  using Read = std::function<void(std::uint64_t task, std::span<std::uint8_t> into)>;

  // `passes`: the number of tasks of each; a pass is not begun before begin_pass. `slots`: results that may
  // lie there at once. Returns when all workers are ready.
  ReaderPool(std::uint64_t workers, std::uint64_t slots, std::uint64_t slot_bytes,
             std::vector<std::uint64_t> passes, const std::function<Read()>& prepare);
  ReaderPool(const ReaderPool&) = delete;
  ReaderPool& operator=(const ReaderPool&) = delete;
  ~ReaderPool();

  void begin_pass();
  // The result of the next task; valid until done(). Throws what went wrong in its worker.
  std::span<const std::uint8_t> next();
  void done();

 private:
  void work(std::uint64_t worker, const std::vector<std::uint64_t>& passes,
            const std::function<Read()>& prepare);
  [[nodiscard]] std::span<std::uint8_t> slot(std::uint64_t task) const;
  void wait_for(sem_t& semaphore);

  std::uint64_t workers_, slots_, slot_bytes_, tasks_;
  std::uint64_t taken_ = 0;
  std::size_t size_ = 0;
  std::uint8_t* memory_ = nullptr;
  sem_t* semaphores_ = nullptr;  // ready; a pass of each worker; empty and full of each slot
  char* words_ = nullptr;        // what went wrong
  std::vector<pid_t> children_;
};

}  // namespace forebay::kernels
