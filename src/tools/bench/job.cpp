#include "tools/bench/job.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

namespace forebay::kernels {

Job Job::read(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read the job " + path);
  const auto json = nlohmann::json::parse(in);
  Job job;
  const auto stage = json.at("stage").get<std::string>();
  job.stage = stage == "prepare" ? Stage::kPrepare : stage == "check" ? Stage::kCheck : Stage::kRun;
  json.at("kernel").get_to(job.kernel);
  json.at("directory").get_to(job.directory);
  json.at("file").get_to(job.file);
  json.at("ranks").get_to(job.ranks);
  json.at("seed").get_to(job.seed);
  json.at("null").get_to(job.null);
  json.at("verify").get_to(job.verify);
  json.at("many_threads").get_to(job.many_threads);
  json.at("plant").get_to(job.plant);
  json.at("memory").get_to(job.memory);
  json.at("progress").get_to(job.progress);
  json.at("result").get_to(job.result);
  json.at("configuration").get_to(job.configuration);
  return job;
}

std::string Job::text(const std::string& key) const {
  const auto found = configuration.find(key);
  if (found == configuration.end()) throw std::runtime_error("the job says nothing of " + key);
  return found->second;
}

std::uint64_t Job::count(const std::string& key) const { return std::stoull(text(key)); }

std::uint64_t Job::count_or_none(const std::string& key) const {
  return configuration.contains(key) ? count(key) : 0;
}

double Job::real(const std::string& key) const { return std::stod(text(key)); }

std::vector<std::uint64_t> Job::counts(const std::string& key) const {
  std::istringstream words(text(key));
  std::vector<std::uint64_t> all;
  for (std::uint64_t one = 0; words >> one;) all.push_back(one);
  return all;
}

}  // namespace forebay::kernels
