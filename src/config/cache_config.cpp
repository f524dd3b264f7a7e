#include "config/cache_config.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <utility>

#include "base/format.hpp"
#include "base/quantity.hpp"
#include "config/reader.hpp"

namespace forebay {
namespace {

constexpr std::string_view kPrefix = "HDF5_CACHE_";
constexpr std::string_view kOldPrefix = "HDF5_LOCAL_STORAGE_";  // of its first versions

struct Line {
  std::string_view key;
  std::string_view value;
};

// "KEY: value # comment" or "KEY value"; an empty key where there is nothing.
Line split(std::string_view text) {
  text = trim(text.substr(0, text.find('#')));
  const auto end = std::min(text.find_first_of(": \t"), text.size());
  auto rest = trim(text.substr(end));
  if (rest.starts_with(':')) rest = trim(rest.substr(1));
  return {text.substr(0, end), rest};
}

template <class Take>
Status for_each_line(std::string_view text, const Take& take) {
  for (int number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    if (const auto line = split(text.substr(0, end)); !line.key.empty()) FOREBAY_TRY(take(line, number));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

bool is_key(std::string_view word) { return word.starts_with(kPrefix) || word.starts_with(kOldPrefix); }

// The Cache VOL reads a floating-point number; sizes with a unit are ours.
std::optional<std::uint64_t> read_size(std::string_view text) {
  if (const auto bytes = parse_bytes(text)) return *bytes;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || !(number >= 0) || number > 1e18)
    return std::nullopt;
  return static_cast<std::uint64_t>(number);
}

// So that two files that name different storage have different buffers, and one file one buffer.
std::string buffer_name(const TierSettings& tier) {
  std::uint64_t hash = 0xcbf2'9ce4'8422'2325;
  for (const char c : format_text("{} {} {}", to_string(tier.kind), tier.path, format_amount(tier.size))) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100'0000'01b3;
  }
  return format_text("cache_ext-{:08x}", static_cast<std::uint32_t>(hash ^ hash >> 32));
}

class CacheReader {
 public:
  CacheReader(std::string_view name, std::string_view directory, Settings& settings)
      : name_(name), directory_(directory), settings_(settings) {}

  Status take(const Line& line, int number) {
    origin_ = origin_at(name_, number);
    const auto word = line.key.starts_with(kOldPrefix) ? line.key.substr(kOldPrefix.size() - 8)  // STORAGE_
                      : line.key.starts_with(kPrefix)  ? line.key.substr(kPrefix.size())
                                                       : std::string_view{};
    // The Cache VOL warns of what it does not know, and goes on.
    if (word.empty()) return leave_out(line, "is not a key of the Cache VOL");
    if (line.value.empty()) return leave_out(line, "has no value");
    if (word == "STORAGE_PATH") {
      path_ = line.value == "NULL" ? std::string_view{} : line.value;
      return {};
    }
    if (word == "STORAGE_TYPE") return choose(line, {"SSD", "BURST_BUFFER", "MEMORY", "GPU"}, type_);
    if (word == "STORAGE_SCOPE") return choose(line, {"LOCAL", "GLOBAL"}, scope_);
    if (word == "STORAGE_SIZE") {
      size_origin_ = origin_;
      return size(line, size_);
    }
    if (word == "WRITE_BUFFER_SIZE") return size(line, write_buffer_);
    if (word == "FUSION_THRESHOLD") return fusion(line);
    if (word == "REPLACEMENT_POLICY") return policy(line);
    return leave_out(line, "is not a key of the Cache VOL");
  }

  Status finish() {
    if (size_ && write_buffer_ && *write_buffer_ > *size_) {
      return fail_at(
          size_origin_, "HDF5_CACHE_STORAGE_SIZE",
          format_text("{} is less than HDF5_CACHE_WRITE_BUFFER_SIZE, which is {}", *size_, *write_buffer_));
    }
    FOREBAY_ASSIGN(auto tier, storage());
    if (!settings_.origins.contains("buffer.name")) {
      settings_.buffer.name = buffer_name(tier);
      settings_.origins.insert_or_assign("buffer.name", std::string(name_));
    }
    // The Cache VOL removes what it has of a file when that is closed.
    settings_.file_defaults.after_close = AfterClose::Drop;
    settings_.origins.insert_or_assign("after_close", std::string(name_));
    settings_.tiers.clear();
    // The Cache VOL's files lie in the kernel's page cache as long as there is memory: this is in its place.
    if (tier.kind != TierKind::Memory) {
      settings_.tiers.push_back(
          {.kind = TierKind::Memory, .path = "/dev/shm", .name = "memory", .origin = std::string(name_)});
    }
    settings_.tiers.push_back(std::move(tier));
    settings_.origins.insert_or_assign(std::string(kTiersKey), std::string(name_));
    return {};
  }

 private:
  Status leave_out(const Line& line, std::string_view why) {
    settings_.remarks.push_back(format_text("{}: {}: {}, and left out", origin_, line.key, why));
    return {};
  }

