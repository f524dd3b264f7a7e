#include "config/document.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <cerrno>
#include <sstream>

#include "base/format.hpp"

namespace forebay {
namespace {

using Kind = DocumentNode::Kind;

constexpr std::size_t kMaxDepth = 8;
constexpr int kMaxNodes = 20'000;

// Thrown through the parser, caught in parse_document.
struct Refusal {
  int line;
  std::string words;
};

// Builds the tree from the parser's events.
class Builder final : public YAML::EventHandler {
 public:
  DocumentNode take() {
    if (bad_key_ != 0) throw Refusal{bad_key_, "a key must be a word"};
    return std::move(root_);
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) throw Refusal{line_of(mark), "unexpected text, or a second document"};
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    if (expects_key()) {
      take_bad_key(line_of(mark));
    } else {
      add(Kind::Nothing, line_of(mark));
    }
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    throw Refusal{line_of(mark), "aliases (*name) are not used here"};
  }

  void OnScalar(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                const std::string& value) override {
    if (expects_key()) {
      take_key(line_of(mark), value);
    } else {
      add(Kind::Scalar, line_of(mark)).text = value;
    }
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                       YAML::EmitterStyle::value /*style*/) override {
    open(Kind::List, line_of(mark));
  }
  void OnSequenceEnd() override { open_.pop_back(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                  YAML::EmitterStyle::value /*style*/) override {
    open(Kind::Map, line_of(mark));
  }
  void OnMapEnd() override { open_.pop_back(); }

 private:
  // A list or map whose end is still to come. A parent's vector does not grow while a child is open, so that
  // the pointers stay good.
  struct Open {
    DocumentNode* node;
    bool has_key;  // of a map: the last member still lacks its value
  };

  static int line_of(const YAML::Mark& mark) { return std::max(mark.line, 0) + 1; }

  [[nodiscard]] bool expects_key() const {
    return !open_.empty() && open_.back().node->kind == Kind::Map && !open_.back().has_key;
  }

  DocumentNode::Member& new_member(int line, std::string_view word) {
    count(line);
    open_.back().has_key = true;
    return open_.back().node->members.emplace_back(std::string(word), line, DocumentNode());
  }

  void take_key(int line, const std::string& word) {
    const auto& members = open_.back().node->members;
    const auto twin = std::ranges::find(members, word, &DocumentNode::Member::key);
    if (twin != members.end())
      throw Refusal{line, format_text("{}: given before, in line {}", word, twin->line)};
    new_member(line, word);
  }

  // Refused at the end: most often the parser has taken an open bracket for a key and is about to say that it
  // is never closed, which tells more.
  DocumentNode& take_bad_key(int line) {
    if (bad_key_ == 0) bad_key_ = line;
    return new_member(line, "").value;
  }

  DocumentNode& add(Kind kind, int line) {
    count(line);
    DocumentNode* node = &root_;
    if (!open_.empty() && open_.back().node->kind == Kind::Map) {
      DocumentNode::Member& member = open_.back().node->members.back();
      open_.back().has_key = false;
      node = &member.value;
      // The parser sees that a value is missing only further down.
      if (kind == Kind::Nothing) line = member.line;
    } else if (!open_.empty()) {
      node = &open_.back().node->items.emplace_back();
    }
    *node = DocumentNode(kind, line);
    return *node;
  }

  void open(Kind kind, int line) {
    if (open_.size() == kMaxDepth) throw Refusal{line, "this is nested too deeply for a configuration"};
    DocumentNode& node = expects_key() ? take_bad_key(line) : add(kind, line);
    node.kind = kind;
    open_.push_back({&node, false});
  }

  void count(int line) {
    if (++nodes_ > kMaxNodes) throw Refusal{line, "this is too large for a configuration"};
  }

  DocumentNode root_;
  std::vector<Open> open_;
  int nodes_ = 0;
  int documents_ = 0;
  int bad_key_ = 0;  // line, or 0
};

}  // namespace

Result<DocumentNode> parse_document(std::string_view text, std::string_view name) {
  const auto refuse = [&](int line, std::string_view words) {
    return fail(EINVAL, format_text("{}:{}: {}", name, line, words));
  };
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    Builder builder;
    // At most two rounds: the builder refuses the second document. YAML::LoadAll of yaml-cpp 0.8 would go on
    // for ever over a stray comma.
    while (parser.HandleNextDocument(builder)) {
    }
    return builder.take();
  } catch (const Refusal& refusal) {
    return refuse(refusal.line, refusal.words);
  } catch (const YAML::Exception& error) {
    return refuse(error.mark.is_null() ? 1 : error.mark.line + 1, "not YAML: " + error.msg);
  }
}

}  // namespace forebay
