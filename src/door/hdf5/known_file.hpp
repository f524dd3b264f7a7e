// Files by their name, which HDF5 is about to reach past the buffer or to remove.
#pragma once

#include <optional>
#include <string>

#include "base/error.hpp"
#include "engine/file_table.hpp"
#include "session/session.hpp"

namespace forebay::hdf5 {

// What the buffer has unsaved of a file is at home when this returns, whoever wrote it. Where there is no
// such file, or the buffer cannot be had, there is nothing to do.
Status bring_home(const Membership& membership, const std::string& path);

// Who a file is, if `path` is the last of its names.
[[nodiscard]] std::optional<HomeIdentity> by_last_name(const std::string& path);
// It is removed: the buffer need not carry it home.
void forget_removed(const Membership& membership, const HomeIdentity& identity);

}  // namespace forebay::hdf5
