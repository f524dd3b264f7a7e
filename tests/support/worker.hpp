// One of the processes of a multi-process test: does random things to the files of a Truth through a buffer,
// and checks all it sees. A difference is an exception with words.
#pragma once

#include <fcntl.h>

#include <algorithm>
#include <chrono>
#include <format>
#include <initializer_list>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/format.hpp"
#include "engine/buffer.hpp"
#include "support/place.hpp"
#include "support/truth.hpp"

namespace forebay::testing {

// Settings of a file that change what a write promises, and where its bytes lie.
inline std::string some_promises(std::mt19937_64& random, Stack stack) {
  const auto pick = [&](std::initializer_list<const char*> choices) {
    return std::string(choices.begin()[random() % choices.size()]);
  };
  // A log needs a tier that keeps its content.
  const bool keeps = stack != Stack::kMemory;
  const auto durability = pick({"process", "process", "process", "process", "home", "node"});
  return " journal.size=1MiB mode=" + pick({"async", "async", "async", "async", "sync"}) +
         " durability=" + (durability == "node" && !keeps ? "process" : durability) +
         " on_flush=" + pick({"home", "stage"}) + " reserve.size=" + pick({"0", "0", "16KiB"}) +
         " placement=" + pick({"max_bandwidth", "max_locality", "user"});
}

class Worker {
 public:
  Worker(Truth& truth, unsigned me, const Place& place, std::uint64_t seed)
      : truth_(truth), state_(truth.worker[me]), me_(me), place_(place), random_(seed) {}

  // Whose bytes it may touch: its own, or all of them (when no other worker runs).
  enum class Reach { kOwn, kAll };

  void attach() {
    doing("attach");
    buffer_ = place_.attach();
    settle();
    for (unsigned f = 0; f < kPlots; ++f) reopen(f);
  }
  void detach() {
    doing("detach");
    for (auto* handles : {&open_, &readers_, &writers_}) {
      for (auto& [f, file] : *handles) check(file->close(), "close");
      handles->clear();
    }
    check(buffer_->detach(), "detach");
    buffer_.reset();
  }
  [[nodiscard]] Buffer& buffer() { return *buffer_; }

  void work(std::uint64_t operations, Reach reach = Reach::kOwn) {
    reach_ = reach;
    for (std::uint64_t i = 0; i < operations && !truth_.stop.load(); ++i) {
      step();
      state_.operations.fetch_add(1);
    }
  }
  // Every byte of every shared file, those of others too if nobody else runs.
  void verify(Reach reach) {
    reach_ = reach;
    for (unsigned f = 0; f < kPlots; ++f) read(f, 0, kExtent);
  }

 private:
  template <class... Args>
  void doing(std::format_string<Args...> words, Args&&... args) {
    doing_ = format_text(words, std::forward<Args>(args)...);
    const auto n = std::min(doing_.size(), state_.doing.size() - 1);
    std::copy_n(doing_.data(), n, state_.doing.data());
    state_.doing[n] = 0;
  }
  [[noreturn]] void wrong(const std::string& what) const {
    throw std::runtime_error(
        format_text("worker {}, operation {}, {}: {}", me_, state_.operations.load(), doing_, what));
  }
  template <class R>
  R check(R result, const char* what) const {
    if (!result) wrong(std::string(what) + ": " + result.error().message);
    return result;
  }
  std::uint64_t below(std::uint64_t limit) { return limit == 0 ? 0 : random_() % limit; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }

  [[nodiscard]] bool mine(unsigned f, std::uint64_t at) const {
    return reach_ == Reach::kAll || truth_.files[f].owner[at] == me_;
  }
  [[nodiscard]] bool rules_size(unsigned f) const {
    return reach_ == Reach::kAll || truth_.files[f].tail_owner == me_;
  }

