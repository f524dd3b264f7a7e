#include "tools/forebay/bench/round.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/format.hpp"
#include "base/json.hpp"
#include "config/environment.hpp"
#include "config/machine.hpp"
#include "tools/forebay/bench/child.hpp"
#include "tools/forebay/bench/launch.hpp"
#include "tools/forebay/bench/watch.hpp"

namespace forebay {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::string_view kPlantedCommand = "command:";  // as --plant has it
constexpr std::uint64_t kMostAhead = std::uint64_t{1} << 30;

std::string last_line(const std::string& text) {
  const auto line = text.rfind('\n');
  return line == std::string::npos ? text : text.substr(line + 1);
}

// The kernel's own words if it had any, else the last line.
std::string reason_in(const std::string& said) {
  constexpr std::string_view kMark = "forebay-kernels: ";
  if (const auto at = said.find(kMark); at != std::string::npos)
    return said.substr(at + kMark.size(), said.find('\n', at) - at - kMark.size());
  return last_line(said);
}

std::vector<std::string> as_list(const Environment::Variables& variables) {
  std::vector<std::string> all;
  for (const auto& [name, value] : variables) all.push_back(name + "=" + value);
  return all;
}

// Whatever the user has switched on for other programs is not part of a comparison.
Environment::Variables plain_environment() {
  auto variables = Environment::current().variables();
  for (const auto* name : {"HDF5_VOL_CONNECTOR", "HDF5_DRIVER"}) variables.erase(name);
  if (::geteuid() == 0)
    variables["OMPI_ALLOW_RUN_AS_ROOT"] = variables["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1";
  return variables;
}

// As h5bench does it: what the user has comes first.
void append(Environment::Variables& variables, const std::string& name, const std::string& paths) {
  if (paths.empty()) return;
  auto& all = variables[name];
  all += (all.empty() ? "" : ":") + paths;
}

// Where a connector is to be found, if that is nowhere; empty if it is somewhere.
std::string missing_folder(const Way& way) {
  if (way.kind != Way::Kind::kConnector || way.plugins.empty()) return {};
  std::istringstream folders(way.plugins);
  std::error_code ignored;
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (fs::is_directory(folder, ignored)) return {};
  }
  return way.plugins;
}

void read_times(const Json& outcome, RoundResult& result) {
  for (const auto& [name, value] : outcome.at("times").items()) result.times[name] = value.get<double>();
  for (const auto& one : outcome.at("iterations"))
    result.iterations.push_back({one.at("name"), one.at("seconds"), one.at("bytes")});
  for (const auto& one : outcome.at("spans"))
    result.spans.push_back({one.at("rank"), one.at("what"), one.at("begin"), one.at("end")});
}

}  // namespace

double RoundResult::time(const std::string& name) const {
  const auto found = times.find(name);
  return found == times.end() ? 0 : found->second;
}

double RoundResult::rate(const std::string& time_name) const {
  const double seconds = time(time_name);
  return seconds <= 0 ? 0 : static_cast<double>(bytes) / seconds;
}

// The stages of one round.
class Rounds::Attempt {
 public:
  Attempt(const Rounds& rounds, const Workload& workload, const Way& way, unsigned round)
      : rounds_(rounds), workload_(workload), way_(way), round_(round) {}

