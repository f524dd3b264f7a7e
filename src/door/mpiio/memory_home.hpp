// Files whose home is memory itself are left to MPI: a buffer before them would only cost.
#pragma once

#include <string>

#include "config/settings.hpp"

namespace forebay::mpiio {

// Is there a buffer already, of whoever made it?
[[nodiscard]] bool buffer_was_made(const Settings& settings);

// Is `path`, a file that is meant, better left alone? Not if it is buffered already, by whomever: then this
// process must see it there. `settings`: loaded, not resolved. Makes no buffer; joins one that exists.
[[nodiscard]] bool home_will_do(const std::string& path, const Settings& settings);

}  // namespace forebay::mpiio
