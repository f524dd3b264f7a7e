#include "tools/forebay/doctor/logind.hpp"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <ranges>

#include "base/format.hpp"
#include "base/real_path.hpp"
#include "tools/forebay/doctor/checks.hpp"

namespace forebay {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kFirstOrdinaryUser = 1000;

// What the last line of a file says that sets it.
std::optional<bool> remove_ipc_of(const fs::path& path) {
  std::ifstream file(path);
  std::optional<bool> said;
  for (std::string line; std::getline(file, line);) {
    std::erase_if(line, [](unsigned char c) { return std::isspace(c) != 0; });
    std::ranges::transform(line, line.begin(), [](unsigned char c) { return std::tolower(c); });
    // The file that comes with systemd shows in a comment what it was built with.
    const auto text = std::string_view(line).substr(line.starts_with('#') ? 1 : 0);
    if (!text.starts_with("removeipc=")) continue;
    const auto value = text.substr(text.find('=') + 1);
    const bool yes =
        value == "yes" || value == "y" || value == "1" || value == "true" || value == "t" || value == "on";
    if (!line.starts_with('#') || !said) said = yes;
  }
  return said;
}

bool uses_shared_memory(const Settings& settings) {
  const auto there = [](const std::string& path) { return lies_in(real_path(path), "/dev/shm"); };
  return there(settings.buffer.directory) ||
         std::ranges::any_of(settings.tiers, [&](const auto& tier) { return there(tier.path); });
}

}  // namespace

bool logind_removes_ipc(const std::vector<std::string>& folders) {
  bool removes = true;
  for (const auto& folder : folders) {
    std::error_code failed;
    if (!fs::exists(fs::path(folder) / "logind.conf", failed)) continue;
    removes = remove_ipc_of(fs::path(folder) / "logind.conf").value_or(removes);
    break;
  }
  // Of two of the same name the first counts; the last name wins.
  std::map<std::string, fs::path> more;
  for (const auto& folder : folders) {
    std::error_code failed;
    for (const auto& entry : fs::directory_iterator(fs::path(folder) / "logind.conf.d", failed)) {
      if (entry.path().extension() == ".conf") more.emplace(entry.path().filename(), entry.path());
    }
  }
  for (const auto& path : more | std::views::values) removes = remove_ipc_of(path).value_or(removes);
  return removes;
}

void check_logind(const Settings& settings, Findings& findings) {
  std::error_code failed;
  const auto user = ::geteuid();
  if (user < kFirstOrdinaryUser || !fs::exists("/run/systemd/seats", failed) || !uses_shared_memory(settings))
    return;
  const auto* entry = ::getpwuid(user);
  const bool lingers =
      entry != nullptr && fs::exists(fs::path("/var/lib/systemd/linger") / entry->pw_name, failed);
  if (lingers || !logind_removes_ipc()) return;
  findings.push_back(
      {"machine", Verdict::kFix,
       "when your last login on this node ends, systemd-logind removes what you have in /dev/shm, buffers "
       "with unsaved bytes too, also those of jobs that go on",
       "as root: RemoveIPC=no in /etc/systemd/logind.conf; or loginctl enable-linger; or buffer.directory "
       "and "
       "tiers elsewhere"});
}

}  // namespace forebay
