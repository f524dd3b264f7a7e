// For tests: a home that is memory, as the replay of journals sees it.
#pragma once

#include <cerrno>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tier/replay.hpp"

namespace forebay {

class MemoryHome final : public ReplayVisitor {
 public:
  using Bytes = std::vector<std::byte>;

  std::map<std::uint64_t, Bytes> files;  // by inode; synced
  std::set<std::uint64_t> missing;       // inodes that cannot be opened
  std::function<void()> before_end;
  std::vector<std::string> paths;  // in the order of begin

  Status begin(const FileIdentity& file) override {
    paths.push_back(file.path);
    if (missing.contains(file.inode)) return fail_errno(ENOENT, "open", file.path);
    inode_ = file.inode;
    unsynced_ = files[inode_];
    return {};
  }
  Status write(std::uint64_t offset, std::span<const std::byte> data) override {
    if (unsynced_.size() < offset + data.size()) unsynced_.resize(offset + data.size());
    std::memcpy(unsynced_.data() + offset, data.data(), data.size());
    return {};
  }
  Status truncate(std::uint64_t size) override {
    unsynced_.resize(size);
    return {};
  }
  Status end() override {
    if (before_end) before_end();
    files[inode_] = unsynced_;
    return {};
  }

  [[nodiscard]] std::string text(std::uint64_t inode) const {
    const auto found = files.find(inode);
    if (found == files.end()) return {};
    return {reinterpret_cast<const char*>(found->second.data()), found->second.size()};
  }

 private:
  std::uint64_t inode_ = 0;
  Bytes unsynced_;
};

inline std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

}  // namespace forebay
