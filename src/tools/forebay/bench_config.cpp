#include "tools/forebay/bench_config.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "base/bytes.hpp"
#include "base/duration.hpp"
#include "base/format.hpp"
#include "tools/forebay/bench_keys.hpp"
#include "tools/forebay/bench_launch.hpp"

namespace forebay {
namespace {

using Json = nlohmann::json;

std::unexpected<Error> bad(const std::string& key, const std::string& why) {
  return fail(EINVAL, format_text("{}: {}", key, why));
}

// h5bench writes numbers as texts; we take both.
Result<std::string> text_of(const std::string& key, const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number() || value.is_boolean()) return value.dump();
  return bad(key, "a text or a number is wanted");
}

Result<Texts> texts_of(const std::string& key, const Json& object) {
  if (!object.is_object()) return bad(key, "an object is wanted");
  Texts texts;
  for (const auto& [name, value] : object.items()) {
    FOREBAY_ASSIGN(texts[name], text_of(name, value));
  }
  return texts;
}

Status only_keys(const Json& object, std::initializer_list<std::string_view> known) {
  for (const auto& [name, value] : object.items()) {
    if (!std::ranges::contains(known, std::string_view(name))) return bad(name, "there is no such key here");
  }
  return {};
}

Result<std::string> optional_text(const Json& object, const std::string& key) {
  const auto found = object.find(key);
  return found == object.end() ? Result<std::string>("") : text_of(key, *found);
}

Result<HomeChoice> home_of(const Json& value) {
  if (value.is_string()) return named_home(value.get<std::string>());
  if (!value.is_object()) return bad("home", "a directory, \"slowfs\" or an object is wanted");
  FOREBAY_TRY(only_keys(value, {"read-bandwidth", "write-bandwidth", "latency"}));
  HomeChoice home;
  FOREBAY_ASSIGN(const auto texts, texts_of("home", value));
  for (const auto& [name, text] : texts) {
    if (name == "latency") {
      const auto parsed = parse_duration(text);
      if (!parsed) return bad(name, parsed.error().message);
      home.latency_ns = static_cast<std::uint64_t>(parsed->count());
    } else {
      const auto parsed = parse_bytes(text);
      if (!parsed) return bad(name, parsed.error().message);
      (name == "read-bandwidth" ? home.read_bandwidth : home.write_bandwidth) = *parsed;
    }
  }
  return home;
}

Result<Way> way_of(const Json& value) {
  if (value.is_string()) return named_way(value.get<std::string>());
  if (!value.is_object()) return bad("compare", "a name or an object is wanted");
  FOREBAY_TRY(only_keys(value, {"name", "settings", "doors", "connector", "path", "library"}));
  Way way;
  FOREBAY_ASSIGN(way.name, optional_text(value, "name"));
  if (way.name.empty()) return bad("compare", "an object needs a name");
  FOREBAY_ASSIGN(way.connector, optional_text(value, "connector"));
  FOREBAY_ASSIGN(way.plugins, optional_text(value, "path"));
  FOREBAY_ASSIGN(way.libraries, optional_text(value, "library"));
  FOREBAY_ASSIGN(way.doors, optional_text(value, "doors"));
  if (const auto settings = value.find("settings"); settings != value.end()) {
    FOREBAY_ASSIGN(way.settings, texts_of("settings", *settings));
  }
  way.kind = way.connector.empty() ? Way::Kind::kForebay : Way::Kind::kConnector;
  return way;
}

Result<std::vector<Way>> ways_of(const Json& value) {
  if (!value.is_array() || value.empty()) return bad("compare", "a list of ways is wanted");
  std::vector<Way> ways;
  for (const auto& one : value) {
    FOREBAY_ASSIGN(auto way, way_of(one));
    if (std::ranges::contains(ways, way.name, &Way::name))
      return bad("compare", way.name + " is there twice");
    ways.push_back(std::move(way));
  }
  return ways;
}

// h5bench's `vol`, if it names a connector: a way of its own beside native and forebay.
Result<std::vector<Way>> usual_ways(const Json& file) {
  std::vector<Way> ways{*named_way("native")};
  if (const auto vol = file.find("vol"); vol != file.end() && !vol->empty()) {
    FOREBAY_TRY(only_keys(*vol, {"library", "path", "connector", "preload"}));
    Way way{.kind = Way::Kind::kConnector, .name = "vol"};
    FOREBAY_ASSIGN(way.connector, optional_text(*vol, "connector"));
    FOREBAY_ASSIGN(way.plugins, optional_text(*vol, "path"));
    FOREBAY_ASSIGN(way.libraries, optional_text(*vol, "library"));
    if (!way.connector.empty()) {
      way.name = way.connector.substr(0, way.connector.find(' '));
      ways.push_back(std::move(way));
    }
  }
  ways.push_back(*named_way("forebay"));
  return ways;
}

Result<Launch> launch_in(const Json& file) {
  const auto mpi = file.find("mpi");
  if (mpi == file.end() || mpi->empty()) return Launch{};
  FOREBAY_TRY(only_keys(*mpi, {"command", "ranks", "configuration", "flavour"}));
  FOREBAY_ASSIGN(const auto texts, texts_of("mpi", *mpi));
  return launch_of(texts);
}

struct Shared {
  Launch launch;
  std::vector<Way> ways;
  std::optional<unsigned> rounds;
};

Result<unsigned> rounds_of(const Json& value) {
  FOREBAY_ASSIGN(const auto text, text_of("repeat", value));
  const auto plain = plain_value({"repeat", KeyKind::kCount, ""}, text);
  if (!plain || *plain == "0" || plain->size() > 4) return bad("repeat", "a number of rounds is wanted");
  return static_cast<unsigned>(std::stoul(*plain));
}

Status read_x(const Json& object, Workload& workload) {
  const auto x = object.find("x");
  if (x == object.end()) return {};
  if (x->is_number()) {
    workload.x = x->get<double>();
  } else {
    FOREBAY_ASSIGN(workload.x, text_of("x", *x));
  }
  return {};
}

// {"benchmark": "write", ...}, or as older files have it {"write": {...}}.
Result<Workload> workload_of(const Json& given, const Shared& shared) {
  Json object = given;
  if (!object.is_object()) return bad("benchmarks", "each must be an object");
  if (!object.contains("benchmark") && object.size() == 1 && object.front().is_object()) {
    const auto kernel = object.begin().key();
    object = object.front();
    object["benchmark"] = kernel;
  }
  FOREBAY_TRY(only_keys(object, {"benchmark", "file", "configuration", "name", "title", "group", "x",
                                 "x_name", "published", "compare", "repeat", "ranks"}));
  Workload workload{.name = {},
                    .kernel = {},
                    .file = {},
                    .launch = shared.launch,
                    .ways = shared.ways,
                    .rounds = shared.rounds};
  FOREBAY_ASSIGN(workload.kernel, optional_text(object, "benchmark"));
  if (workload.kernel == "write_var_normal_dist") workload.kernel = "write_normal_dist";
  if (keys_of(workload.kernel).empty())
    return bad("benchmark",
               format_text("there is no \"{}\" (there are {})", workload.kernel, kernel_names()));
  FOREBAY_ASSIGN(workload.file, optional_text(object, "file"));
  if (workload.file.empty()) workload.file = workload.kernel + ".h5";
  if (workload.file.contains('/')) return bad("file", "a name without a directory is wanted");
  FOREBAY_ASSIGN(workload.name, optional_text(object, "name"));
  FOREBAY_ASSIGN(workload.title, optional_text(object, "title"));
  FOREBAY_ASSIGN(workload.group, optional_text(object, "group"));
  FOREBAY_ASSIGN(workload.x_name, optional_text(object, "x_name"));
  FOREBAY_ASSIGN(workload.published, optional_text(object, "published"));
  FOREBAY_TRY(read_x(object, workload));
  if (const auto own = object.find("compare"); own != object.end()) {
    FOREBAY_ASSIGN(workload.ways, ways_of(*own));
  }
  if (const auto own = object.find("repeat"); own != object.end()) {
    FOREBAY_ASSIGN(workload.rounds, rounds_of(*own));
  }
  if (const auto own = object.find("ranks"); own != object.end()) {
    FOREBAY_ASSIGN(const auto text, text_of("ranks", *own));
    const auto flavour = shared.launch.flavour == "serial" && text != "1" ? "mpich" : shared.launch.flavour;
    FOREBAY_ASSIGN(workload.launch, launch_of({{"ranks", text}, {"flavour", flavour}}));
  }
  if (const auto configuration = object.find("configuration"); configuration != object.end()) {
    FOREBAY_ASSIGN(workload.given, texts_of("configuration", *configuration));
  }
  FOREBAY_ASSIGN(workload.configuration, complete(workload.kernel, workload.given));
  if (workload.configuration.contains("CSV_FILE")) workload.csv = workload.configuration["CSV_FILE"];
  if (const auto csv = workload.given.find("csv-file"); csv != workload.given.end())
    workload.csv = csv->second;
  return workload;
}

// Names tell results apart.
void name_workload(Workload& workload, const std::string& stem, const std::vector<Workload>& others) {
  const auto wished = workload.name.empty() ? stem + "_" + workload.kernel : workload.name;
  workload.name = wished;
  for (int i = 2; std::ranges::contains(others, workload.name, &Workload::name); ++i)
    workload.name = format_text("{}_{}", wished, i);
}

Result<Suite> suite_of(const Json& file, const std::string& stem) {
  if (!file.is_object()) return fail(EINVAL, "an object is wanted");
  FOREBAY_TRY(only_keys(file, {"mpi", "vol", "file-system", "directory", "benchmarks", "compare", "home",
                               "repeat", "title", "about"}));
  Suite suite;
  Shared shared;
  FOREBAY_ASSIGN(shared.launch, launch_in(file));
  if (const auto compare = file.find("compare"); compare != file.end()) {
    FOREBAY_ASSIGN(shared.ways, ways_of(*compare));
  } else {
    FOREBAY_ASSIGN(shared.ways, usual_ways(file));
  }
  if (const auto repeat = file.find("repeat"); repeat != file.end()) {
    FOREBAY_ASSIGN(shared.rounds, rounds_of(*repeat));
  }
  if (const auto home = file.find("home"); home != file.end()) {
    FOREBAY_ASSIGN(suite.home, home_of(*home));
  } else if (const auto directory = file.find("directory"); directory != file.end()) {
    FOREBAY_ASSIGN(const auto text, text_of("directory", *directory));
    if (!text.empty()) suite.home = HomeChoice{.directory = text};
  }
  const auto benchmarks = file.find("benchmarks");
  if (benchmarks == file.end() || !benchmarks->is_array() || benchmarks->empty())
    return bad("benchmarks", "a list of at least one is wanted");
  for (std::size_t i = 0; i < benchmarks->size(); ++i) {
    auto workload = workload_of((*benchmarks)[i], shared);
    if (!workload) {
      const auto& one = (*benchmarks)[i];
      const auto kernel = one.is_object() ? one.value("benchmark", one.empty() ? "" : one.begin().key()) : "";
      return fail(EINVAL, format_text("benchmark {} ({}): {}", i + 1, kernel, workload.error().message));
    }
    name_workload(*workload, stem, suite.workloads);
    suite.workloads.push_back(std::move(*workload));
  }
  return suite;
}

}  // namespace

Result<Way> named_way(const std::string& name) {
  if (name == "native") return Way{};
  if (name == "forebay") return Way{.kind = Way::Kind::kForebay, .name = "forebay"};
  if (name == "null") return Way{.kind = Way::Kind::kNull, .name = "null"};
  return bad("compare", format_text("\"{}\" is none of native, forebay and null; others are objects", name));
}

HomeChoice named_home(const std::string& text) {
  return text == "slowfs" ? HomeChoice{} : HomeChoice{.directory = text};
}

Result<Suite> read_suite(const std::string& path) {
  std::ifstream in(path);
  if (!in) return fail(ENOENT, format_text("{}: cannot be read", path));
  try {
    const auto file = Json::parse(in, nullptr, true, true);
    auto suite = suite_of(file, std::filesystem::path(path).stem().string());
    if (!suite) return fail(suite.error().code, format_text("{}: {}", path, suite.error().message));
    return suite;
  } catch (const Json::exception& error) {
    return fail(EINVAL, format_text("{}: {}", path, error.what()));
  }
}

}  // namespace forebay
