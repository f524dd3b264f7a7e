#include "tools/forebay/bench/results.hpp"

#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <fstream>

#include "base/json.hpp"
#include "tools/forebay/bench/commit.hpp"

namespace forebay {
namespace {

std::string processor() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

void write_machine(JsonWriter& json) {
  utsname name{};
  ::uname(&name);
  struct sysinfo system{};
  ::sysinfo(&system);
  json.key("machine").begin_object().member("host", name.nodename);
  json.member("cores", ::sysconf(_SC_NPROCESSORS_ONLN));
  json.member("memory_bytes", std::uint64_t{system.totalram} * system.mem_unit);
  if (double load = 0; ::getloadavg(&load, 1) == 1) json.member("load", load);
  json.member("kernel", std::string(name.sysname) + " " + name.release)
      .member("cpu", processor())
      .end_object();
}

void write_home(JsonWriter& json, const BenchHome& home) {
  json.key("home").begin_object().member("path", home.path().string());
  json.member("file_system", home.file_system());
  if (home.is_slowfs()) {
    json.member("read_bandwidth", home.choice().read_bandwidth);
    json.member("write_bandwidth", home.choice().write_bandwidth);
    json.member("latency_ns", home.choice().latency_ns);
  }
  json.end_object();
}

void write_texts(JsonWriter& json, const std::string& key, const Texts& texts) {
  json.key(key).begin_object();
  for (const auto& [name, value] : texts) json.member(name, value);
  json.end_object();
}

void write_figures(JsonWriter& json, const RoundResult& result) {
  json.member("bytes", result.bytes).member("operations", result.operations);
  json.key("times").begin_object();
  for (const auto& [name, seconds] : result.times) json.member(name, seconds);
  json.end_object().key("rates").begin_object();
  json.member("raw", result.rate("raw")).member("observed", result.rate("observed")).end_object();
  json.member("peak_memory", result.peak_memory).member("own_memory", result.own_memory);
  if (result.home) {
    json.key("home").begin_object().member("reads", result.home->reads).member("writes", result.home->writes);
    json.member("read_bytes", result.home->read_bytes).member("written_bytes", result.home->written_bytes);
    json.member("opens", result.home->opens).member("closes", result.home->closes);
    json.member("lookups", result.home->lookups).member("queries", result.home->queries);
    json.member("changes", result.home->changes).member("fsyncs", result.home->fsyncs);
    json.end_object();
  }
  if (result.buffer) {
    const auto read = result.buffer->hit + result.buffer->missed;
    json.key("buffer").begin_object().member("staged_bytes", result.buffer->staged);
    json.member("hit_bytes", result.buffer->hit).member("miss_bytes", result.buffer->missed);
    json.member("hit_rate",
                read == 0 ? 0 : static_cast<double>(result.buffer->hit) / static_cast<double>(read));
    json.end_object();
  }
  json.member("verified_bytes", result.verified_bytes);
  write_texts(json, "settings", result.settings);
  if (result.iterations.empty()) return;
  json.key("iterations").begin_array();
  for (const auto& one : result.iterations)
    json.begin_object()
        .member("name", one.name)
        .member("seconds", one.seconds)
        .member("bytes", one.bytes)
        .end_object();
  json.end_array();
}

}  // namespace

std::string utc_now() {
  const auto now = std::time(nullptr);
  std::tm broken{};
  ::gmtime_r(&now, &broken);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &broken);
  return text;
}

Result<BenchResults> BenchResults::create(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "we");
  if (file == nullptr) return fail_errno(errno, "write the results to", path);
  return BenchResults(file, path);
}

BenchResults::BenchResults(BenchResults&& other) noexcept
    : file_(std::exchange(other.file_, nullptr)), path_(std::move(other.path_)), failed_(other.failed_) {}

BenchResults::~BenchResults() {
  if (file_ != nullptr) std::fclose(file_);
}

void BenchResults::line(const std::string& text) {
  const auto all = text + "\n";
  if (std::fwrite(all.data(), 1, all.size(), file_) != all.size() || std::fflush(file_) != 0) failed_ = true;
}

Status BenchResults::status() const {
  return failed_ ? Status(fail(EIO, "the results could not all be written to " + path_)) : Status{};
}

void BenchResults::run(const RunFacts& facts, const BenchHome& home) {
  JsonWriter json;
  json.begin_object().member("kind", "run").member("format", 1).member("started", utc_now());
  json.member("command", facts.command).member("version", kBuiltVersion).member("commit", kBuiltCommit);
  write_machine(json);
  json.key("software").begin_object().member("hdf5", facts.hdf5).member("mpi", facts.mpi).end_object();
  write_home(json, home);
  line(json.end_object().text());
}

void BenchResults::workload(const Workload& workload, unsigned rounds) {
  JsonWriter json;
  json.begin_object().member("kind", "workload").member("workload", workload.name);
  json.member("kernel", workload.kernel).member("title", workload.title);
  write_texts(json, "configuration", workload.given);
  json.member("ranks", workload.launch.ranks).member("flavour", workload.launch.flavour);
  json.key("ways").begin_array();
  for (const auto& way : workload.ways) json.value(way.name);
  json.end_array().member("rounds", rounds);
  if (!workload.group.empty()) json.member("group", workload.group);
  if (const auto* number = std::get_if<double>(&workload.x)) json.member("x", *number);
  if (const auto* text = std::get_if<std::string>(&workload.x)) json.member("x", *text);
  if (!workload.x_name.empty()) json.member("x_name", workload.x_name);
  if (!workload.published.empty()) json.member("published", workload.published);
  line(json.end_object().text());
}

void BenchResults::result(const Workload& workload, const Way& way, unsigned round,
                          const RoundResult& result) {
  JsonWriter json;
  json.begin_object().member("kind", "result").member("workload", workload.name).member("way", way.name);
  json.member("round", round).member("status", result.status);
  if (!result.ok()) json.member("error", result.error);
  if (!result.remark.empty()) json.member("remark", result.remark);
  write_figures(json, result);
  line(json.end_object().text());
  if (round == 1 && !result.spans.empty()) timeline(workload, way, round, result);
}

void BenchResults::timeline(const Workload& workload, const Way& way, unsigned round,
                            const RoundResult& result) {
  JsonWriter json;
  json.begin_object().member("kind", "timeline").member("workload", workload.name).member("way", way.name);
  json.member("round", round).member("closed", result.closed).key("tiers").begin_array();
  for (const auto& name : result.tiers) json.value(name);
  json.end_array().key("spans").begin_array();
  for (const auto& span : result.spans)
    json.begin_object()
        .member("rank", span.rank)
        .member("what", span.what)
        .member("begin", span.begin)
        .member("end", span.end)
        .end_object();
  json.end_array().key("fill").begin_array();
  for (const auto& sample : result.fill) {
    json.begin_object().member("at", sample.at).member("used", sample.used);
    json.member("unsaved", sample.unsaved).member("drained", sample.drained).key("tiers").begin_array();
    for (const auto used : sample.tiers) json.value(used);
    json.end_array().end_object();
  }
  line(json.end_array().end_object().text());
}

void BenchResults::end(bool complete) {
  JsonWriter json;
  json.begin_object().member("kind", "end").member("finished", utc_now());
  line(json.member("status", complete ? "complete" : "interrupted").end_object().text());
}

}  // namespace forebay
