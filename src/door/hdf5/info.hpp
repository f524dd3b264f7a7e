// What follows the connector's name: "under_vol=0;under_info={};config=FILE;set={KEY=VALUE;...}". Every part
// may be left out. `set` are settings for the files opened with it.
#pragma once

#include <hdf5.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace forebay::hdf5 {

// The connector below and the configuration; what H5Pset_vol carries for this connector. Owns a reference to
// the connector below and that one's information.
class ConnectorInfo {
 public:
  // On the native connector, without a configuration.
  ConnectorInfo();
  // Takes its own reference and copy.
  ConnectorInfo(hid_t under_vol, const void* under_info, std::string config,
                std::vector<std::string> settings = {});
  ConnectorInfo(const ConnectorInfo& other);
  ConnectorInfo& operator=(const ConnectorInfo&) = delete;
  ~ConnectorInfo();

  [[nodiscard]] hid_t under_vol() const { return under_vol_; }
  [[nodiscard]] void* under_info() const { return under_info_; }
  [[nodiscard]] const std::string& config() const { return config_; }
  // "key=value", each valid for a file.
  [[nodiscard]] const std::vector<std::string>& settings() const { return settings_; }

  // -1, 0, 1 as H5VL's cmp wants it.
  [[nodiscard]] int compare(const ConnectorInfo& other) const;
  [[nodiscard]] std::string text() const;
  // New, to be deleted by the caller.
  static Result<ConnectorInfo*> parse(std::string_view text);
  // What the list carries for the connector in it, or what a connector without information has.
  static ConnectorInfo of(hid_t fapl);

 private:
  hid_t under_vol_;
  void* under_info_ = nullptr;
  std::string config_{};
  std::vector<std::string> settings_{};
};

}  // namespace forebay::hdf5
