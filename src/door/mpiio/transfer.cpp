#include "door/mpiio/transfer.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>

#include "engine/gathered_reads.hpp"
#include "engine/gathered_writes.hpp"

namespace forebay::mpiio {
namespace {

// What is packed at a time. It fits the cache, so that packing costs little beside the copy into the buffer.
constexpr std::uint64_t kPackSize = 256u << 10;

std::byte* packing_room() {
  thread_local std::unique_ptr<std::byte[]> room;
  if (!room) room = std::make_unique_for_overwrite<std::byte[]>(kPackSize);
  return room.get();
}

// Walks over memory that does not lie together.
class MemoryCursor {
 public:
  explicit MemoryCursor(const Memory& memory) : memory_(memory) {}

  // Calls `move(memory, length)` for the next `length` bytes.
  template <class Move>
  void next(std::uint64_t length, Move&& move) {
    const auto& runs = memory_.type->runs;
    while (length != 0) {
      const auto& run = runs[run_];
      const auto step = std::min(length, static_cast<std::uint64_t>(run.length) - in_run_);
      move(memory_.base + element_ * memory_.type->extent + run.offset + static_cast<std::int64_t>(in_run_),
           step);
      length -= step;
      in_run_ += step;
      if (in_run_ < static_cast<std::uint64_t>(run.length)) continue;
      in_run_ = 0;
      if (++run_ < runs.size()) continue;
      run_ = 0;
      ++element_;
    }
  }

 private:
  const Memory& memory_;
  std::int64_t element_ = 0;
  std::size_t run_ = 0;
  std::uint64_t in_run_ = 0;
};

Status write_together(File& file, const View& view, std::uint64_t position, const std::byte* data,
                      std::uint64_t length) {
  GatheredWrites writes(file);
  const auto add = [&](std::uint64_t offset, std::uint64_t piece) -> Result<bool> {
    FOREBAY_TRY(writes.add(offset, {data, piece}));
    data += piece;
    return true;
  };
  FOREBAY_TRY(view.for_each(position, length, add));
  return writes.finish();
}

Result<std::uint64_t> read_together(File& file, const View& view, std::uint64_t position, std::byte* out,
                                    std::uint64_t length) {
  if (view.contiguous()) return file.read(view.place_of(position), std::span(out, length));
  GatheredReads reads(file);
  const auto add = [&](std::uint64_t offset, std::uint64_t piece) -> Result<bool> {
    FOREBAY_ASSIGN(const bool more, reads.add(offset, {out, piece}));
    out += piece;
    return more;
  };
  FOREBAY_TRY(view.for_each(position, length, add));
  FOREBAY_TRY(reads.finish());
  return reads.came();
}

}  // namespace

Status write(File& file, const View& view, std::uint64_t position, const Memory& memory) {
  const auto bytes = memory.bytes();
  if (bytes == 0) return {};
  if (memory.type->contiguous(memory.count))
    return write_together(file, view, position, memory.base + memory.type->runs.front().offset, bytes);
  MemoryCursor cursor(memory);
  auto* const room = packing_room();
  for (std::uint64_t done = 0; done < bytes;) {
    const auto step = std::min(kPackSize, bytes - done);
    auto* to = room;
    cursor.next(step, [&](const std::byte* from, std::uint64_t length) {
      std::memcpy(to, from, length);
      to += length;
    });
    FOREBAY_TRY(write_together(file, view, position + done, room, step));
    done += step;
  }
  return {};
}

Result<std::uint64_t> read(File& file, const View& view, std::uint64_t position, const Memory& memory) {
  const auto bytes = memory.bytes();
  if (bytes == 0) return 0;
  if (memory.type->contiguous(memory.count))
    return read_together(file, view, position, memory.base + memory.type->runs.front().offset, bytes);
  MemoryCursor cursor(memory);
  auto* const room = packing_room();
  for (std::uint64_t done = 0; done < bytes;) {
    const auto step = std::min(kPackSize, bytes - done);
    FOREBAY_ASSIGN(const auto got, read_together(file, view, position + done, room, step));
    const auto* from = room;
    cursor.next(got, [&](std::byte* to, std::uint64_t length) {
      std::memcpy(to, from, length);
      from += length;
    });
    done += got;
    if (got < step) return done;
  }
  return bytes;
}

}  // namespace forebay::mpiio