  File& handle(unsigned f) {
    auto& file = open_[f];
    if (!file) reopen(f);
    return *file;
  }
  void reopen(unsigned f) {
    auto opened = buffer_->open(place_.home(file_name(f)), O_RDWR);
    check(opened, "open");
    open_[f] = std::move(*opened);
    // And sometimes by handles that can do the one or the other only.
    reopen(f, readers_, O_RDONLY);
    reopen(f, writers_, O_WRONLY);
  }
  using Handles = std::map<unsigned, std::shared_ptr<File>>;
  void reopen(unsigned f, Handles& handles, int flags) {
    handles.erase(f);
    if (!one_in(3)) return;
    auto opened = buffer_->open(place_.home(file_name(f)), flags);
    check(opened, "open once more");
    handles[f] = std::move(*opened);
  }
  File& one_of(Handles& handles, unsigned f) {
    auto& whole = handle(f);
    const auto found = handles.find(f);
    return found == handles.end() || one_in(2) ? whole : *found->second;
  }
  File& reader(unsigned f) { return one_of(readers_, f); }
  File& writer(unsigned f) { return one_of(writers_, f); }
  void close(unsigned f) {
    doing("close {}", file_name(f));
    for (auto* handles : {&open_, &readers_, &writers_}) {
      const auto found = handles->find(f);
      if (found == handles->end()) continue;
      check(found->second->close(), "close");
      handles->erase(found);
    }
  }

  void begin(Deed deed, unsigned f, std::uint64_t offset, std::uint64_t length, std::uint64_t seed) {
    auto& p = state_.pending;
    p.acknowledged.store(false);
    p.file = f;
    p.offset = offset;
    p.length = length;
    p.seed = seed;
    p.deed.store(deed);
  }
  // The acknowledged deed becomes the truth.
  void commit() {
    auto& p = state_.pending;
    p.acknowledged.store(true);
    auto& file = truth_.files[p.file];
    if (p.deed.load() == Deed::kWrite) {
      for (std::uint64_t i = p.offset; i < p.offset + p.length; ++i) file.bytes[i] = pattern(p.seed, i);
      if (p.length != 0 && file.size.load() < p.offset + p.length) file.size.store(p.offset + p.length);
    } else {
      for (auto i = p.offset; i < file.size.load(); ++i) file.bytes[i] = 0;
      file.size.store(p.offset);
    }
    p.deed.store(Deed::kNothing);
  }

