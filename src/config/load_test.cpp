#include "config/load.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <set>

#include "config/table.hpp"

namespace forebay {
namespace {

using namespace std::chrono_literals;

class Load : public ::testing::Test {
 protected:
  void SetUp() override {
    file_ = testing::TempDir() + "forebay-load-test." + std::to_string(getpid()) + ".yaml";
  }
  void TearDown() override { std::filesystem::remove(file_); }

  void write_file(std::string_view yaml) const { std::ofstream(file_) << yaml; }

  std::string file_;
};

std::string error_of(const Result<Settings>& result) { return result ? "no error" : result.error().message; }

TEST_F(Load, NothingGivenIsTheDefaults) {
  const auto settings = load({}, Environment{});
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->buffer.name, "default");
  EXPECT_EQ(settings->file_defaults, FileSettings{});
  EXPECT_TRUE(settings->tiers.empty());
  EXPECT_TRUE(settings->origins.empty());
}

TEST_F(Load, ReadsEveryKindOfValue) {
  const auto settings = load_text(R"(
buffer:
  name: run-7
  bucket_size: 1MiB
drain.delay: 1.5s
drain:
  rate: 200MB/s
  in_flight: 16
pressure: {low_water: 5, high_water: 50%}
limits:
  fragment_memory: 64MiB
mode: sync
pin: yes
log: {level: off, file: /tmp/forebay.log}
admission:
)",
                                  "x.yaml");
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->buffer.name, "run-7");
  EXPECT_EQ(settings->buffer.bucket_size, kMiB);
  EXPECT_EQ(settings->drain.delay, 1500ms);
  EXPECT_EQ(settings->drain.rate, 200'000'000U);
  EXPECT_EQ(settings->drain.in_flight, 16U);
  EXPECT_EQ(settings->pressure.low_water, 5U);
  EXPECT_EQ(settings->pressure.high_water, 50U);
  EXPECT_EQ(settings->limits.fragment_memory, Amount::of_bytes(64 * kMiB));
  EXPECT_EQ(settings->file_defaults.mode, Mode::Sync);
  EXPECT_TRUE(settings->file_defaults.pin);
  EXPECT_EQ(settings->log.level, LogLevel::Off);
  EXPECT_EQ(settings->log.file, "/tmp/forebay.log");
  EXPECT_EQ(settings->origins.at("drain.rate"), "x.yaml:7");
}

TEST_F(Load, LaterSourcesWin) {
  write_file("mode: sync\non_close: detach\neviction: lfu\nbuffer: {name: file}\n");
  const Environment environment({{"FOREBAY_CONFIG", file_},
                                 {"FOREBAY_MODE", "scratch"},
                                 {"FOREBAY_EVICTION", "fifo"},
                                 {"FOREBAY_BUFFER_NAME", ""},
                                 {"FOREBAY_TEST_SCALE", "nightly"},
                                 {"FOREBAY_DEV_JOBS", "2"},
                                 {"HOME", "/root"}});
  const auto settings = load({.overrides = {"mode=async", "mode=bypass"}}, environment);
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->file_defaults.mode, Mode::Bypass);
  EXPECT_EQ(settings->file_defaults.eviction, Eviction::Fifo);
  EXPECT_EQ(settings->file_defaults.on_close, OnClose::Detach);
  EXPECT_EQ(settings->buffer.name, "file");
  EXPECT_EQ(settings->origins.at("mode"), "options");
  EXPECT_EQ(settings->origins.at("eviction"), "FOREBAY_EVICTION");
  EXPECT_EQ(settings->origins.at("on_close"), file_ + ":2");
}

TEST_F(Load, FileInOptionsWinsOverTheVariable) {
  write_file("mode: sync\n");
  const auto settings = load({.file = file_}, Environment({{"FOREBAY_CONFIG", "/nonexistent"}}));
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->file_defaults.mode, Mode::Sync);
}

// Another value than the default for each row, by way of what the row allows.
std::string other_value(const Setting& row) {
  for (const char* candidate :
       {"sync",   "node",    "detach", "stage", "lfu",           "always",  "close",
        "hard",   "dataset", "debug",  "true",  "/other/path",   "12345us", "90s",
        "512KiB", "2MiB",    "77",     "33",    "max_bandwidth", "drop",    "other"}) {
    Settings settings;
    const Target target{&settings, &settings.file_defaults};
    if (row.read(candidate, row.limits, target) && row.value(settings) != row.value(Settings{}))
      return candidate;
  }
  return row.value(Settings{});
}

