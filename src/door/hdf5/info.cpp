#include "door/hdf5/info.hpp"

#include <H5VLconnector.h>
#include <H5VLconnector_passthru.h>
#include <H5VLpassthru.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

#include "base/format.hpp"
#include "base/log.hpp"
#include "config/load.hpp"
#include "door/hdf5/error_stack.hpp"

namespace forebay::hdf5 {
namespace {

// "a=b;c={d;e=f}" into its parts; what is in braces is one value, without them.
struct Part {
  std::string_view key;
  std::string_view value;
};

Result<std::vector<Part>> parts_of(std::string_view text) {
  std::vector<Part> parts;
  while (!text.empty()) {
    if (text.front() == ';' || text.front() == ' ') {
      text.remove_prefix(1);
      continue;
    }
    const auto equals = text.find('=');
    if (equals == std::string_view::npos)
      return fail(EINVAL, format_text("connector string: \"{}\" is not key=value", text));
    Part part{.key = text.substr(0, equals), .value = {}};
    text.remove_prefix(equals + 1);
    if (text.starts_with('{')) {
      std::size_t depth = 0;
      std::size_t end = 0;
      do {
        if (text[end] == '{') ++depth;
        if (text[end] == '}') --depth;
        ++end;
      } while (depth != 0 && end < text.size());
      if (depth != 0) return fail(EINVAL, "connector string: a brace is not closed");
      part.value = text.substr(1, end - 2);
      text.remove_prefix(end);
    } else {
      part.value = text.substr(0, text.find(';'));
      text.remove_prefix(part.value.size());
    }
    parts.push_back(part);
  }
  return parts;
}

// "key=value;key=value", each checked as far as that is possible without a buffer.
Result<std::vector<std::string>> settings_of(std::string_view text) {
  FOREBAY_ASSIGN(const auto parts, parts_of(text));
  std::vector<std::string> settings;
  for (const auto& part : parts) settings.push_back(format_text("{}={}", part.key, part.value));
  FOREBAY_TRY(override_file_settings({}, {}, "", settings, "connector string"));
  return settings;
}

// A number or a name, as H5VLregister_connector_* take them.
Result<hid_t> connector_of(std::string_view which) {
  const std::string text(which);
  char* end = nullptr;
  const auto value = std::strtol(text.c_str(), &end, 10);
  const bool number = !text.empty() && *end == '\0';
  // HDF5 has this one built in, and finds it by itself only when it stands first.
  if (which == H5VL_PASSTHRU_NAME || (number && value == H5VL_PASSTHRU_VALUE)) {
    const auto built_in = H5VL_PASSTHRU;
    H5Iinc_ref(built_in);
    return built_in;
  }
  const auto id = number
                      ? H5VLregister_connector_by_value(static_cast<H5VL_class_value_t>(value), H5P_DEFAULT)
                      : H5VLregister_connector_by_name(text.c_str(), H5P_DEFAULT);
  if (id < 0)
    return fail(EINVAL, format_text("connector string: under_vol: there is no connector \"{}\"", which));
  return id;
}

bool is_async(std::string_view which) { return which == "async" || which == "512"; }

bool is_there(std::string_view which) {
  const ExpectFailure it_may_not_be;
  const auto id = connector_of(which);
  if (id) H5Idec_ref(*id);
  return id.has_value();
}

}  // namespace

ConnectorInfo::ConnectorInfo() : under_vol_(H5VL_NATIVE) { H5Iinc_ref(under_vol_); }

ConnectorInfo::ConnectorInfo(hid_t under_vol, const void* under_info, std::string config,
                             std::vector<std::string> settings)
    : under_vol_(under_vol), config_(std::move(config)), settings_(std::move(settings)) {
  H5Iinc_ref(under_vol_);
  // HDF5 does not change what it copies, and does not say so.
  if (under_info != nullptr) H5VLcopy_connector_info(under_vol_, &under_info_, const_cast<void*>(under_info));
}

ConnectorInfo::ConnectorInfo(const ConnectorInfo& other)
    : ConnectorInfo(other.under_vol_, other.under_info_, other.config_, other.settings_) {}

ConnectorInfo::~ConnectorInfo() {
  const KeepErrorStack keep;
  if (under_info_ != nullptr) H5VLfree_connector_info(under_vol_, under_info_);
  H5Idec_ref(under_vol_);
}

int ConnectorInfo::compare(const ConnectorInfo& other) const {
  int result = 0;
  H5VLcmp_connector_cls(&result, under_vol_, other.under_vol_);
  if (result == 0) H5VLcmp_connector_info(&result, under_vol_, under_info_, other.under_info_);
  if (result == 0) result = config_.compare(other.config_);
  if (result == 0 && settings_ != other.settings_) result = settings_ < other.settings_ ? -1 : 1;
  return result;
}

std::string ConnectorInfo::text() const {
  H5VL_class_value_t value = H5VL_NATIVE_VALUE;
  H5VLget_value(under_vol_, &value);
  char* below = nullptr;
  if (under_info_ != nullptr) H5VLconnector_info_to_str(under_info_, under_vol_, &below);
  auto text =
      format_text("under_vol={};under_info={{{}}}", static_cast<int>(value), below != nullptr ? below : "");
  if (!config_.empty()) text += ";config=" + config_;
  if (!settings_.empty()) {
    text += ";set={";
    for (const auto& setting : settings_) text += setting + ";";
    text.back() = '}';
  }
  if (below != nullptr) H5free_memory(below);
  return text;
}

Result<ConnectorInfo*> ConnectorInfo::parse(std::string_view text) {
  FOREBAY_ASSIGN(const auto parts, parts_of(text));
  std::optional<std::string_view> under_vol;
  std::string under_info;
  std::string config;
  std::vector<std::string> settings;
  for (const auto& part : parts) {
    if (part.key == "under_vol") {
      under_vol = part.value;
    } else if (part.key == "under_info") {
      under_info = part.value;
    } else if (part.key == "config") {
      config = part.value;
    } else if (part.key == "set") {
      FOREBAY_ASSIGN(settings, settings_of(part.value));
    } else {
      return fail(EINVAL, format_text("connector string: \"{}\" is not under_vol, under_info, config or set",
                                      part.key));
    }
  }
  if (under_vol && is_async(*under_vol) && !is_there(*under_vol)) {
    // The Cache VOL wants it below; the engine's own threads do its work here.
    log_info(
        "connector string: the async VOL is not installed, and not needed: going on with what is below it");
    FOREBAY_ASSIGN(auto* const rest, parse(under_info));
    const std::unique_ptr<ConnectorInfo> owned(rest);
    return new ConnectorInfo(owned->under_vol_, owned->under_info_, std::move(config), std::move(settings));
  }
  FOREBAY_ASSIGN(const auto under, connector_of(under_vol.value_or("0")));
  void* info = nullptr;
  if (!under_info.empty() && H5VLconnector_str_to_info(under_info.c_str(), under, &info) < 0) {
    H5Idec_ref(under);
    return fail(EINVAL, format_text("connector string: under_info: \"{}\" is refused by the connector below",
                                    under_info));
  }
  auto* const parsed = new ConnectorInfo(under, info, std::move(config), std::move(settings));
  if (info != nullptr) H5VLfree_connector_info(under, info);
  H5Idec_ref(under);
  return parsed;
}

ConnectorInfo ConnectorInfo::of(hid_t fapl) {
  void* info = nullptr;
  if (H5Pget_vol_info(fapl, &info) < 0 || info == nullptr) return {};
  const std::unique_ptr<ConnectorInfo> owned(static_cast<ConnectorInfo*>(info));
  return *owned;
}

}  // namespace forebay::hdf5
