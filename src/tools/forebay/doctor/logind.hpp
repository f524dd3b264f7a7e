// systemd's logind, which may remove what a user has in /dev/shm when the last session of theirs ends.
#pragma once

#include <string>
#include <vector>

namespace forebay {

// Where its settings lie (systemd's "logind.conf" and "logind.conf.d"), the first one first asked.
inline const std::vector<std::string> kLogindFolders{"/etc/systemd", "/run/systemd", "/usr/local/lib/systemd",
                                                     "/usr/lib/systemd"};

// Its RemoveIPC, which is on where nothing is said.
bool logind_removes_ipc(const std::vector<std::string>& folders = kLogindFolders);

}  // namespace forebay
