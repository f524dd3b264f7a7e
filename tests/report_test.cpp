// The page of `forebay report` in a browser: it fits, it loads nothing, nothing in it runs. Screenshots are
// kept in the build directory, artefacts/report-*.png.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <format>
#include <fstream>
#include <iterator>

#include "base/format.hpp"
#include "os/temporary_directory.hpp"
#include "support/command.hpp"
#include "support/places.hpp"

namespace forebay::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::string kForebay = built("src/tools/forebay/forebay");
const std::string kSample = in_checkout("tests/report/sample.jsonl");
const std::string kArtefacts = built("artefacts");

std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Report, GoesBesideItsResultsOrWhereItIsToldTo) {
  const TemporaryDirectory place;
  std::filesystem::copy_file(kSample, place.file("results.jsonl"));
  const auto ran = run(kForebay, {"report", place.file("results.jsonl")});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, place.file("results.html") + "\n");
  const auto page = slurp(place.file("results.html"));
  EXPECT_THAT(page, StartsWith("<!doctype html>"));
  EXPECT_THAT(run(kForebay, {"report", kSample, "-o", "-"}).out, StartsWith("<!doctype html>"));
  const auto twice = run(kForebay, {"report", kSample, kSample, "-o", place.file("two.html")});
  EXPECT_EQ(twice.code, 0) << twice.err;
  EXPECT_THAT(slurp(place.file("two.html")), HasSubstr("Run 2 of 2"));
}

TEST(Report, ADamagedFileIsRefusedWithItsLine) {
  const TemporaryDirectory place;
  auto text = slurp(kSample);
  text.insert(text.find('\n') + 1, "{\"kind\":\n");
  std::ofstream(place.file("results.jsonl")) << text;
  const auto ran = run(kForebay, {"report", place.file("results.jsonl")});
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.err, format_text("forebay: {}:2: the line is no JSON\n", place.file("results.jsonl")));
  EXPECT_FALSE(std::filesystem::exists(place.file("results.html")));
  EXPECT_EQ(run(kForebay, {"report", kSample, "-o", place.file("no/such/place.html")}).code, 1);
}

TEST(Report, AFileThatIsCutOffIsShownAndMarked) {
  const TemporaryDirectory place;
  const auto text = slurp(kSample);
  std::ofstream(place.file("results.jsonl")) << text.substr(0, text.size() / 2);
  const auto ran = run(kForebay, {"report", place.file("results.jsonl"), "-o", "-"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("This file has no end"));
}

// What a page says of itself, to the page that shows it in a frame.
constexpr const char* kProbe = R"(<script>addEventListener('load', () => {
  const strangers = [...document.querySelectorAll('[src],[href],script,iframe,object,form,link')].filter(
      (e) => !(e.getAttribute('href') || '').startsWith('#')).length - 1;
  parent.postMessage(`${location.hash} scrolls=${document.documentElement.scrollWidth > innerWidth} ` +
      `width=${innerWidth} strangers=${strangers} ` +
      `charts=${document.querySelectorAll('svg[role=img]').length > 10} title=${document.title}`, '*');
});</script>)";