  Status choose(const Line& line, std::initializer_list<std::string_view> words, std::string_view& choice) {
    const auto found = std::ranges::find(words, line.value);
    if (found == words.end())
      return fail_at(origin_, line.key,
                     fail_value(line.value, join_words({words.begin(), words.size()})).error().message);
    choice = *found;
    return {};
  }

  Status size(const Line& line, std::optional<std::uint64_t>& into) {
    into = read_size(line.value);
    if (!into) return fail_at(origin_, line.key, fail_value(line.value, "a number of bytes").error().message);
    return {};
  }

  Status fusion(const Line& line) {
    std::optional<std::uint64_t> bytes;
    FOREBAY_TRY(size(line, bytes));
    const auto& limits = find_setting("drain.write_size")->limits;
    settings_.drain.write_size = std::clamp(*bytes, limits.min, limits.max);
    settings_.origins.insert_or_assign("drain.write_size", origin_);
    return {};
  }

  Status policy(const Line& line) {
    std::string_view word;
    if (const auto known = choose(line, {"LRU", "LFU", "FIFO", "LIFO"}, word); !known)
      return leave_out(line, format_text("\"{}\" is not LRU, LFU, FIFO or LIFO", line.value));
    auto& eviction = settings_.file_defaults.eviction;
    eviction = word == "LFU" ? Eviction::Lfu : word == "FIFO" ? Eviction::Fifo : Eviction::Lru;
    settings_.origins.insert_or_assign("eviction", origin_);
    if (word == "LIFO")
      settings_.remarks.push_back(format_text("{}: {}: LIFO is taken as LRU", origin_, line.key));
    return {};
  }

  Result<TierSettings> storage() {
    TierSettings tier{.origin = std::string(name_), .at_most = true};
    if (size_) tier.size = Amount::of_bytes(*size_);
    if (!size_ && write_buffer_) tier.size = Amount::of_bytes(*write_buffer_);
    const bool in_memory = type_ == "MEMORY" || type_ == "GPU";
    if (type_ == "GPU")
      settings_.remarks.push_back(format_text("{}: HDF5_CACHE_STORAGE_TYPE: GPU is taken as MEMORY", name_));
    tier.kind = scope_ == "GLOBAL" ? TierKind::Shared : in_memory ? TierKind::Memory : TierKind::Nvme;
    tier.name = to_string(tier.kind);
    if (tier.kind == TierKind::Memory) {
      tier.path = "/dev/shm";
      return tier;
    }
    if (path_.empty()) {
      return fail_at(name_, "HDF5_CACHE_STORAGE_PATH",
                     format_text("is needed with {}", scope_ == "GLOBAL" ? "HDF5_CACHE_STORAGE_SCOPE GLOBAL"
                                                                         : "HDF5_CACHE_STORAGE_TYPE SSD"));
    }
    const auto path = std::filesystem::path(directory_) / path_;
    FOREBAY_ASSIGN(tier.path, read_path(path.string(), {}));
    return tier;
  }

  std::string_view name_;
  std::string_view directory_;
  Settings& settings_;
  std::string origin_;
  std::string_view type_ = "SSD";
  std::string_view scope_ = "LOCAL";
  std::string_view path_ = "./";  // as there
  std::optional<std::uint64_t> size_;
  std::string size_origin_;
  std::optional<std::uint64_t> write_buffer_;
};

std::optional<bool> yes(const Environment& environment, std::string_view name) {
  const auto value = environment.get(name);
  if (!value) return std::nullopt;
  return *value == "yes";
}

}  // namespace

bool is_cache_config(std::string_view text) {
  std::optional<bool> found;
  (void)for_each_line(text, [&](const Line& line, int /*number*/) -> Status {
    if (!found) found = is_key(line.key);
    return {};
  });
  return found.value_or(false);
}

Status read_cache_config(std::string_view text, std::string_view name, std::string_view directory,
                         Settings& settings) {
  CacheReader reader(name, directory, settings);
  FOREBAY_TRY(for_each_line(text, [&](const Line& line, int number) { return reader.take(line, number); }));
  return reader.finish();
}

CacheVariables read_cache_variables(const Environment& environment) {
  CacheVariables variables{.write = yes(environment, "HDF5_CACHE_WR"),
                           .read = yes(environment, "HDF5_CACHE_RD"),
                           .for_files = {},
                           .for_everything = {}};
  if (yes(environment, "HDF5_CACHE_DELAY_CLOSE").value_or(false))
    variables.for_files.emplace_back("on_close=detach");
  if (yes(environment, "DATASET_PREFETCH_AT_OPEN").value_or(false))
    variables.for_files.emplace_back("prefetch.at_open=dataset");
  std::string level(environment.get_or("HDF5_CACHE_LOG_LEVEL", ""));
  std::ranges::transform(level, level.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (level == "trace") level = "debug";
  // Others mean nothing to the Cache VOL either.
  if (parse_choice<LogLevel>(level)) variables.for_everything.push_back("log.level=" + level);
  return variables;
}

}  // namespace forebay
