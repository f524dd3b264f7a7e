// A YAML text as a small tree that remembers its lines: all that the rest of the configuration sees of YAML.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace forebay {

struct DocumentNode {
  enum class Kind : std::uint8_t { Nothing, Scalar, List, Map };

  struct Member;

  explicit DocumentNode(Kind of_kind = Kind::Nothing, int at_line = 1);

  Kind kind;
  int line;
  std::string text;                 // of a Scalar
  std::vector<DocumentNode> items;  // of a List
  std::vector<Member> members;      // of a Map; keys are unique
};

struct DocumentNode::Member {
  std::string key;
  int line = 1;
  DocumentNode value;
};

inline DocumentNode::DocumentNode(Kind of_kind, int at_line) : kind(of_kind), line(at_line) {}

// One YAML document; an empty text is Nothing. `name` stands before the line in errors. Refused: syntax
// errors, several documents, aliases, keys that are not words or come twice, and what is deeper or larger
// than any configuration.
Result<DocumentNode> parse_document(std::string_view text, std::string_view name);

}  // namespace forebay
