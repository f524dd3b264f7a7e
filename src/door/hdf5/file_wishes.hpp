// How a program wants a file of its to be buffered: what the file-access list, the connector string and,
// under the name cache_ext, the Cache VOL's environment say.
#pragma once

#include <hdf5.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "door/hdf5/info.hpp"
#include "engine/buffer.hpp"
#include "session/session.hpp"

namespace forebay::hdf5 {

struct FileWishes {
  Membership membership{};
  std::vector<std::string> settings{};  // "key=value", over those that the configuration has for the file

  bool operator==(const FileWishes&) const = default;
};

// `fapl` is the list that the connector was given, which names the connector.
[[nodiscard]] FileWishes wishes_of(hid_t fapl, const ConnectorInfo& info);

// For Buffer::open. With settings that the buffer cannot serve the file is not buffered, and the log says
// why.
using Adjustment = std::function<void(FileSettings&)>;
[[nodiscard]] Adjustment adjustment(const FileWishes& wishes, Buffer& buffer, std::string path);

// Opens the file in its buffer. `flags` as for open(2).
Result<std::shared_ptr<File>> open_as_wished(const FileWishes& wishes, const std::string& path, int flags);

}  // namespace forebay::hdf5
