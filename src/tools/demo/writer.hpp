// The two ways to write a checkpoint. Failures are exceptions.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace forebay::demo {

// How much a program hands over at a time.
inline constexpr std::size_t kPiece = 1U << 20;

class Writer {
 public:
  virtual ~Writer() = default;
  // Makes a file of these bytes.
  virtual void write(const std::string& path, std::span<const std::byte> bytes) = 0;
  // Returns when everything is home.
  virtual void finish() = 0;
};

// open, pwrite, close.
std::unique_ptr<Writer> make_plain_writer();

// The same through Forebay's native API, as an application uses it.
std::unique_ptr<Writer> make_forebay_writer(const std::vector<std::string>& settings);

}  // namespace forebay::demo
