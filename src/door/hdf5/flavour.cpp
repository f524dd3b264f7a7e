#include "door/hdf5/flavour.hpp"

#include <dlfcn.h>
#include <hdf5.h>
#include <link.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <set>
#include <string>
#include <string_view>

namespace forebay::hdf5 {
namespace {

// "libhdf5_serial.so.310", and not its relatives for C++, Fortran and the high level.
bool is_core(std::string_view name) {
  if (!name.starts_with("libhdf5")) return false;
  for (const auto* const relative : {"_hl", "hl_", "_cpp", "fortran", "_tools"}) {
    if (name.contains(relative)) return false;
  }
  return true;
}

int note(dl_phdr_info* info, size_t /*size*/, void* names) {
  std::string_view name(info->dlpi_name);
  name.remove_prefix(name.rfind('/') + 1);
  if (is_core(name)) static_cast<std::set<std::string>*>(names)->emplace(name);
  return 0;
}

std::string object_of(const void* address) {
  Dl_info found{};
  if (::dladdr(address, &found) == 0 || found.dli_fname == nullptr) return "?";
  return found.dli_fname;
}

void complain(const std::string& words) {
  static constinit std::atomic<bool> said = false;
  if (said.exchange(true)) return;
  std::fprintf(stderr, "forebay: this plugin cannot be used here: %s\n", words.c_str());
}

}  // namespace

bool is_right_flavour(const void* caller) {
  std::set<std::string> loaded;
  ::dl_iterate_phdr(note, &loaded);
  if (loaded.size() > 1) {
    std::string names;
    for (const auto& name : loaded) names += (names.empty() ? "" : " and ") + name;
    complain("it is made for another HDF5 than the program uses (" + names +
             "); HDF5_PLUGIN_PATH must name the plugins of the same flavour");
    return false;
  }
  const auto mine = object_of(reinterpret_cast<const void*>(&H5open));
  const auto theirs = object_of(caller);
  if (mine != theirs) {
    complain("the program has HDF5 built into " + theirs + "; plugins need the shared library (" + mine +
             ")");
    return false;
  }
  return true;
}

}  // namespace forebay::hdf5
