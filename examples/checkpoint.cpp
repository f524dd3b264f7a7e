// Writes checkpoints through Forebay while it computes, then restarts from the last one.
//
//   checkpoint_cpp [DIRECTORY]      where the files go (default: the working directory)
#include <fcntl.h>
#include <forebay/forebay.hpp>

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr int kSteps = 5;
using Cells = std::vector<double>;

void compute(Cells& cells, int step) {
  for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = 0.5 * cells[i] + step + static_cast<double>(i);
}

std::size_t bytes_of(const Cells& cells) { return cells.size() * sizeof(double); }

// One file a step. With on_close=detach, closing does not wait either: the bytes follow in the background.
void write_checkpoint(forebay::Buffer& buffer, const std::string& path, const Cells& cells) {
  auto file = buffer.open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644, {"on_close=detach"});
  file.write(cells.data(), bytes_of(cells), 0);
  file.close();
}

Cells read_checkpoint(forebay::Buffer& buffer, const std::string& path) {
  auto file = buffer.open(path, O_RDONLY);
  Cells cells(file.size() / sizeof(double));
  if (file.read(cells.data(), bytes_of(cells), 0) != bytes_of(cells))
    throw std::runtime_error(path + " is short");
  return cells;
}

void run(const std::string& directory) {
  auto buffer = forebay::Buffer::attach();
  const auto path = [&](int step) { return directory + "/checkpoint_cpp." + std::to_string(step) + ".dat"; };
  Cells cells(1 << 18);
  for (int step = 0; step < kSteps; ++step) {
    compute(cells, step);
    write_checkpoint(buffer, path(step), cells);
  }
  // What is staged is seen at once by every process of the node, whether it is home yet or not.
  if (read_checkpoint(buffer, path(kSteps - 1)) != cells) throw std::runtime_error("the checkpoint differs");

  buffer.drain();  // from here on every other node sees the files too
  const auto statistics = buffer.statistics();
  std::printf("staged %.1f MB, carried home %.1f MB in %llu writes\n",
              static_cast<double>(statistics.staged_bytes) / 1e6,
              static_cast<double>(statistics.home_written_bytes) / 1e6,
              static_cast<unsigned long long>(statistics.home_writes));
  buffer.detach();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc > 1 ? argv[1] : ".");
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