TEST_F(Load, EverySettingHasItsVariable) {
  std::set<std::string> names;
  for (const Setting& row : settings_table()) {
    const std::string variable = variable_name(row.name);
    EXPECT_TRUE(names.insert(variable).second) << variable;
    const std::string value = other_value(row);
    EXPECT_EQ(value == row.value(Settings{}), row.name == "placement") << row.name;
    Environment::Variables variables{{variable, value}};
    if (row.name == "durability" || row.name == "tier") variables["FOREBAY_TIERS"] = "nvme:/tmp";
    if (row.name == "tier") variables[variable] = "nvme";
    if (row.name == "pressure.low_water") variables["FOREBAY_PRESSURE_HIGH_WATER"] = "90";
    const auto settings = load({}, Environment(variables));
    ASSERT_TRUE(settings) << settings.error().message;
    const std::string expected = row.name == "tier" ? "nvme" : value;
    Settings wanted;
    ASSERT_TRUE(row.read(expected, row.limits, {&wanted, &wanted.file_defaults}));
    EXPECT_EQ(row.value(*settings), row.value(wanted)) << row.name;
    EXPECT_EQ(settings->origins.at(std::string(row.name)), variable);
  }
}

TEST_F(Load, EveryDefaultReadsBackAsItself) {
  for (const Setting& row : settings_table()) {
    Settings settings;
    const std::string value = row.value(settings);
    EXPECT_TRUE(row.read(value, row.limits, {&settings, &settings.file_defaults})) << row.name;
    EXPECT_EQ(row.value(settings), value);
  }
}

struct BadCase {
  const char* yaml;
  const char* message;
};

void expect_refused(const std::vector<BadCase>& cases) {
  for (const auto& [yaml, message] : cases) {
    const auto settings = load_text(yaml, "f.yaml");
    ASSERT_FALSE(settings) << yaml;
    EXPECT_EQ(settings.error().code, EINVAL);
    EXPECT_EQ(settings.error().message, message);
  }
}

TEST_F(Load, BadValuesAreRefusedWithPlaceKeyValueAndWhatIsAllowed) {
  expect_refused({
      {"buffer:\n  bucket_size: 3MiB\n",
       "f.yaml:2: buffer.bucket_size: \"3MiB\" is not a power of two from 4KiB to 16MiB"},
      {"buffer:\n  bucket_size: 2KiB\n",
       "f.yaml:2: buffer.bucket_size: \"2KiB\" is not a power of two from 4KiB to 16MiB"},
      {"buffer: {bucket_size: huge}",
       "f.yaml:1: buffer.bucket_size: \"huge\" is not a power of two from 4KiB to 16MiB"},
      {"buffer: {name: a/b}",
       "f.yaml:1: buffer.name: \"a/b\" is not a name of 1 to 64 letters, digits, '.', '_' and '-'"},
      {"buffer: {name: ..}",
       "f.yaml:1: buffer.name: \"..\" is not a name of 1 to 64 letters, digits, '.', '_' and '-'"},
      {"buffer: {name: ''}",
       "f.yaml:1: buffer.name: \"\" is not a name of 1 to 64 letters, digits, '.', '_' and '-'"},
      {"buffer: {directory: shm}",
       "f.yaml:1: buffer.directory: \"shm\" is not empty (/dev/shm/forebay-<uid>) or an absolute path"},
      {"buffer: {directory: '${NOPE}/x'}", "f.yaml:1: buffer.directory: ${NOPE} is not set"},
      {"buffer: {directory: '/${NOPE'}", "f.yaml:1: buffer.directory: \"/${NOPE\" has a ${ without }"},
      {"buffer: {max_processes: 0}",
       "f.yaml:1: buffer.max_processes: \"0\" is not a whole number from 1 to 1000"},
      {"buffer: {max_processes: -1}",
       "f.yaml:1: buffer.max_processes: \"-1\" is not a whole number from 1 to 1000"},
      {"buffer: {max_processes: 4.5}",
       "f.yaml:1: buffer.max_processes: \"4.5\" is not a whole number from 1 to 1000"},
      {"buffer: {max_files: 3}",
       "f.yaml:1: buffer.max_files: \"3\" is not 0 (chosen from the size of the tiers) or a whole number "
       "from 16 to 1048576"},
      {"\n\nmode: asinc\n", "f.yaml:3: mode: \"asinc\" is not async, sync, scratch or bypass"},
      {"mode: Async\n", "f.yaml:1: mode: \"Async\" is not async, sync, scratch or bypass"},
      {"on_close: later", "f.yaml:1: on_close: \"later\" is not home or detach"},
      {"placement: random", "f.yaml:1: placement: \"random\" is not max_bandwidth, max_locality or user"},
      {"pin: perhaps", "f.yaml:1: pin: \"perhaps\" is not true or false"},
      {"drain: {delay: 5}", "f.yaml:1: drain.delay: \"5\" is not a duration from 0 to 1h"},
      {"drain: {delay: 2h}", "f.yaml:1: drain.delay: \"2h\" is not a duration from 0 to 1h"},
      {"drain: {rate: 1KiB}",
       "f.yaml:1: drain.rate: \"1KiB\" is not 0 (no cap) or a size per second of at least 64KiB/s"},
      {"readahead: {max: 2GiB}",
       "f.yaml:1: readahead.max: \"2GiB\" is not 0 (no read-ahead) or a size from 4KiB to 1GiB"},
      {"pressure: {low_water: 101}",
       "f.yaml:1: pressure.low_water: \"101\" is not a percentage from 0% to 100%"},
      {"limits: {fragment_memory: 0}",
       "f.yaml:1: limits.fragment_memory: \"0\" is not a size from 64KiB to 1TiB, a share such as 25%, or "
       "auto"},
      {"log: {level: loud}", "f.yaml:1: log.level: \"loud\" is not off, error, warn, info or debug"},
      {"log: {file: forebay.log}",
       "f.yaml:1: log.file: \"forebay.log\" is not empty (standard error) or an absolute path"},
  });
}

