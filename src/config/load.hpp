// From file, environment and overrides to Settings: later ones win over earlier ones.
//
//   defaults < file < environment < overrides
//
// The file is YAML, or one of the Cache VOL (config/cache_config.hpp).
//
// Nothing of the machine is looked at but the file itself. Every error is one line that says where the value
// was written, its key, the value and what is allowed:
//
//   /etc/forebay.yaml:3: buffer.bucket_size: "3MiB" is not a power of two from 4KiB to 16MiB
//   FOREBAY_MODE: mode: "asinc" is not async, sync, scratch or bypass
//   command line: drain.trigge: unknown setting; did you mean drain.trigger?
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "config/environment.hpp"
#include "config/settings.hpp"

namespace forebay {

inline constexpr std::string_view kConfigVariable = "FOREBAY_CONFIG";

struct LoadOptions {
  std::string file{};                      // empty: the one FOREBAY_CONFIG names, if any
  std::vector<std::string> overrides{};    // "key=value", the later ones win
  std::string overrides_from = "options";  // stands before their errors: "command line", "MPI_Info"
};

// EINVAL for what is written wrongly, else the errno of reading the file.
Result<Settings> load(const LoadOptions& options = {},
                      const Environment& environment = Environment::current());

// As the file alone, given its content and its name for errors. Never reads anything.
Result<Settings> load_text(std::string_view text, std::string_view name, const Environment& environment = {});

// What `settings` say for the file at `path`, with "key=value" overrides for this file alone on top.
Result<FileSettings> load_file_settings(const Settings& settings, std::string_view path,
                                        std::span<const std::string> overrides, std::string_view from);

// The same for somebody who has them already: `file` is what `settings` say for the file at `path`.
Result<FileSettings> override_file_settings(FileSettings file, const Settings& settings,
                                            std::string_view path, std::span<const std::string> overrides,
                                            std::string_view from);

}  // namespace forebay
