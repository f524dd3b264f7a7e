#include "tools/forebay/bench/config.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <span>

#include "base/bytes.hpp"
#include "base/duration.hpp"
#include "base/format.hpp"
#include "tools/forebay/bench/inherit.hpp"
#include "tools/forebay/bench/json.hpp"
#include "tools/forebay/bench/keys.hpp"
#include "tools/forebay/bench/launch.hpp"
#include "tools/forebay/bench/ways.hpp"

namespace forebay {
namespace {

using Json = OrderedJson;

Result<HomeChoice> home_of(const Json& value) {
  if (value.is_string()) return named_home(value.get<std::string>());
  if (!value.is_object()) return bad_key("home", "a directory, \"slowfs\" or an object is wanted");
  FOREBAY_TRY(only_keys(value, {"read-bandwidth", "write-bandwidth", "latency"}));
  HomeChoice home;
  FOREBAY_ASSIGN(const auto texts, texts_of("home", value));
  for (const auto& [name, text] : texts) {
    if (name == "latency") {
      const auto parsed = parse_duration(text);
      if (!parsed) return bad_key(name, parsed.error().message);
      home.latency_ns = static_cast<std::uint64_t>(parsed->count());
    } else {
      const auto parsed = parse_bytes(text);
      if (!parsed) return bad_key(name, parsed.error().message);
      (name == "read-bandwidth" ? home.read_bandwidth : home.write_bandwidth) = *parsed;
    }
  }
  return home;
}

Result<Launch> launch_in(const Json& file, const LaunchChoice& choice) {
  const auto mpi = file.find("mpi");
  Texts texts;
  if (mpi != file.end() && !mpi->empty()) {
    FOREBAY_TRY(only_keys(*mpi, {"command", "ranks", "configuration", "flavour"}));
    FOREBAY_ASSIGN(texts, texts_of("mpi", *mpi));
  }
  if (!choice.command.empty()) {
    texts["command"] = choice.command;
    if (choice.ranks == 0) texts["ranks"] = count_in(texts);
    texts.erase("configuration");
    texts.erase("flavour");
  }
  if (choice.ranks != 0) {
    texts["ranks"] = std::to_string(choice.ranks);
    texts.erase("configuration");
  }
  return texts.empty() ? Result<Launch>(Launch{}) : launch_of(texts);
}

// h5bench stripes the directory of a Lustre file system by these; here it is for whoever makes the directory.
Status check_file_system(const Json& file) {
  const auto found = file.find("file-system");
  if (found == file.end() || found->empty()) return {};
  if (!found->is_object()) return bad_key("file-system", "an object is wanted");
  FOREBAY_TRY(only_keys(*found, {"lustre"}));
  if (const auto lustre = found->find("lustre"); lustre != found->end()) {
    FOREBAY_TRY(texts_of("lustre", *lustre));
    FOREBAY_TRY(only_keys(*lustre, {"stripe-size", "stripe-count"}));
  }
  return {};
}

struct Shared {
  Launch launch;
  std::vector<Way> ways;
  std::optional<unsigned> rounds;
  bool ranks_fixed = false;  // by the command line
};

Result<unsigned> rounds_of(const Json& value) {
  FOREBAY_ASSIGN(const auto text, text_of("repeat", value));
  const auto plain = plain_value({"repeat", KeyKind::kCount, ""}, text);
  if (!plain || *plain == "0" || plain->size() > 4) return bad_key("repeat", "a number of rounds is wanted");
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

// What a configuration says of ranks must be true of those that are started.
Status check_ranks(const Workload& workload) {
  if (workload.kernel == "mpiio" && workload.launch.flavour == "serial")
    return bad_key("mpi", "mpiio needs one, as {\"command\": \"mpiexec.mpich\", \"ranks\": \"2\"}");
  if (workload.kernel != "metadata") return {};
  const auto rows = std::stoull(workload.configuration.at("process-rows"));
  const auto columns = std::stoull(workload.configuration.at("process-columns"));
  if (rows * columns == workload.launch.ranks) return {};
  return bad_key("process-rows", format_text("{} x {} processes are not the {} ranks that are started", rows,
                                             columns, workload.launch.ranks));
}

Status read_labels(const Json& object, Workload& workload) {
  FOREBAY_ASSIGN(workload.name, optional_text(object, "name"));
  FOREBAY_ASSIGN(workload.title, optional_text(object, "title"));
  FOREBAY_ASSIGN(workload.group, optional_text(object, "group"));
  FOREBAY_ASSIGN(workload.x_name, optional_text(object, "x_name"));
  FOREBAY_ASSIGN(workload.published, optional_text(object, "published"));
  return read_x(object, workload);
}

Result<Workload> workload_of(const Json& object, const Shared& shared, const std::vector<Workload>& earlier) {
  if (!object.is_object()) return bad_key("benchmarks", "each must be an object");
  FOREBAY_TRY(only_keys(object, {"benchmark", "file", "configuration", "name", "title", "group", "x",
                                 "x_name", "published", "compare", "repeat", "ranks"}));
  Workload workload{.name = {},
                    .kernel = {},
                    .file = {},
                    .launch = shared.launch,
                    .ways = shared.ways,
                    .rounds = shared.rounds};
  FOREBAY_ASSIGN(const auto benchmark, optional_text(object, "benchmark"));
  workload.kernel = kernel_of(benchmark);
  if (const auto why = why_not(benchmark); !why.empty()) return bad_key("benchmark", why);
  FOREBAY_ASSIGN(workload.file, optional_text(object, "file"));
  if (workload.file.empty()) workload.file = workload.kernel + ".h5";
  if (workload.file.contains('/')) return bad_key("file", "a name without a directory is wanted");
  FOREBAY_TRY(read_labels(object, workload));
  if (const auto own = object.find("compare"); own != object.end()) {
    FOREBAY_ASSIGN(workload.ways, compared_ways(*own));
  }
  if (const auto own = object.find("repeat"); own != object.end()) {
    FOREBAY_ASSIGN(workload.rounds, rounds_of(*own));
  }
  if (const auto own = object.find("ranks"); own != object.end() && !shared.ranks_fixed) {
    FOREBAY_ASSIGN(const auto text, text_of("ranks", *own));
    const auto flavour = shared.launch.flavour == "serial" && text != "1" ? "mpich" : shared.launch.flavour;
    FOREBAY_ASSIGN(workload.launch, launch_of({{"ranks", text}, {"flavour", flavour}}));
  }
  if (const auto configuration = object.find("configuration"); configuration != object.end()) {
    FOREBAY_ASSIGN(workload.given, texts_of("configuration", *configuration));
  }
  inherit_shape(earlier, workload);
  FOREBAY_ASSIGN(workload.configuration, complete(workload.kernel, workload.given));
  FOREBAY_TRY(inherit_file(earlier, workload));
  FOREBAY_TRY(check_ranks(workload));
  for (const auto* key : {"CSV_FILE", "csv-file", "output-csv-name"}) {
    if (const auto found = workload.given.find(key); found != workload.given.end())
      workload.csv = found->second;
  }
  // Of dlio it is a name without its ending.
  const bool bare = workload.given.contains("output-csv-name") && !workload.csv.ends_with(".csv");
  if (bare && !workload.csv.empty()) workload.csv += ".csv";
  return workload;
}

// {"benchmark": "write", ...}, or as older files have it {"write": {...}}, and then perhaps several in one.
std::vector<Json> entries_of(const Json& benchmarks) {
  std::vector<Json> entries;
  for (const auto& given : benchmarks) {
    const bool old = given.is_object() && !given.empty() && !given.contains("benchmark") &&
                     std::ranges::all_of(given, [](const Json& value) { return value.is_object(); });
    if (!old) {
      entries.push_back(given);
      continue;
    }
    for (const auto& [kernel, value] : given.items()) {
      entries.push_back(value);
      entries.back()["benchmark"] = kernel;
    }
  }
  return entries;
}

// Names tell results apart.
void name_workload(Workload& workload, const std::string& stem, const std::vector<Workload>& others) {
  const auto wished = workload.name.empty() ? stem + "_" + workload.kernel : workload.name;
  workload.name = wished;
  for (int i = 2; std::ranges::contains(others, workload.name, &Workload::name); ++i)
    workload.name = format_text("{}_{}", wished, i);
}

Result<Suite> suite_of(const Json& file, const std::string& stem, const LaunchChoice& choice) {
  if (!file.is_object()) return fail(EINVAL, "an object is wanted");
  FOREBAY_TRY(only_keys(file, {"mpi", "vol", "file-system", "directory", "benchmarks", "compare", "home",
                               "repeat", "title", "about"}));
  Suite suite;
  Shared shared;
  shared.ranks_fixed = choice.ranks != 0;
  FOREBAY_ASSIGN(shared.launch, launch_in(file, choice));
  FOREBAY_TRY(check_file_system(file));
  if (const auto compare = file.find("compare"); compare != file.end()) {
    FOREBAY_ASSIGN(shared.ways, compared_ways(*compare));
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
    return bad_key("benchmarks", "a list of at least one is wanted");
  const auto entries = entries_of(*benchmarks);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    auto workload = workload_of(entries[i], shared, suite.workloads);
    if (!workload) {
      const auto kernel = entries[i].is_object() ? entries[i].value("benchmark", "") : "";
      return fail(EINVAL, format_text("benchmark {} ({}): {}", i + 1, kernel, workload.error().message));
    }
    name_workload(*workload, stem, suite.workloads);
    suite.workloads.push_back(std::move(*workload));
  }
  return suite;
}

}  // namespace

HomeChoice named_home(const std::string& text) {
  return text == "slowfs" ? HomeChoice{} : HomeChoice{.directory = text};
}

Result<Suite> read_suite(const std::string& path, const LaunchChoice& choice) {
  errno = 0;
  std::ifstream in(path);
  if (!in && errno == ENOENT && !path.contains('/'))
    return fail(ENOENT, format_text("{} is neither a file nor a workload that comes with Forebay (`forebay "
                                    "bench` lists those)",
                                    path));
  if (!in) return fail_errno(errno, "read", path);
  try {
    const auto file = Json::parse(in, nullptr, true, true);
    auto suite = suite_of(file, std::filesystem::path(path).stem().string(), choice);
    if (!suite) return fail(suite.error().code, format_text("{}: {}", path, suite.error().message));
    return suite;
  } catch (const Json::exception& error) {
    return fail(EINVAL, format_text("{}: {}", path, error.what()));
  }
}

}  // namespace forebay
