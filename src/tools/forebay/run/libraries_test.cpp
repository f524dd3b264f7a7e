#include "tools/forebay/run/libraries.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace forebay {
namespace {

using NameSet = std::set<std::string>;

// Those of its list that are no library of the kernel's own.
NameSet listed(const std::string& loader, const std::string& path) {
  NameSet names;
  for (auto& name : libraries_by_loader(loader, path)) {
    if (!name.starts_with("linux-vdso") && !name.starts_with("ld-linux")) names.insert(std::move(name));
  }
  return names;
}

TEST(Libraries, TheCacheSaysWhatTheLoaderSays) {
  int compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/usr/bin")) {
    if (compared == 40) break;
    const auto path = entry.path().string();
    const auto elf = read_elf(path);
    if (entry.is_symlink() || !elf || elf->loader.empty()) continue;
    const auto found = libraries_by_cache(*elf);
    if (!found) continue;
    NameSet names(found->begin(), found->end());
    std::erase_if(names, [](const auto& name) { return name.starts_with("ld-linux"); });
    EXPECT_EQ(names, listed(elf->loader, path)) << path;
    ++compared;
  }
  if (compared == 0) GTEST_SKIP() << "no program here has its libraries from the cache alone";
}

TEST(Libraries, WhereMoreThanTheCacheHasASayItIsNotAsked) {
  ElfFile program{.loader = "/lib64/ld-linux-x86-64.so.2", .needed = {"libc.so.6"}};
  program.has_paths = true;
  EXPECT_FALSE(libraries_by_cache(program));
  program.has_paths = false;
  program.needed.emplace_back("libnowhere.so.1");
  EXPECT_FALSE(libraries_by_cache(program));
  program.needed = {"./libc.so.6"};
  EXPECT_FALSE(libraries_by_cache(program));
  program.loader = "/opt/ld.so";
  program.needed = {"libc.so.6"};
  EXPECT_FALSE(libraries_by_cache(program));
}

}  // namespace
}  // namespace forebay