  RoundResult go(const std::function<void(double)>& progress) {
    if (const auto folder = missing_folder(way_); !folder.empty()) {
      give_up("failed", format_text("path: {}, where its connector is to be, is not there", folder));
      return std::move(result_);
    }
    std::error_code failed;
    fs::create_directories(rounds_.home_.direct() / folder_of(way_), failed);
    if (!native_stage("prepare")) return std::move(result_);
    rounds_.home_.forget_cached(rounds_.home_.path() / folder_of(way_));
    rounds_.home_.forget_requests();
    if (!measured_stage(progress)) return std::move(result_);
    plant_at_home();
    if (rounds_.options_.verify && way_.kind != Way::Kind::kNull) native_stage("check");
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::string scratch(const std::string& name) const { return rounds_.scratch_ + "/" + name; }

  Status write_job(const std::string& stage) const {
    const bool direct = stage != "run";
    const auto& home = direct ? rounds_.home_.direct() : rounds_.home_.path();
    const bool plants = way_.name == rounds_.options_.plant_way && stage != "check" &&
                        !rounds_.options_.plant.starts_with(kPlantedCommand);
    const auto memory = Machine::current().memory / 4 / std::max(1u, workload_.launch.ranks);
    JsonWriter json;
    json.begin_object().member("stage", stage).member("kernel", workload_.kernel);
    json.member("directory", (home / folder_of(way_)).string()).member("file", workload_.file);
    json.member("ranks", workload_.launch.ranks).member("seed", rounds_.options_.seed);
    json.member("many_threads", many_threads() && !direct);
    json.member("null", way_.kind == Way::Kind::kNull && !direct).member("verify", rounds_.options_.verify);
    json.member("plant", plants ? rounds_.options_.plant : "");
    json.member("memory", std::min<std::uint64_t>(memory, kMostAhead));
    json.member("progress", direct ? "" : scratch("progress")).member("result", scratch("result"));
    json.key("configuration").begin_object();
    for (const auto& [key, value] : workload_.configuration) json.member(key, value);
    json.end_object().end_object();
    std::error_code ignored;
    fs::remove(scratch("result"), ignored);
    std::ofstream out(scratch("job"));
    out << json.text() << "\n";
    return out.flush() ? Status{} : Status(fail(EIO, "cannot write to " + rounds_.scratch_));
  }

  // What has threads of its own calls MPI from them. Forebay does not.
  [[nodiscard]] bool many_threads() const { return way_.kind == Way::Kind::kConnector || subfiling(); }
  [[nodiscard]] bool subfiling() const {
    const auto found = workload_.configuration.find("SUBFILING");
    return found != workload_.configuration.end() && found->second == "1";
  }

  bool give_up(std::string status, std::string why) {
    result_.status = std::move(status);
    result_.error = std::move(why);
    return false;
  }

  // True when it ended well; its figures lie in the result file then.
  bool carry_out(const std::string& stage, const std::vector<std::string>& words,
                 const Environment::Variables& variables, const std::function<void()>& watch) {
    if (const auto written = write_job(stage); !written) return give_up("failed", written.error().message);
    const auto end = run_watched(words, as_list(variables), scratch("said"),
                                 std::chrono::seconds(rounds_.options_.limit_seconds), watch);
    if (!end) return give_up("failed", end.error().message);
    if (end->interrupted) return give_up("interrupted", "the run was stopped");
    if (end->too_long)
      return give_up("failed",
                     format_text("{}: it took longer than {} s", stage, rounds_.options_.limit_seconds));
    said_ = end->said;
    if (end->code != 0)
      return give_up("failed",
                     format_text("{}: it ended with status {}: {}", stage, end->code, reason_in(end->said)));
    return true;
  }

  bool with_outcome(const std::string& stage, const std::function<void(const Json&)>& use) {
    try {
      std::ifstream in(scratch("result"));
      use(Json::parse(in));
    } catch (const Json::exception& error) {
      return give_up("failed", format_text("{}: it left no figures: {}", stage, error.what()));
    }
    return result_.ok();
  }

  void judge(const Json& outcome, const std::string& where) {
    result_.verified_bytes += outcome.at("verified_bytes").get<std::uint64_t>();
    if (const auto wrong = outcome.at("wrong").get<std::string>(); !wrong.empty())
      give_up("wrong_bytes", where + wrong);
  }

  bool native_stage(const std::string& stage) {
    const auto program = kernels_program(subfiling() ? workload_.launch.flavour : "serial");
    if (!program) return give_up("failed", program.error().message);
    if (!carry_out(stage, {*program, scratch("job")}, plain_environment(), [] {})) return false;
    if (stage != "check") return true;
    return with_outcome(stage, [&](const Json& outcome) { judge(outcome, "at home: "); });
  }

  // What stands before the kernel's program, and the variables, of this way.
  std::vector<std::string> way_words(Environment::Variables& variables) {
    append(variables, "HDF5_PLUGIN_PATH", way_.plugins);
    append(variables, "LD_LIBRARY_PATH", way_.libraries);
    append(variables, "LD_PRELOAD", way_.preload);
    if (way_.kind == Way::Kind::kConnector) {
      variables["HDF5_VOL_CONNECTOR"] = way_.connector;
      result_.settings["HDF5_VOL_CONNECTOR"] = way_.connector;
    }
    if (way_.kind != Way::Kind::kForebay) return {};
    std::vector<std::string> words{own_program(),
                                   "run",
                                   "--quiet",
                                   "--home",
                                   rounds_.home_.path(),
                                   "--report",
                                   scratch("report"),
                                   "--set",
                                   "buffer.directory=" + control()};
    const auto set = [&](const std::string& text) { words.insert(words.end(), {"--set", text}); };
    for (const auto& text : rounds_.options_.set) {
      set(text);
      result_.settings[text.substr(0, text.find('='))] =
          text.substr(std::min(text.find('='), text.size() - 1) + 1);
    }
    for (const auto& [key, value] : way_.settings) {
      set(key + "=" + value);
      result_.settings[key] = value;
    }
    if (!way_.doors.empty()) {
      words.insert(words.end(), {"--doors", way_.doors});
      result_.settings["doors"] = way_.doors;
    }
    words.emplace_back("--");
    return words;
  }
  [[nodiscard]] std::string control() const { return scratch("control"); }

  // For tests of the checks: a command that does something to the files between the kernel and the check.
  void plant_at_home() const {
    const auto& plant = rounds_.options_.plant;
    if (way_.name != rounds_.options_.plant_way || !plant.starts_with(kPlantedCommand)) return;
    const std::vector<std::string> words{"/bin/sh", "-c", plant.substr(kPlantedCommand.size()), "sh",
                                         (rounds_.home_.direct() / folder_of(way_)).string()};
    (void)run_watched(words, as_list(plain_environment()), scratch("planted"), std::chrono::seconds(60),
                      [] {});
  }

  bool measured_stage(const std::function<void(double)>& progress) {
    const auto program = kernels_program(workload_.launch.flavour);
    if (!program) return give_up("failed", program.error().message);
    auto variables = plain_environment();
    auto words = way_words(variables);
    words.insert(words.end(), workload_.launch.words.begin(), workload_.launch.words.end());
    words.insert(words.end(), {*program, scratch("job")});
    std::error_code ignored;
    for (const auto* name : {"progress", "report", "control"}) fs::remove_all(scratch(name), ignored);
    const bool buffered = way_.kind == Way::Kind::kForebay;
    RoundWatch watch({.progress_file = scratch("progress"),
                      .control = buffered ? control() : "",
                      .ranks = workload_.launch.ranks,
                      .samples = round_ == 1,
                      .progress = progress});
    if (!carry_out("run", words, variables, [&] { watch.look(); })) return false;
    if (!watch.wait_until_home()) return give_up("failed", "its bytes did not come home in time");
    result_.home = rounds_.home_.requests();
    if (!with_outcome("run", [&](const Json& outcome) { take(outcome); })) return false;
    result_.times["tail"] = watch.tail();
    result_.closed = watch.closed();
    result_.tiers = watch.tiers();
    result_.fill = watch.samples();
    if (buffered) read_report();
    return true;
  }

  void take(const Json& outcome) {
    outcome.at("bytes").get_to(result_.bytes);
    outcome.at("operations").get_to(result_.operations);
    outcome.at("peak_memory").get_to(result_.peak_memory);
    outcome.at("own_memory").get_to(result_.own_memory);
    outcome.at("remark").get_to(result_.remark);
    if (outcome.at("many_threads").get<bool>()) result_.settings["MPI threads"] = "MPI_THREAD_MULTIPLE";
    read_times(outcome, result_);
    judge(outcome, "read: ");
  }

  void read_report() {
    std::ifstream in(scratch("report"));
    const auto report = Json::parse(in, nullptr, false);
    if (report.is_discarded()) return;
    result_.buffer = BufferFigures{.staged = report.value("staged_bytes", std::uint64_t{0}),
                                   .hit = report.value("hit_bytes", std::uint64_t{0}),
                                   .missed = report.value("missed_bytes", std::uint64_t{0})};
    const auto& figures = *result_.buffer;
    if (figures.staged == 0 && figures.hit == 0 && figures.missed == 0)
      result_.remark = "nothing went through the buffer" + (said_.empty() ? "" : ": " + last_line(said_)) +
                       (result_.remark.empty() ? "" : "; " + result_.remark);
  }

  const Rounds& rounds_;
  const Workload& workload_;
  const Way& way_;
  unsigned round_;
  std::string said_{};
  RoundResult result_{};
};

std::string Rounds::folder_of(const Way& way) {
  std::string name;
  for (const char c : way.name) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '-';
  return name;
}

RoundResult Rounds::run(const Workload& workload, const Way& way, unsigned round,
                        const std::function<void(double)>& progress) const {
  return Attempt(*this, workload, way, round).go(progress);
}

void Rounds::clean(const Workload& workload) const {
  for (const auto& way : workload.ways) clean(workload, way);
}

void Rounds::clean(const Workload& workload, const Way& way) const {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(home_.direct() / folder_of(way), ignored)) {
    if (entry.path().filename().string().starts_with(workload.file)) fs::remove_all(entry.path(), ignored);
  }
}

}  // namespace forebay
