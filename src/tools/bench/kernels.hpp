// Every kernel's maker.
#pragma once

#include <memory>

#include "tools/bench/kernel.hpp"

namespace forebay::kernels {

using Maker = std::unique_ptr<Kernel> (*)(const Context& context);

std::unique_ptr<Kernel> make_write(const Context& context);
std::unique_ptr<Kernel> make_read(const Context& context);
std::unique_ptr<Kernel> make_overwrite(const Context& context);
std::unique_ptr<Kernel> make_append(const Context& context);
std::unique_ptr<Kernel> make_metadata(const Context& context);

}  // namespace forebay::kernels