  // What became of the deed that this worker's predecessor died over? From now on that is the truth.
  void settle() {
    auto& p = state_.pending;
    const auto deed = p.deed.load();
    if (deed == Deed::kNothing) return;
    const auto f = p.file;
    for (int i = 0; f >= kPlots && i < 400 && !open_.contains(f); ++i) {
      if (auto opened = buffer_->open(place_.home(file_name(f)), O_RDWR); opened) {
        open_[f] = *opened;
      } else {
        // The table is full of what the dead left open: their death is noticed soon.
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    }
    doing("settle {} of {} at {}", static_cast<int>(deed), file_name(f), p.offset);
    if (p.acknowledged.load()) {
      commit();
    } else if (deed == Deed::kTruncate) {
      truncate(f, p.offset);
    } else {
      auto& file = truth_.files[f];
      const auto size = check(handle(f).size(), "size").value();
      const bool tail = file.tail_owner == me_;
      if (tail && (size < file.size.load() || size > std::max(file.size.load(), p.offset + p.length))) {
        wrong(format_text("{} bytes, not {} to {}", size, file.size.load(), p.offset + p.length));
      }
      const auto end = std::min(p.offset + p.length, size);
      if (end > p.offset) {
        const auto got = fetch(f, p.offset, end - p.offset);
        for (std::uint64_t i = 0; i < got.size(); ++i) {
          if (!allowed(truth_, f, p.offset + i, got[i])) {
            wrong(format_text("byte {} is {}, neither {} nor {}", p.offset + i, got[i],
                              file.bytes[p.offset + i], pattern(p.seed, p.offset + i)));
          }
          file.bytes[p.offset + i] = got[i];
        }
      }
      if (tail) file.size.store(size);
      p.deed.store(Deed::kNothing);
    }
    if (f >= kPlots) close(f);
  }

  std::vector<std::uint8_t> fetch(unsigned f, std::uint64_t offset, std::uint64_t length) {
    std::vector<std::uint8_t> got(length, 0xee);
    const auto n = check(reader(f).read(offset, std::as_writable_bytes(std::span(got))), "read").value();
    got.resize(n);
    return got;
  }

  void write(unsigned f, std::uint64_t offset, std::uint64_t length) {
    const auto seed = random_();
    doing("write {} at {} + {}", file_name(f), offset, length);
    std::vector<std::uint8_t> data(length);
    for (std::uint64_t i = 0; i < length; ++i) data[i] = pattern(seed, offset + i);
    const auto bytes = std::as_bytes(std::span(data));
    // An append is a write that finds its place itself.
    const bool append = rules_size(f) && offset == truth_.files[f].size.load() && one_in(2);
    if (!append && one_in(16)) return write_as_one(f, offset, bytes, seed);
    begin(Deed::kWrite, f, offset, length, seed);
    const auto done = append      ? writer(f).append(bytes)
                      : one_in(4) ? writer(f).write(shuffled_pieces(offset, bytes))
                                  : writer(f).write(offset, bytes);
    check(done, append ? "append" : "write");
    if (*done != (append ? offset : length))
      wrong(format_text("{} says {}", append ? "append" : "write", *done));
    commit();
  }

  std::vector<Piece> pieces_of(std::uint64_t offset, std::span<const std::byte> bytes,
                               std::uint64_t longest) {
    std::vector<Piece> pieces;
    for (std::uint64_t at = 0; at < bytes.size();) {
      const auto length = std::min<std::uint64_t>(1 + below(longest), bytes.size() - at);
      pieces.push_back({offset + at, bytes.subspan(at, length)});
      at += length;
    }
    return pieces;
  }

  std::vector<Piece> shuffled_pieces(std::uint64_t offset, std::span<const std::byte> bytes) {
    auto pieces = pieces_of(offset, bytes, 500);
    for (auto left = pieces.size(); left > 1; --left) std::swap(pieces[left - 1], pieces[below(left)]);
    return pieces;
  }

  // In pieces, which are there all or none.
  void write_as_one(unsigned f, std::uint64_t offset, std::span<const std::byte> bytes, std::uint64_t seed) {
    const Batch batch{.pieces = pieces_of(offset, bytes, 2000)};
    begin(Deed::kWrite, f, offset, bytes.size(), seed);
    check(writer(f).write_as_one(batch), "write_as_one");
    commit();
  }

  void truncate(unsigned f, std::uint64_t size) {
    doing("truncate {} to {}", file_name(f), size);
    begin(Deed::kTruncate, f, size, 0, 0);
    check(writer(f).truncate(size), "truncate");
    commit();
  }

  void read(unsigned f, std::uint64_t offset, std::uint64_t length) {
    doing("read {} at {} + {}", file_name(f), offset, length);
    const auto got = fetch(f, offset, length);
    const auto& file = truth_.files[f];
    const auto size = file.size.load();
    if (rules_size(f)) {
      const auto expected = offset >= size ? 0 : std::min(length, size - offset);
      if (got.size() != expected) wrong(format_text("{} bytes, not {}", got.size(), expected));
      if (const auto told = check(handle(f).size(), "size").value(); told != size) {
        wrong(format_text("size {}, not {}", told, size));
      }
    } else if (got.size() < length && offset + got.size() < file.fixed) {
      wrong(format_text("only {} bytes", got.size()));
    }
    for (std::uint64_t i = 0; i < got.size(); ++i) {
      if (!mine(f, offset + i) || got[i] == file.bytes[offset + i]) continue;
      std::uint64_t last = i;
      for (auto k = i; k < got.size(); ++k) {
        if (mine(f, offset + k) && got[k] != file.bytes[offset + k]) last = k;
      }
      wrong(format_text("byte {} is {}, not {} (differences up to {})", offset + i, got[i],
                        file.bytes[offset + i], offset + last));
    }
  }

  // A piece of at most `longest` bytes that this worker may write; nothing if none is near.
  bool choose(unsigned f, std::uint64_t longest, std::uint64_t& offset, std::uint64_t& length) {
    const auto& file = truth_.files[f];
    offset = below(file.extent);
    // Nobody but the ruler of the size goes beyond it.
    const auto limit = rules_size(f) ? file.extent : file.fixed;
    for (int i = 0; i < 20'000 && offset < limit && !mine(f, offset); ++i) ++offset;
    length = 0;
    while (offset + length < limit && length < longest && mine(f, offset + length)) ++length;
    if (length > 1) length = 1 + below(length);
    return length != 0;
  }

  void dots(unsigned f) {
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
    if (!choose(f, 200, offset, length)) return;
    for (std::uint64_t i = 0; i < length; i += 2) write(f, offset + i, 1);
  }

  void side() {
    // Few of them are open at a time: the buffer's table makes room again and again.
    const auto f = static_cast<unsigned>(kPlots + below(kSides));
    if (!rules_size(f)) return;
    // The table may be full of files that are not home yet: then a door would go straight home.
    if (const auto opened = buffer_->open(place_.home(file_name(f)), O_RDWR); opened) {
      open_[f] = *opened;
    } else if (opened.error().code != ENFILE) {
      wrong("open: " + opened.error().message);
    } else {
      return;
    }
    for (auto i = below(3) + 1; i > 0; --i) {
      std::uint64_t offset = 0;
      std::uint64_t length = 0;
      if (one_in(2) && choose(f, 6000, offset, length)) write(f, offset, length);
      if (one_in(4)) truncate(f, below(kSideExtent));
      read(f, below(kSideExtent), below(kSideExtent));
      if (one_in(3)) (void)handle(f).prefetch(0, kSideExtent);
    }
    if (open_.contains(f)) close(f);
  }

  void step() {
    const auto f = static_cast<unsigned>(below(kPlots));
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
    switch (below(24)) {
      default:
        if (choose(f, one_in(6) ? 30'000 : 700, offset, length)) write(f, offset, length);
        break;
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
      case 5:
        offset = below(kExtent);
        read(f, offset, std::min(one_in(6) ? below(30'000) : below(700), kExtent - offset));
        break;
      case 6:
        dots(f);
        break;
      case 7:
        if (rules_size(f) && one_in(2)) {
          const auto& file = truth_.files[f];
          truncate(f, file.fixed + below(file.extent - file.fixed));
        }
        break;
      case 8:
        doing("sync {}", file_name(f));
        if (one_in(3)) check(writer(f).sync(), "sync");
        break;
      case 9:
        doing("evict {}", file_name(f));
        check(handle(f).evict(below(kExtent), below(kExtent)), "evict");
        break;
      case 10: {
        doing("prefetch {}", file_name(f));
        const auto ticket = handle(f).prefetch(below(kExtent), below(60'000));
        if (one_in(2)) check(ticket.wait(std::chrono::seconds(20)), "prefetch");
        break;
      }
      case 11:
        if (!one_in(4)) break;
        handle(f);
        close(f);
        break;
      case 12:
        if (!one_in(20)) break;
        detach();
        attach();
        break;
      case 13:
      case 14:
        side();
        break;
      case 15:
        offset = truth_.files[f].size.load();
        if (rules_size(f) && offset < kExtent)
          write(f, offset, 1 + below(std::min<std::uint64_t>(5000, kExtent - offset)));
        break;
    }
  }

  Truth& truth_;
  WorkerState& state_;
  const unsigned me_;
  const Place& place_;
  std::mt19937_64 random_;
  Reach reach_ = Reach::kOwn;
  std::string doing_;
  std::unique_ptr<Buffer> buffer_;
  Handles open_, readers_, writers_;
};

}  // namespace forebay::testing