class ReportInBrowser : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("command -v chromium >/dev/null") != 0) {
      GTEST_SKIP() << "no chromium here: the page is not looked at";
    }
    std::filesystem::create_directories(kArtefacts);
    const auto ran = run(kForebay, {"report", kSample, "-o", page()});
    ASSERT_EQ(ran.code, 0) << ran.err;
  }

  [[nodiscard]] std::string page() const { return place_.file("page.html"); }

  [[nodiscard]] Ran chromium(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(),
                     {"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                      "--hide-scrollbars", "--enable-logging=stderr",
                      "--user-data-dir=" + place_.file("profile"), "--virtual-time-budget=4000"});
    return run("chromium", arguments);
  }

  // A file that shows others in frames and writes down what they say.
  [[nodiscard]] std::string frames(const std::vector<std::pair<std::string, int>>& files) const {
    std::string text =
        "<!doctype html><body><pre id=said></pre><script>addEventListener('message', (m) => {"
        "document.getElementById('said').append(m.data + '\\n')})</script>";
    for (const auto& [file, width] : files) {
      text += format_text("<iframe src='{}#{}' style='border:0;width:{}px;height:3000px'></iframe>", file,
                          file, width);
    }
    std::ofstream(place_.file("frames.html")) << text;
    return "file://" + place_.file("frames.html");
  }

  // The page with `more` at its end, without the policy that would forbid scripts.
  void plant(const std::string& name, const std::string& more) const {
    auto text = slurp(page());
    const auto policy = text.find("<meta http-equiv");
    ASSERT_NE(policy, std::string::npos);
    text.erase(policy, text.find('>', policy) + 1 - policy);
    text.insert(text.rfind("</body>"), more);
    std::ofstream(place_.file(name)) << text;
  }

 private:
  TemporaryDirectory place_;
};

TEST_F(ReportInBrowser, FitsAPhoneAndLoadsNothing) {
  plant("copy.html", kProbe);
  plant("wide.html", std::string("<div style='width:900px'>too wide</div>") + kProbe);
  plant("open.html",
        std::string("<script>document.querySelectorAll('details').forEach((d) => d.open = true)</script>") +
            kProbe);
  const auto ran =
      chromium({"--window-size=1400,3000", "--dump-dom",
                frames({{"copy.html", 360}, {"open.html", 359}, {"copy.html", 1200}, {"wide.html", 361}})});
  EXPECT_THAT(ran.out, HasSubstr("#wide.html scrolls=true width=361")) << "this test sees nothing\n"
                                                                       << ran.err;
  const std::string fine = " strangers={} charts=true title=Forebay: benchmark report";
  for (const auto& [start, strangers] : {std::pair{"#copy.html scrolls=false width=360", 0},
                                         {"#copy.html scrolls=false width=1200", 0},
                                         {"#open.html scrolls=false width=359", 1}}) {
    EXPECT_THAT(ran.out, HasSubstr(start + std::vformat(fine, std::make_format_args(strangers))));
  }
}

TEST_F(ReportInBrowser, ShowsEverythingWithoutAComplaint) {
  const auto ran = chromium({"--dump-dom", "file://" + page()});
  EXPECT_THAT(ran.out, HasSubstr("Wrong bytes"));
  EXPECT_THAT(ran.out, HasSubstr("&lt;script&gt;document.title"));
  EXPECT_THAT(ran.out, HasSubstr("<title>Forebay: benchmark report</title>"));
  EXPECT_THAT(ran.out, Not(HasSubstr("<script")));
  EXPECT_THAT(ran.err, Not(HasSubstr("CONSOLE"))) << "the browser found something to say";
}

TEST_F(ReportInBrowser, LeavesItsPicture) {
  for (const auto& [name, width, dark] :
       {std::tuple{"wide-light", 1200, false}, {"wide-dark", 1200, true}, {"phone-light", 360, false}}) {
    const auto picture = format_text("{}/report-{}.png", kArtefacts, name);
    std::filesystem::remove(picture);
    std::vector<std::string> arguments{"--screenshot=" + picture,
                                       format_text("--window-size={},9000", width)};
    if (dark) arguments.emplace_back("--blink-settings=preferredColorScheme=0");
    std::filesystem::copy_file(page(), std::filesystem::path(page()).replace_filename("shown.html"),
                               std::filesystem::copy_options::overwrite_existing);
    // A browser's window has a least width, a frame has none.
    arguments.push_back(width < 600 ? frames({{"shown.html", width}}) : "file://" + page());
    const auto ran = chromium(arguments);
    const auto drawn = slurp(picture);
    EXPECT_THAT(drawn, StartsWith("\x89PNG")) << ran.err;
    EXPECT_GT(drawn.size(), 50'000u) << picture << " shows hardly anything";
  }
}

}  // namespace
}  // namespace forebay::testing
