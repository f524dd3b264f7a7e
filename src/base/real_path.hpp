// Names without symbolic links.
#pragma once

#include <string>

namespace forebay {

// `path`, absolute, without links, "." and ".." as far as it exists; the rest as it is written. As it is
// where that cannot be found out. Asks a file system for nothing but what its links say, which the kernel
// knows of what has been looked up: std::filesystem asks for attributes too, a request to a network file
// system each time.
[[nodiscard]] std::string real_path(const std::string& path);

}  // namespace forebay
