#include "door/mpiio/wishes.hpp"

#include <algorithm>
#include <array>

#include "base/log.hpp"
#include "config/table.hpp"

namespace forebay::mpiio {
namespace {

std::string key_of(const Setting& setting) {
  std::string key = "forebay_" + std::string(setting.name);
  std::ranges::replace(key, '.', '_');
  return key;
}

std::string value_of(MPI_Info info, const std::string& key) {
  std::array<char, MPI_MAX_INFO_VAL + 1> text{};
  int there = 0;
  PMPI_Info_get(info, key.c_str(), MPI_MAX_INFO_VAL, text.data(), &there);
  return there != 0 ? text.data() : "";
}

// MPI ignores hints that it does not understand.
bool understood(const Setting& setting, const std::string& key, const std::string& value) {
  Settings nowhere;
  FileSettings checked;
  const auto status = setting.read(value, setting.limits, {.settings = &nowhere, .file = &checked});
  if (!status) log_warn("MPI_Info: {} is ignored: {}", key, status.error().message);
  return status.has_value();
}

}  // namespace

Wishes wishes_of(MPI_Info info) {
  Wishes wishes;
  if (info == MPI_INFO_NULL) return wishes;
  for (const char* key : {"forebay_path", "pmem_path"}) {
    if (wishes.path.empty()) wishes.path = value_of(info, key);
  }
  for (const auto& setting : settings_table()) {
    if (!setting.per_file) continue;
    const auto key = key_of(setting);
    const auto value = value_of(info, key);
    if (value.empty()) continue;
    if (setting.name == "prefetch.at_open" && value == "part") {
      wishes.prefetch_part = true;
    } else if (understood(setting, key, value)) {
      wishes.settings.push_back(std::string(setting.name) + "=" + value);
    }
  }
  return wishes;
}

void tell(const FileSettings& settings, MPI_Info info) {
  for (const auto& setting : settings_table()) {
    if (!setting.per_file) continue;
    const auto value = setting.write({.settings = nullptr, .file = &settings}, setting.limits);
    if (!value.empty()) PMPI_Info_set(info, key_of(setting).c_str(), value.c_str());
  }
}

}  // namespace forebay::mpiio
