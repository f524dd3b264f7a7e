#include "door/hdf5/file_wishes.hpp"

#include <optional>
#include <utility>

#include "base/log.hpp"
#include "config/cache_config.hpp"
#include "config/load.hpp"
#include "door/hdf5/connector.hpp"
#include "door/hdf5/error_stack.hpp"
#include "door/hdf5/operations.hpp"

namespace forebay::hdf5 {
namespace {

// Was the connector asked for by the Cache VOL's name?
bool is_cache_ext(hid_t fapl) {
  hid_t connector = H5I_INVALID_HID;
  if (H5Pget_vol_id(fapl, &connector) < 0) return false;
  H5VL_class_value_t value = H5VL_NATIVE_VALUE;
  const bool told = H5VLget_value(connector, &value) >= 0;
  H5VLclose(connector);
  return told && value == kCacheValue;
}

// What H5Pset_fapl_cache put into the list.
std::optional<bool> wish(hid_t fapl, const char* property) {
  const ExpectFailure it_may_have_none;
  hbool_t value = false;
  if (H5Pexist(fapl, property) <= 0 || H5Pget(fapl, property, &value) < 0) return std::nullopt;
  return value;
}

void switch_off(bool write, bool read, std::vector<std::string>& settings) {
  if (write && read) {
    settings.emplace_back("mode=bypass");
  } else if (write) {
    settings.emplace_back("admission.write=never");
  } else if (read) {
    settings.emplace_back("admission.read=never");
  }
}

}  // namespace

FileWishes wishes_of(hid_t fapl, const ConnectorInfo& info) {
  FileWishes wishes{.membership = {.config = info.config()}};
  auto write = wish(fapl, kWriteProperty);
  auto read = wish(fapl, kReadProperty);
  if (is_cache_ext(fapl)) {
    // The environment wins over the list there, and what neither asks for is off.
    auto variables = read_cache_variables(Environment::current());
    wishes.settings = std::move(variables.for_files);
    wishes.membership.overrides = std::move(variables.for_everything);
    wishes.membership.overrides_from = "environment of the Cache VOL";
    write = variables.write.value_or(write.value_or(false));
    read = variables.read.value_or(read.value_or(false));
  }
  switch_off(!write.value_or(true), !read.value_or(true), wishes.settings);
  wishes.settings.insert(wishes.settings.end(), info.settings().begin(), info.settings().end());
  return wishes;
}

Adjustment adjustment(const FileWishes& wishes, Buffer& buffer, std::string path) {
  return
      [given = wishes.settings, &all = buffer.core().settings, path = std::move(path)](FileSettings& file) {
        auto changed = override_file_settings(file, all, path, given, "connector string");
        if (changed) {
          file = std::move(*changed);
        } else {
          log_warn("{} is not buffered: {}", path, changed.error().message);
          file.mode = Mode::Bypass;
        }
      };
}

Result<std::shared_ptr<File>> open_as_wished(const FileWishes& wishes, const std::string& path, int flags) {
  FOREBAY_ASSIGN(auto* const buffer, join(wishes.membership));
  return buffer->open(path, flags, 0666, adjustment(wishes, *buffer, path));
}

}  // namespace forebay::hdf5
