// Real programs, unmodified, in a home and in a plain folder: what they leave and say must be the same.
#include <gtest/gtest.h>

#include <fstream>

#include "support/forebay_run.hpp"
#include "support/places.hpp"

namespace forebay::testing {
namespace {

namespace fs = std::filesystem;

struct Script {
  const char* file;
  const char* needs;  // a command that must succeed
};

struct Variant {
  const char* name;
  std::vector<std::string> settings;
};

const std::vector<Variant>& variants() {
  static const std::vector<Variant> all{{"usual", {}}, {"detach", {"on_close=detach"}}};
  return all;
}

// How often the report says that somebody wrote past the buffer.
const char* const kPast = "sum(p['times'] for p in d['passed'] if 'past the buffer' in p['why'])";

class PosixPrograms : public ::testing::TestWithParam<Script> {};

TEST_P(PosixPrograms, LeaveTheSameAsPlainly) {
  if (run("sh", {"-c", GetParam().needs}).code != 0)
    GTEST_SKIP() << GetParam().needs << " does not work here";
  const auto script = in_checkout("tests/posix/programs/") + GetParam().file;
  const bool python = script.ends_with(".py");
  const auto in = [&](const std::string& folder) -> std::vector<std::string> {
    if (python) return {"env", "-C", folder, "python3", script};
    return {"env", "-C", folder, "sh", "-e", script};
  };
  for (const auto& variant : variants()) {
    const PosixPlace place;
    auto words = in(place.plain());
    const auto plain = run(words.front(), {words.begin() + 1, words.end()});
    const auto buffered = place.run(in(place.home()), variant.settings);
    ASSERT_EQ(plain.code, 0) << plain.out << plain.err;
    EXPECT_EQ(buffered.code, 0) << variant.name << "\n" << buffered.out << buffered.err;
    EXPECT_EQ(plain.out, buffered.out) << variant.name;
    const auto compared = run("diff", {"-r", "--no-dereference", place.plain(), place.home()});
    EXPECT_EQ(compared.code, 0) << variant.name << "\n" << compared.out.substr(0, 2000);
    EXPECT_NE(place.reported("d['staged_bytes'] + d['straight_home_bytes']"), "0");
    EXPECT_EQ(place.reported(kPast), "0") << "all of these are seen";
  }
}

INSTANTIATE_TEST_SUITE_P(Scripts, PosixPrograms,
                         ::testing::Values(Script{"coreutils.sh", "rsync --version"},
                                           Script{"git.sh", "git --version"},
                                           Script{"sqlite.sh", "sqlite3 --version"},
                                           Script{"build.sh", "make --version"},
                                           Script{"python_files.py", "python3 -c 'import numpy'"},
                                           Script{"fio.sh", "fio --version"},
                                           Script{"torch_files.py", "python3 -c 'import torch'"},
                                           Script{"hdf5_files.py", "python3 -c 'import h5py'"}),
                         [](const auto& script) {
                           std::string name = script.param.file;
                           name.replace(name.find('.'), 1, "_");
                           return name;
                         });

std::string unseen(const std::string& name) { return built("tests/posix/posix_") + name; }

// Its runtime wants to come first among the libraries, and ended the program before anything was written.
TEST(PosixSanitizers, AProgramWithGccsAddressSanitizerRuns) {
  const PosixPlace place;
  const auto program = place.plain("sanitized");
  std::ofstream(program + ".c") << "#include <stdio.h>\n#include <stdlib.h>\n"
                                   "int main(int count, char** words) {\n"
                                   "  char* text = malloc(4);\n"
                                   "  FILE* file = fopen(words[1], \"w\");\n"
                                   "  fputs(\"text\", file);\n"
                                   "  fclose(file);\n"
                                   "  if (count > 2) text[4] = 1;\n"
                                   "  free(text);\n"
                                   "}\n";
  if (run("gcc", {"-fsanitize=address", "-o", program, program + ".c"}).code != 0)
    GTEST_SKIP() << "gcc has no AddressSanitizer here";
  const auto ran = place.run({program, place.home("a")});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(slurp(place.home("a")), "text");
  EXPECT_EQ(place.reported("d['staged_bytes']"), "4");
  const auto wrong = place.run({program, place.home("a"), "overrun"});
  EXPECT_NE(wrong.err.find("heap-buffer-overflow"), std::string::npos) << wrong.err;
}

// Nobody sees them: they find what was closed, what they inherit is home before they start, and the report
// says so.
TEST(PosixUnseen, ProgramsFindFilesAsTheyWereClosed) {
  for (const std::string program : {"raw", "static", "go"}) {
    const PosixPlace place;
    const auto file = place.home("a");
    const auto ran =
        place.shell("printf before > " + file + "; " + unseen(program) + " " + file + " after; cat " + file);
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.out, "beforebeforeafter") << program;
  }
}

TEST(PosixUnseen, WhatTheyWriteIsNoticedWhenItIsNextOpened) {
  const PosixPlace place;
  const auto file = place.home("a");
  const auto raw = unseen("raw") + " " + file + " after; ";
  (void)place.shell("printf before > " + file + "; " + raw + "cat " + file + "; cat " + file);
  EXPECT_EQ(place.reported(kPast), "1");
  // Not what was seen: times that are set, a truncation, a copy made by the system, a rename.
  (void)place.shell("cd " + place.home() +
                    "; printf before > b; touch -d '2001-01-01' b; cat b; printf x > b; cp b c; "
                    "cat c; mv c b; cat b; truncate -s 1 b; cat b; printf more >> b; cat b");
  EXPECT_EQ(place.reported(kPast), "0");
}

TEST(PosixUnseen, AreNamedInTheReportWhereverTheyAreStarted) {
  const struct {
    std::string program, words;
  } all[] = {{"static", "linked statically"}, {"go", "by itself (Go)"}};
  for (const auto& [program, words] : all) {
    const PosixPlace place;
    const auto file = place.home("a");
    const auto count = [&] { return place.reported("sum('" + words + "' in s for s in d['not_seen'])"); };
    // By the run itself, by a shell, by a program that forks as vfork does, by its name alone.
    auto ran = place.shell(unseen(program) + " " + file + " text; true");
    EXPECT_EQ(count(), "1") << ran.err;
    EXPECT_NE(ran.err.find(words), std::string::npos) << ran.err;
    ran = place.run({"python3", "-c",
                     "import subprocess\nfor i in range(3): subprocess.run(['" + unseen(program) + "', '" +
                         file + "', 'x'])"});
    EXPECT_EQ(count(), "1") << ran.err;
    ran = place.shell("PATH=" + built("tests/posix") + ":$PATH; cd " + place.home() + "; posix_" + program +
                      " b text");
    EXPECT_EQ(count(), "1") << ran.err;
    // As what runs a script.
    const auto script = place.root("script");
    std::ofstream(script) << "#! " << unseen(program) << "\n";
    fs::permissions(script, fs::perms::owner_all);
    ran = place.shell("cd " + place.home() + "; " + script + " text; true");
    EXPECT_EQ(count(), "1") << ran.err;
    // Not when they have nothing to do with a home.
    ran = place.shell("cd /; " + unseen(program) + " " + place.plain("a") + " text");
    EXPECT_EQ(count(), "0") << ran.err;
  }
  const PosixPlace place;
  (void)place.shell("env -u LD_PRELOAD cat " + place.home("nothing") + " || true");
  EXPECT_EQ(place.reported("sum('without the library' in s for s in d['not_seen'])"), "1");
}

// UCX looks for functions that map memory in the C library and puts a jump of its own at their beginning: it
// was given the door's, which then saw no mapping any more, and the program was killed by SIGBUS.
TEST(PosixMapped, IsSeenWhereUcxPatchesTheCLibrary) {
  if (run("python3", {"-c", "import torch"}).code != 0) GTEST_SKIP() << "SKIPPED: there is no PyTorch here";
  const PosixPlace place;
  const auto* const program =
      "import torch, mmap\n"
      "open('a', 'wb').write(b'x' * 200000)\n"
      "with open('a', 'rb') as f: print(mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)[199999])\n";
  const auto ran = place.run({"env", "-C", place.home(), "python3", "-c", program},
                             {"drain.trigger=never", "on_close=detach"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "120\n");
}

TEST(PosixUnseen, AStaticProgramFindsWhatItInheritsAtHome) {
  const PosixPlace place;
  const auto path = unseen("static");
  const auto file = place.home("a");
  // The shell still has the file open when the program starts.
  const auto ran = place.shell(
      "exec 3>" + file + "; printf before >&3; " + path + " " + file + " after >/dev/null; cat " + file,
      {"drain.trigger=never"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "beforeafter");
}

}  // namespace
}  // namespace forebay::testing