TEST_F(Load, BadShapesAreRefused) {
  expect_refused({
      {"drain:\n  trigge: write\n", "f.yaml:2: drain.trigge: unknown setting; did you mean drain.trigger?"},
      {"darin:\n  trigger: write\n", "f.yaml:1: darin: unknown setting; did you mean drain?"},
      {"bucket_size: 1MiB\n", "f.yaml:1: bucket_size: unknown setting; did you mean buffer.bucket_size?"},
      {"teirs: []\n", "f.yaml:1: teirs: unknown setting; did you mean tiers?"},
      {"flavour: vanilla\n", "f.yaml:1: flavour: unknown setting"},
      {"mode.x: 1\n", "f.yaml:1: mode.x: unknown setting; did you mean mode?"},
      {"<<: {mode: sync}\n", "f.yaml:1: <<: unknown setting"},
      {"mode:\n", "f.yaml:1: mode: needs one value: async, sync, scratch or bypass"},
      {"mode: [async]\n", "f.yaml:1: mode: needs one value: async, sync, scratch or bypass"},
      {"mode: {a: b}\n", "f.yaml:1: mode: needs one value: async, sync, scratch or bypass"},
      {"drain: 5s\n", "f.yaml:1: drain: needs settings below it, as key: value"},
      {"- mode\n", "f.yaml:1: settings are written as key: value"},
      {"mode async\n", "f.yaml:1: settings are written as key: value"},
      {"mode: sync\nmode: async\n", "f.yaml:2: mode: given before, in line 1"},
      {"drain:\n  delay: 1s\n\ndrain.delay: 2s\n", "f.yaml:4: drain.delay: given before, in line 2"},
      {"? [a]\n: b\n", "f.yaml:1: a key must be a word"},
      {": b\n", "f.yaml:1: a key must be a word"},
      {"mode: &m sync\non_close: *m\n", "f.yaml:2: aliases (*name) are not used here"},
      {"mode: sync\n---\nmode: async\n", "f.yaml:2: unexpected text, or a second document"},
      {"mode: sync\n  pin: true\n", "f.yaml:2: not YAML: illegal map value"},
      {"mode: [sync\n", "f.yaml:2: not YAML: end of sequence flow not found"},
      {"a: [[[[[[[[[[[[]]]]]]]]]]]]\n", "f.yaml:1: this is nested too deeply for a configuration"},
  });
}

