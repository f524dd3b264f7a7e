#include "bench/node.hpp"

#include <fcntl.h>

#include <filesystem>

#include "config/load.hpp"

namespace forebay::bench {

Node::Node(const Run& run, Shape shape)
    : memory_(run.scratch().in_memory("node")),
      disk_(run.scratch().on_disk("node")),
      home_(shape.home.empty() ? run.scratch().in_memory("home") : shape.home),
      own_home_(shape.home.empty()) {
  LoadOptions options;
  auto tiers = "tiers=memory:" + memory_ + ":" + shape.memory;
  if (!shape.disk.empty()) tiers += ",nvme:" + disk_ + ":" + shape.disk;
  // Home is in memory for most figures: writes would go straight there.
  options.overrides = {"buffer.directory=" + memory_ + "/control", tiers, "admission.write=always"};
  options.overrides.insert(options.overrides.end(), shape.settings.begin(), shape.settings.end());
  settings_ = must(load(options, Environment{}));
}

Node::~Node() {
  std::error_code ignored;
  std::filesystem::remove_all(memory_, ignored);
  std::filesystem::remove_all(disk_, ignored);
  if (own_home_) std::filesystem::remove_all(home_, ignored);
}

std::unique_ptr<Buffer> Node::attach(AttachOptions options) const {
  return must(Buffer::attach(settings_, options));
}

std::shared_ptr<File> open(Buffer& buffer, const std::string& path, int flags) {
  return must(buffer.open(path, flags, 0600));
}

}  // namespace forebay::bench
