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
std::unique_ptr<Kernel> make_amrex(const Context& context);
std::unique_ptr<Kernel> make_openpmd(const Context& context);
std::unique_ptr<Kernel> make_e3sm(const Context& context);
std::unique_ptr<Kernel> make_dlio(const Context& context);
std::unique_ptr<Kernel> make_exerciser(const Context& context);
std::unique_ptr<Kernel> make_macsio(const Context& context);
std::unique_ptr<Kernel> make_mpiio(const Context& context);
std::unique_ptr<Kernel> make_posix(const Context& context);

}  // namespace forebay::kernels
