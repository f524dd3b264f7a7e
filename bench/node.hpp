// A buffer of its own for one figure: tiers and home in fresh folders, removed when the figure is done.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/run.hpp"
#include "engine/buffer.hpp"

namespace forebay::bench {

class Node {
 public:
  struct Shape {
    std::string memory = "512MiB";
    std::string disk{};                   // size of an nvme tier below; empty: none
    std::string home{};                   // an existing folder; empty: a fresh one in memory
    std::vector<std::string> settings{};  // "key=value"
  };
  Node(const Run& run, Shape shape);
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  ~Node();

  // Joins the buffer. Each process of a figure does it for itself.
  [[nodiscard]] std::unique_ptr<Buffer> attach(AttachOptions options = {}) const;
  [[nodiscard]] std::string home(const std::string& file) const { return home_ + "/" + file; }
  // Where the control file lies.
  [[nodiscard]] std::string control_folder() const { return memory_ + "/control/default"; }

 private:
  std::string memory_;
  std::string disk_;
  std::string home_;
  bool own_home_;
  Settings settings_;
};

// Opens or throws: a benchmark has nothing to say about failure.
[[nodiscard]] std::shared_ptr<File> open(Buffer& buffer, const std::string& path, int flags);

template <class T>
T must(forebay::Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

}  // namespace forebay::bench
