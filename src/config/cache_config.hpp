// The Cache VOL's configuration as settings of ours, so that its users change nothing: its .cfg files and its
// environment variables.
//
//   HDF5_CACHE_STORAGE_TYPE: SSD     # or BURST_BUFFER, MEMORY, GPU
//   HDF5_CACHE_STORAGE_PATH: /local  # the colon may be left out
//
// Errors are those of config/load.hpp. What is taken otherwise than one would think is a remark.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "config/environment.hpp"
#include "config/settings.hpp"

namespace forebay {

// Does the first line that says something begin with a key of the Cache VOL?
bool is_cache_config(std::string_view text);

// Puts what the file says into `settings`. `directory`: where its relative paths begin.
Status read_cache_config(std::string_view text, std::string_view name, std::string_view directory,
                         Settings& settings);

struct CacheVariables {
  std::optional<bool> write;                // HDF5_CACHE_WR; nothing when unset
  std::optional<bool> read;                 // HDF5_CACHE_RD
  std::vector<std::string> for_files;       // "key=value", of settings that single files have
  std::vector<std::string> for_everything;  // "key=value", of the others
};
CacheVariables read_cache_variables(const Environment& environment);

}  // namespace forebay
