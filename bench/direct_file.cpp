#include "bench/direct_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>

#include "bench/timing.hpp"

namespace forebay::bench {

DirectFile::DirectFile(std::string path, std::uint64_t size, std::uint32_t block, unsigned depth)
    : path_(std::move(path)),
      fd_(::open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_DIRECT, 0600)),
      size_(size),
      block_(block),
      depth_(depth),
      data_(make_aligned_buffer(std::size_t{block} * depth)) {
  if (!fd_) throw std::runtime_error("cannot make " + path_ + " for direct I/O");
  if (::posix_fallocate(fd_.get(), 0, static_cast<off_t>(size)) != 0)
    throw std::runtime_error("no room for " + path_);
  if (::io_uring_queue_init(depth, &ring_, 0) != 0) throw std::runtime_error("io_uring is not to be had");
  std::memset(data_.get(), 7, std::size_t{block} * depth);
  write_all();
}

DirectFile::~DirectFile() {
  ::io_uring_queue_exit(&ring_);
  ::unlink(path_.c_str());
}

void DirectFile::reap_one() {
  io_uring_cqe* done = nullptr;
  if (::io_uring_wait_cqe(&ring_, &done) != 0 || done->res != static_cast<int>(block_)) {
    throw std::runtime_error("cannot write " + path_);
  }
  ::io_uring_cqe_seen(&ring_, done);
}

double DirectFile::write_all() {
  const auto start = Clock::now();
  unsigned in_flight = 0;
  for (std::uint64_t at = 0; at < size_; at += block_) {
    if (in_flight == depth_) {
      reap_one();
      --in_flight;
    }
    auto* entry = ::io_uring_get_sqe(&ring_);
    ::io_uring_prep_write(entry, fd_.get(), data_.get() + at / block_ % depth_ * block_, block_, at);
    ::io_uring_submit(&ring_);
    ++in_flight;
  }
  for (; in_flight > 0; --in_flight) reap_one();
  return seconds_since(start);
}

}  // namespace forebay::bench