TEST_F(Load, ContradictionsAreRefused) {
  expect_refused({
      {"pressure:\n  low_water: 30\n",
       "f.yaml:2: pressure.low_water: pressure.low_water (30%) is above pressure.high_water (25%)"},
      {"pressure:\n  high_water: 5\n",
       "f.yaml:2: pressure.high_water: pressure.low_water (10%) is above pressure.high_water (5%)"},
      {"tiers: memory:/dev/shm\ndurability: node\n",
       "f.yaml:2: durability: durability node needs a pmem or nvme tier, and there is only memory"},
      {"tiers: memory:/dev/shm,nvme:/tmp\ndurability: node\ntier: memory\n",
       "f.yaml:3: tier: durability node needs a pmem or nvme tier, but tier memory is of kind memory"},
      {"tiers: memory:/dev/shm,nvme:/tmp\ntier: fast\n",
       "f.yaml:2: tier: no tier is named \"fast\", only memory or nvme"},
      {"tiers: memory:/dev/shm\nfiles:\n  - {match: '*.h5', durability: node}\n",
       "f.yaml:3: files[0]: durability node needs a pmem or nvme tier, and there is only memory"},
      {"tiers: memory:/dev/shm\nfiles:\n  - {match: '*.h5', tier: disk}\n",
       "f.yaml:3: files[0]: no tier is named \"disk\", only memory"},
  });
}

TEST_F(Load, EnvironmentErrorsNameTheVariable) {
  const auto refuse = [](const char* name, const char* value) {
    return error_of(load({}, Environment({{name, value}})));
  };
  EXPECT_EQ(refuse("FOREBAY_MODE", "asinc"),
            "FOREBAY_MODE: mode: \"asinc\" is not async, sync, scratch or bypass");
  EXPECT_EQ(refuse("FOREBAY_DRAIN_DELLAY", "1s"),
            "FOREBAY_DRAIN_DELLAY: unknown variable; did you mean FOREBAY_DRAIN_DELAY?");
  EXPECT_EQ(refuse("FOREBAY_CONFG", "x"), "FOREBAY_CONFG: unknown variable; did you mean FOREBAY_CONFIG?");
  EXPECT_EQ(refuse("FOREBAY_TIERS", "memory"),
            "FOREBAY_TIERS: tiers[0]: \"memory\" is not kind:path or kind:path:size");
  EXPECT_EQ(refuse("FOREBAY_CONFIG", "/nonexistent/f.yaml"),
            "cannot open configuration file /nonexistent/f.yaml: No such file or directory");
  EXPECT_EQ(refuse("FOREBAY_CONFIG", "/"), "cannot read configuration file /: Is a directory");
  EXPECT_EQ(refuse("FOREBAY_CONFIG", "/dev/zero"), "configuration file /dev/zero is larger than 1MiB");
}

TEST_F(Load, OverrideErrorsNameWhoGaveThem) {
  const auto refuse = [](std::string text) {
    return error_of(load({.overrides = {std::move(text)}, .overrides_from = "command line"}, Environment{}));
  };
  EXPECT_EQ(refuse("mode"), "command line: \"mode\" is not key=value");
  EXPECT_EQ(refuse("mode="), "command line: mode: \"\" is not async, sync, scratch or bypass");
  EXPECT_EQ(refuse("mood=async"), "command line: mood: unknown setting; did you mean mode?");
  EXPECT_EQ(refuse("files=[{match: x"), "command line:1: not YAML: end of map flow not found");
}

TEST_F(Load, LongValuesAreShownInPart) {
  const std::string message = error_of(load_text("mode: " + std::string(5000, 'x'), "f.yaml"));
  EXPECT_LT(message.size(), 300U);
}

TEST_F(Load, StrayCommaDoesNotHang) {
  EXPECT_EQ(error_of(load_text(",", "f.yaml")), "f.yaml:1: unexpected text, or a second document");
}

TEST_F(Load, HugeOnesAreRefused) {
  std::string yaml = "tiers: [";
  for (int i = 0; i < 50'000; ++i) yaml += "x,";
  EXPECT_EQ(error_of(load_text(yaml + "]", "f.yaml")), "f.yaml:1: this is too large for a configuration");
}

}  // namespace
}  // namespace forebay
