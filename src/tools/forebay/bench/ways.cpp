#include "tools/forebay/bench/ways.hpp"

#include <algorithm>

#include "base/format.hpp"
#include "config/load.hpp"
#include "tools/forebay/bench/json.hpp"
#include "tools/forebay/run/doors.hpp"

namespace forebay {
namespace {

using Json = OrderedJson;

// What h5bench's `vol` has, and a way with a connector.
Status read_libraries(const Json& object, Way& way) {
  FOREBAY_ASSIGN(way.connector, optional_text(object, "connector"));
  FOREBAY_ASSIGN(way.plugins, optional_paths(object, "path"));
  FOREBAY_ASSIGN(way.libraries, optional_paths(object, "library"));
  FOREBAY_ASSIGN(way.preload, optional_paths(object, "preload"));
  return {};
}

std::unexpected<Error> bad_way(const Way& way, const std::string& why) {
  return bad_key("compare", format_text("{}: {}", way.name, why));
}

// What can be known of an object before anything is run.
Status check_way(const Way& way) {
  if (way.name == "native" || way.name == "null")
    return bad_way(way, "this name is taken: an object needs another one");
  const bool configures = !way.settings.empty() || !way.doors.empty();
  if (way.kind == Way::Kind::kConnector && configures)
    return bad_way(way, "settings and doors are Forebay's, and there is a connector in its place");
  if (const auto doors = parse_doors(way.doors); !way.doors.empty() && !doors)
    return bad_way(way, "doors: " + doors.error().message);
  std::vector<std::string> settings;
  for (const auto& [key, value] : way.settings) settings.push_back(format_text("{}={}", key, value));
  const auto loaded = load({.overrides = std::move(settings), .overrides_from = "settings"});
  return loaded ? Status{} : bad_way(way, loaded.error().message);
}

Result<Way> way_of(const Json& value) {
  if (value.is_string()) return named_way(value.get<std::string>());
  if (!value.is_object()) return bad_key("compare", "a name or an object is wanted");
  FOREBAY_TRY(only_keys(value, {"name", "settings", "doors", "connector", "path", "library", "preload"}));
  Way way;
  FOREBAY_ASSIGN(way.name, optional_text(value, "name"));
  if (way.name.empty()) return bad_key("compare", "an object needs a name");
  FOREBAY_TRY(read_libraries(value, way));
  FOREBAY_ASSIGN(way.doors, optional_text(value, "doors"));
  if (const auto settings = value.find("settings"); settings != value.end()) {
    FOREBAY_ASSIGN(way.settings, texts_of("settings", *settings));
  }
  way.kind = way.connector.empty() ? Way::Kind::kForebay : Way::Kind::kConnector;
  FOREBAY_TRY(check_way(way));
  return way;
}

}  // namespace

Result<Way> named_way(const std::string& name) {
  if (name == "native") return Way{};
  if (name == "forebay") return Way{.kind = Way::Kind::kForebay, .name = "forebay"};
  if (name == "null") return Way{.kind = Way::Kind::kNull, .name = "null"};
  return bad_key("compare",
                 format_text("\"{}\" is none of native, forebay and null; others are objects", name));
}

Result<std::vector<Way>> compared_ways(const Json& list) {
  if (!list.is_array() || list.empty()) return bad_key("compare", "a list of ways is wanted");
  std::vector<Way> ways;
  for (const auto& one : list) {
    FOREBAY_ASSIGN(auto way, way_of(one));
    if (std::ranges::contains(ways, way.name, &Way::name))
      return bad_key("compare", way.name + " is there twice");
    ways.push_back(std::move(way));
  }
  return ways;
}

Result<std::vector<Way>> usual_ways(const Json& file) {
  std::vector<Way> ways{*named_way("native"), *named_way("forebay")};
  const auto vol = file.find("vol");
  if (vol == file.end() || vol->empty()) return ways;
  if (!vol->is_object()) return bad_key("vol", "an object is wanted");
  FOREBAY_TRY(only_keys(*vol, {"library", "path", "connector", "preload"}));
  Way given{.kind = Way::Kind::kConnector, .name = {}};
  FOREBAY_TRY(read_libraries(*vol, given));
  if (given.connector.empty()) {
    for (auto& way : ways) {
      way.plugins = given.plugins;
      way.libraries = given.libraries;
      way.preload = given.preload;
    }
    return ways;
  }
  given.name = given.connector.substr(0, given.connector.find(' '));
  if (std::ranges::contains(ways, given.name, &Way::name)) given.name += " (vol)";
  ways.insert(ways.begin() + 1, std::move(given));
  return ways;
}

}  // namespace forebay
