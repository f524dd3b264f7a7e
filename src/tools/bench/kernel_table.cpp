// The kernels by name. A new one is a file with a class, and a line here and in kernels.hpp; its keys are in
// tools/forebay/bench/key_table.cpp.
#include <array>

#include "tools/bench/kernel.hpp"
#include "tools/bench/kernels.hpp"

namespace forebay::kernels {
namespace {

struct Named {
  std::string_view name;
  Maker make;
};

constexpr auto kKernels = std::to_array<Named>({
    {"write", make_write},
    {"write-unlimited", make_write},
    {"write_normal_dist", make_write},
    {"read", make_read},
    {"overwrite", make_overwrite},
    {"append", make_append},
    {"checkpoint", make_write},
    {"metadata", make_metadata},
    {"amrex", make_amrex},
    {"openpmd", make_openpmd},
    {"e3sm", make_e3sm},
    {"dlio", make_dlio},
    {"exerciser", make_exerciser},
    {"macsio", make_macsio},
    {"mpiio", make_mpiio},
    {"posix", make_posix},
});

}  // namespace

std::unique_ptr<Kernel> make_kernel(const Context& context) {
  for (const auto& kernel : kKernels) {
    if (kernel.name == context.job.kernel) return kernel.make(context);
  }
  return nullptr;
}

}  // namespace forebay::kernels
