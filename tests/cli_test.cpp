// `forebay profile`, `doctor`, `settings`, and what all verbs have in common.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "support/node.hpp"
#include "support/places.hpp"

namespace forebay::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

TEST(Cli, AWordThatIsNoVerbIsNamed) {
  const auto wrong = run(Node::program(), {"stats"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_EQ(wrong.err, "forebay: there is no \"stats\" (`forebay --help` shows what there is)\n");
  const auto none = run(Node::program(), {});
  EXPECT_EQ(none.code, 2);
  EXPECT_EQ(none.err, "forebay: it is not said what to do (`forebay --help` says more)\n");
}

TEST(Cli, WordsThatAreOfNoUseAreNamed) {
  const auto words_of = [](const std::vector<std::string>& words) {
    const auto text = run(Node::program(), words).err;
    return text.substr(0, text.find(" (`"));
  };
  EXPECT_EQ(words_of({"-v"}), "forebay: there is no option -v");
  EXPECT_EQ(words_of({"status", "--bufer", "x"}), "forebay: there is no option --bufer");
  EXPECT_EQ(words_of({"status", "x", "y"}), "forebay: \"x\" is of no use here");
  EXPECT_EQ(words_of({"run", "--hom", "x"}), "forebay: there is no option --hom");
  EXPECT_EQ(words_of({"run", "--home", "/"}), "forebay: no command is given");
}

TEST(CliProfile, KeepsFiguresAndLeavesNothingElse) {
  const Node node;
  const auto ran = node.forebay({"profile", "--seconds", "0.04", "--home", node.disk("home"), "--json"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(json_value(ran.out, "[p['name'] for p in d['places']]"), "['memory', 'nvme', 'home']");
  EXPECT_EQ(
      json_value(ran.out, "all(p[k] > 0 for p in d['places'] for k in p if k.endswith(('second', 'ns')))"),
      "True");
  EXPECT_THAT(slurp(node.memory("control/profile.yaml")), HasSubstr("kind: nvme"));
  EXPECT_TRUE(std::filesystem::is_empty(node.disk("home")));
  EXPECT_TRUE(std::filesystem::is_empty(node.memory("forebay-" + std::to_string(::geteuid()))));
  const auto settings = node.forebay({"settings", "--json"});
  EXPECT_EQ(json_value(settings.out, "d['tiers'][0]['bandwidth'] > 0"), "True");
  const auto again = node.forebay({"profile", "--seconds", "0.04"});
  EXPECT_EQ(again.code, 0);
  EXPECT_THAT(again.out, HasSubstr("/s"));
  EXPECT_THAT(slurp(node.memory("control/profile.yaml")), HasSubstr(node.disk("home")))
      << "homes measured earlier stay";
}

TEST(CliProfile, AHomeThatIsNotThere) {
  const Node node;
  const auto ran = node.forebay({"profile", "--seconds", "0.04", "--home", node.disk("nowhere")});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("nowhere"));
}

TEST(CliDoctor, FindsAMissingTierAndBadPermissionsAndLeavesNothing) {
  const Node node;
  const auto fit = node.forebay({"doctor", "--json"});
  // Where logind would remove buffers, that is to be fixed on this machine.
  EXPECT_EQ(json_value(fit.out,
                       "[f['what'] for f in d['findings'] if f['verdict'] == 'fix' "
                       "and 'systemd-logind' not in f['what']]"),
            "[]");
  EXPECT_EQ(json_value(fit.out, "d['fit']"), fit.code == 0 ? "True" : "False");
  EXPECT_FALSE(std::filesystem::exists(node.memory("control")));
  EXPECT_TRUE(std::filesystem::is_empty(node.disk("nvme")));

  std::filesystem::create_directory(node.memory("control"));
  ASSERT_EQ(::chmod(node.memory("control").c_str(), 0755), 0);
  std::filesystem::remove(node.disk("nvme"));
  const auto unfit = node.forebay({"doctor"});
  EXPECT_EQ(unfit.code, 1);
  EXPECT_THAT(unfit.out, HasSubstr("FIX"));
  EXPECT_THAT(unfit.out, HasSubstr(node.disk("nvme")));
  EXPECT_THAT(unfit.out, HasSubstr("its mode must be 0700"));
}

TEST(CliDoctor, ASettingThatIsWrongIsAFinding) {
  const Node node({"drain.delay=1month"});
  const auto ran = node.forebay({"doctor"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, HasSubstr("drain.delay"));
}

TEST(CliSettings, PagesAreTheOnesInTheManual) {
  EXPECT_TRUE(run(Node::program(), {"settings", "--page"}).out == slurp(in_checkout("docs/settings.md")));
  EXPECT_TRUE(run(Node::program(), {"settings", "--sample"}).out == slurp(in_checkout("docs/forebay.yaml")));
}

TEST(CliSettings, SaysWhereEachComesFrom) {
  const Node node;
  std::ofstream(node.disk("forebay.yaml")) << "drain:\n  period: 7s\n";
  const auto ran = node.forebay({"settings", "--json", "--config", node.disk("forebay.yaml")});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(json_value(ran.out, "d['settings']['drain.period']"),
            "{'value': '7s', 'from': '" + node.disk("forebay.yaml") + ":2'}");
  EXPECT_EQ(json_value(ran.out, "d['settings']['drain.trigger']['from']"), "command line");
  EXPECT_EQ(json_value(ran.out, "d['settings']['drain.rate']['from']"), "default");
}

TEST(Cli, MistakesAreOneLineAndStatusTwo) {
  const Node node;
  for (const auto& wrong : {std::vector<std::string>{"status", "--bla"},
                            {"status", "--set", "a=b"},
                            {"frobnicate"},
                            {},
                            {"status", "--config", "/nowhere"},
                            {"status", "--watch", "never"},
                            {"drain", "--timeout", "soon"},
                            {"status", "--all", "--buffer", "x"}}) {
    const auto ran = run(Node::program(), wrong);
    EXPECT_EQ(ran.code, 2);
    EXPECT_THAT(ran.err, StartsWith("forebay: "));
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
    EXPECT_THAT(ran.out, IsEmpty());
  }
}

// docs/cli.md shows each verb's help between ```text and ```; FOREBAY_TEST_UPDATE=1 writes it anew.
TEST(Cli, ManualShowsTheHelp) {
  const std::string path = in_checkout("docs/cli.md");
  const auto page = slurp(path);
  std::string made;
  std::size_t at = 0;
  int verbs = 0;
  constexpr std::string_view kOpen = "```text\n$ forebay ";
  for (auto open = page.find(kOpen); open != std::string::npos; open = page.find(kOpen, at)) {
    const auto begin = open + kOpen.size();
    const auto verb = page.substr(begin, page.find(" --help\n", begin) - begin);
    made += page.substr(at, begin - at) + verb + " --help\n" + run(Node::program(), {verb, "--help"}).out;
    at = page.find("```\n", begin);
    ++verbs;
  }
  made += page.substr(at);
  EXPECT_EQ(verbs, 10);
  if (std::getenv("FOREBAY_TEST_UPDATE") != nullptr) std::ofstream(path) << made;
  EXPECT_TRUE(made == page) << "docs/cli.md is out of date: FOREBAY_TEST_UPDATE=1 ./dev test Cli.Manual";
}

}  // namespace
}  // namespace forebay::testing
