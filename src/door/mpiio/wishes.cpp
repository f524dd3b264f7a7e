#include "door/mpiio/wishes.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "config/table.hpp"
#include "door/mpiio/info.hpp"

namespace forebay::mpiio {
namespace {

std::string key_of(const Setting& setting) {
  std::string key = "forebay_" + std::string(setting.name);
  std::ranges::replace(key, '.', '_');
  return key;
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
    if (wishes.path.empty()) wishes.path = info_value(info, key);
  }
  for (const auto& setting : settings_table()) {
    if (!setting.per_file) continue;
    const auto key = key_of(setting);
    const auto value = info_value(info, key.c_str());
    if (value.empty()) continue;
    if (understood(setting, key, value)) wishes.settings.push_back(std::string(setting.name) + "=" + value);
  }
  return wishes;
}

void tell(const FileSettings& settings, const std::string& path, MPI_Info info) {
  if (!path.empty()) PMPI_Info_set(info, "forebay_path", path.c_str());
  for (const auto& setting : settings_table()) {
    if (!setting.per_file) continue;
    const auto value = setting.write({.settings = nullptr, .file = &settings}, setting.limits);
    if (!value.empty()) PMPI_Info_set(info, key_of(setting).c_str(), value.c_str());
  }
}

}  // namespace forebay::mpiio
