#include "engine/handover.hpp"

#include <unistd.h>

#include <string>
#include <vector>

#include "base/log.hpp"
#include "config/environment.hpp"
#include "config/table.hpp"
#include "os/spawn.hpp"

namespace forebay {
namespace {

constexpr std::chrono::seconds kPatience{10};

// As the setting says, or beside this library as both are installed, or in PATH.
std::vector<std::string> candidates(const Settings& settings) {
  if (!settings.drain.program.empty()) return {settings.drain.program};
  std::vector<std::string> programs;
  const auto folder = own_folder();
  for (const char* way : {"/forebay", "/../bin/forebay", "/../../bin/forebay", "/../../../bin/forebay",
                          "/../../../../bin/forebay"}) {
    if (!folder.empty() && ::access((folder + way).c_str(), X_OK) == 0) programs.push_back(folder + way);
  }
  programs.emplace_back("forebay");
  return programs;
}

// The buffer is named in full, and how to drain it as it was given to this process.
std::vector<std::string> arguments(const Settings& settings) {
  std::vector<std::string> words{"drain", "--detached"};
  for (const auto& row : settings_table()) {
    const bool matters =
        row.name.starts_with("drain.") || row.name.starts_with("limits.") || row.name.starts_with("log.");
    const bool names = row.name == "buffer.name" || row.name == "buffer.directory";
    if (names || (matters && settings.origins.contains(row.name)))
      words.insert(words.end(), {"--set", std::string(row.name) + "=" + row.value(settings)});
  }
  return words;
}

// Without what would make the program one more user of the buffer, or give it other settings.
std::vector<std::string> environment() {
  std::vector<std::string> variables;
  const auto current = Environment::current();
  for (const auto& [name, value] : current.variables()) {
    if (name != "LD_PRELOAD" && !name.starts_with(kVariablePrefix)) variables.push_back(name + "=" + value);
  }
  return variables;
}

}  // namespace

bool hand_over_unsaved(const Core& core) {
  if (core.peers.has_heir()) return true;
  Status status;
  for (const auto& program : candidates(core.settings)) {
    status = spawn_detached(program, arguments(core.settings), environment(), kPatience);
    if (status) return true;
  }
  log_info("on_close detach: nobody else can carry the bytes home, so this process does: {}",
           status.error().message);
  return false;
}

}  // namespace forebay
