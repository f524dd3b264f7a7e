#include "tools/forebay/run/program.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "os/temporary_directory.hpp"
#include "tools/forebay/run/elf_file.hpp"

namespace forebay {
namespace {

namespace fs = std::filesystem;

std::string make_script(const TemporaryDirectory& folder, const std::string& name, const std::string& text) {
  std::ofstream(folder.file(name)) << text;
  fs::permissions(folder.file(name), fs::perms::owner_all);
  return folder.file(name);
}

TEST(FindCommand, AsTheShellDoes) {
  const TemporaryDirectory folder;
  const auto tool = make_script(folder, "tool", "");
  std::ofstream(folder.file("no_program")) << "";
  fs::create_directory(folder.file("directory"));
  const auto path = "/nowhere:" + folder.path() + ":/usr/bin:/bin";
  EXPECT_EQ(find_command("tool", path).value_or(""), tool);
  EXPECT_EQ(find_command(tool, "").value_or(""), tool);
  EXPECT_TRUE(find_command("env", path));
  EXPECT_EQ(find_command("no_such_tool", path).error().code, ENOENT);
  EXPECT_EQ(find_command("no_program", path).error().code, EACCES);
  EXPECT_EQ(find_command("directory", path).error().code, EACCES);
  EXPECT_EQ(find_command(folder.file("missing"), path).error().code, ENOENT);
  EXPECT_EQ(find_command("", path).error().code, ENOENT);
}

TEST(ExamineProgram, ADynamicOne) {
  const auto self = examine_program(fs::canonical("/proc/self/exe"), "");
  EXPECT_EQ(self.linking, Linking::kDynamic);
  EXPECT_FALSE(self.privileged);
  EXPECT_TRUE(self.needs("libc.so.6"));
  EXPECT_TRUE(self.needs("libm.so.6")) << "also what its libraries need";
}

TEST(ExamineProgram, OfAScriptItsInterpreter) {
  const TemporaryDirectory folder;
  const auto by_env =
      examine_program(make_script(folder, "a", "#!/usr/bin/env -S A=1 sh -e\n"), "/usr/bin:/bin");
  EXPECT_EQ(by_env.name(), "sh");
  EXPECT_EQ(by_env.script, folder.file("a"));
  EXPECT_EQ(by_env.linking, Linking::kDynamic);
  const auto script = make_script(folder, "b", "#!" + folder.file("a") + "\n");
  EXPECT_EQ(examine_program(script, "/usr/bin:/bin").name(), "sh");
  EXPECT_EQ(examine_program(make_script(folder, "c", "echo"), "").linking, Linking::kUnknown);
  const auto loop = make_script(folder, "d", "#!" + folder.file("d") + "\n");
  EXPECT_EQ(examine_program(loop, "").linking, Linking::kUnknown);
}

TEST(ReadElf, WhatIsNoneIsRefused) {
  const TemporaryDirectory folder;
  for (const std::string& text : {std::string(), std::string("#!/bin/sh\n"), std::string("\177ELF"),
                                  std::string("\177ELF\2\1\1") + std::string(200, '\377')}) {
    std::ofstream(folder.file("f")) << text;
    EXPECT_FALSE(read_elf(folder.file("f")));
  }
  EXPECT_EQ(read_elf(folder.file("missing")).error().code, ENOENT);
}

}  // namespace
}  // namespace forebay
