// The kernels by name. A new one is a file with a class, and a line in each of the two lists here.
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
    {"metadata", make_metadata},
});

}  // namespace

std::unique_ptr<Kernel> make_kernel(const Context& context) {
  for (const auto& kernel : kKernels) {
    if (kernel.name == context.job.kernel) return kernel.make(context);
  }
  return nullptr;
}

}  // namespace forebay::kernels
