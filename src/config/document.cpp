#include "config/document.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cerrno>
#include <format>

namespace forebay {
namespace {

constexpr int kMaxDepth = 8;
constexpr int kMaxNodes = 20'000;

class Converter {
 public:
  explicit Converter(std::string_view name) : name_(name) {}

  Result<DocumentNode> convert(const YAML::Node& node, int line, int depth = 0) {
    if (!node.Mark().is_null() && !node.IsNull()) line = node.Mark().line + 1;
    if (++nodes_ > kMaxNodes) return fail_at(line, "this is too large for a configuration");
    if (depth > kMaxDepth) return fail_at(line, "this is nested too deeply for a configuration");
    switch (node.Type()) {
      case YAML::NodeType::Scalar: {
        DocumentNode scalar(DocumentNode::Kind::Scalar, line);
        scalar.text = node.Scalar();
        return scalar;
      }
      case YAML::NodeType::Sequence:
        return convert_list(node, line, depth);
      case YAML::NodeType::Map:
        return convert_map(node, line, depth);
      default:
        return DocumentNode(DocumentNode::Kind::Nothing, line);
    }
  }

  std::unexpected<Error> fail_at(int line, std::string_view words) const {
    return fail(EINVAL, std::format("{}:{}: {}", name_, line, words));
  }

 private:
  Result<DocumentNode> convert_list(const YAML::Node& node, int line, int depth) {
    DocumentNode list(DocumentNode::Kind::List, line);
    for (const YAML::Node& item : node) {
      FOREBAY_ASSIGN(DocumentNode converted, convert(item, line, depth + 1));
      list.items.push_back(std::move(converted));
    }
    return list;
  }

  Result<DocumentNode> convert_map(const YAML::Node& node, int line, int depth) {
    DocumentNode map(DocumentNode::Kind::Map, line);
    for (const auto& member : node) {
      const YAML::Node& key = member.first;
      const int key_line = key.Mark().is_null() ? line : key.Mark().line + 1;
      if (!key.IsScalar()) return fail_at(key_line, "a key must be a word");
      const std::string& word = key.Scalar();
      const auto twin = std::ranges::find(map.members, word, &DocumentNode::Member::key);
      if (twin != map.members.end()) {
        return fail_at(key_line, std::format("{}: given before, in line {}", word, twin->line));
      }
      FOREBAY_ASSIGN(DocumentNode converted, convert(member.second, key_line, depth + 1));
      map.members.push_back({word, key_line, std::move(converted)});
    }
    return map;
  }

  std::string_view name_;
  int nodes_ = 0;
};

}  // namespace

Result<DocumentNode> parse_document(std::string_view text, std::string_view name) {
  Converter converter(name);
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(std::string(text));
    if (documents.empty()) return DocumentNode{};
    if (documents.size() > 1) {
      return converter.fail_at(documents[1].Mark().line + 1, "a second document (---) has no meaning here");
    }
    return converter.convert(documents.front(), 1);
  } catch (const YAML::Exception& error) {
    return converter.fail_at(error.mark.is_null() ? 1 : error.mark.line + 1, "not YAML: " + error.msg);
  }
}

}  // namespace forebay
