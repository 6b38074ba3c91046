// SPDX-License-Identifier: Apache-2.0
#include "config/yaml_settings.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <exception>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "config/printable.h"

namespace offcpud {
namespace {

using Kind = YamlSetting::Kind;

constexpr std::size_t kDeepest = 8;

// Put behind every text. yaml-cpp takes the end of the input for the end of an open quotation, so a
// file that was cut short would be accepted; this marker inside one is an error.
constexpr std::string_view kEndOfDocument = "\n...\n";

struct Problem {
  int line;  // as yaml-cpp counts: from 0
  std::string what;
};

// Events instead of YAML::Node: they still show aliases, tags and the second of two equal keys, and
// build no tree from a hostile file. After the first problem the rest of the file means nothing.
class SettingReader final : public YAML::EventHandler {
 public:
  [[nodiscard]] const std::optional<Problem>& problem() const { return problem_; }
  [[nodiscard]] std::vector<YamlSetting> take() { return std::move(settings_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (std::exchange(started_, true)) {
      refuse(mark, "a second YAML document, or text behind the end of the first; one is read");
    }
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (!accept(mark, "", anchor) || levels_.empty()) return;  // a file of comments is one null
    if (in_list()) return;
    if (key_expected()) return refuse(mark, "a value without a key; write key: value");
    add(Kind::Nothing, {});
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    refuse(mark, "aliases (*name) are not supported; write the value out");
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (!accept(mark, tag, anchor) || in_list()) return;
    if (levels_.empty()) return refuse_root(mark);
    if (key_expected()) return start_setting(mark, value);
    add(Kind::Value, value);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    if (!enter(mark, tag, anchor)) return;
    if (levels_.empty()) return refuse_root(mark);
    if (!in_list()) add(Kind::List, {});
    levels_.push_back({.prefix = {}, .list = true});
  }
  void OnSequenceEnd() override { leave(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    if (!enter(mark, tag, anchor)) return;
    const bool list = in_list();
    std::string prefix;
    if (!levels_.empty() && !list) {
      prefix = key_ + ".";
      add(Kind::Group, {});
    }
    levels_.push_back({.prefix = std::move(prefix), .list = list});
  }
  void OnMapEnd() override { leave(); }

 private:
  struct Level {
    std::string prefix;  // of the keys of this map
    bool list;           // a list, or a map somewhere in a list
  };

  [[nodiscard]] bool in_list() const { return !levels_.empty() && levels_.back().list; }
  [[nodiscard]] bool key_expected() const { return !in_setting_; }

  void refuse(const YAML::Mark& mark, std::string what) {
    if (!problem_) problem_ = Problem{mark.line, std::move(what)};
  }
  void refuse_root(const YAML::Mark& mark) {
    refuse(mark, "not a map of options; write key: value");
  }

  bool accept(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (anchor != 0) refuse(mark, "anchors (&name) are not supported; remove it");
    const bool plain = tag.empty() || tag == "?" || tag == "!";  // as yaml-cpp marks untagged text
    if (!plain) refuse(mark, "the YAML tag " + quotation(tag) + " is not supported; remove it");
    return !problem_;
  }

  bool enter(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (!accept(mark, tag, anchor)) return false;
    if (levels_.size() >= kDeepest) {
      refuse(mark, "nested more than " + std::to_string(kDeepest) + " levels deep");
    } else if (!levels_.empty() && !in_list() && key_expected()) {
      refuse(mark, "a list or map in the place of a key; write key: value");
    }
    return !problem_;
  }

  void leave() {
    if (!problem_ && !levels_.empty()) levels_.pop_back();
  }

  void start_setting(const YAML::Mark& mark, const std::string& key) {
    if (key.empty()) return refuse(mark, "an empty key; write key: value");
    if (key == "<<") return refuse(mark, "merge keys (<<) are not supported; write the values out");
    key_ = levels_.back().prefix + key;
    line_ = mark.line;
    in_setting_ = true;
    const auto [first, fresh] = lines_.emplace(key_, line_);
    if (!fresh) {
      refuse(mark, excerpt(key_) + ": set twice; the first time on line " +
                       std::to_string(first->second + 1));
    }
  }

  void add(Kind kind, const std::string& value) {
    settings_.push_back({key_, kind, value, static_cast<std::size_t>(line_) + 1});
    in_setting_ = false;
  }

  bool started_ = false;
  std::vector<Level> levels_;
  bool in_setting_ = false;  // key_ waits for its value
  std::string key_;
  int line_ = 0;
  std::map<std::string, int> lines_;
  std::vector<YamlSetting> settings_;
  std::optional<Problem> problem_;
};

Problem syntax_problem(const YAML::Exception& error, const std::string& text) {
  const auto last_line = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  if (error.mark.line > last_line) {
    return {last_line,
            "not valid YAML: a quotation or bracket is still open at the end of the file"};
  }
  return {error.mark.line, "not valid YAML: " + printable(error.msg) +
                               "; text with special characters needs quotes"};
}

Error located(const std::string& origin, int line, const std::string& what) {
  std::string where = origin + ":";
  if (line >= 0) where += std::to_string(line + 1) + ":";
  return Error(where + " " + what, ErrorKind::Configuration);
}

}  // namespace

Result<std::vector<YamlSetting>> parse_yaml_settings(const std::string& text,
                                                     const std::string& origin) {
  SettingReader reader;
  std::optional<Problem> syntax;
  try {
    std::istringstream stream(text + std::string(kEndOfDocument));
    YAML::Parser parser(stream);
    while (!reader.problem() && parser.HandleNextDocument(reader)) {
    }
  } catch (const YAML::Exception& error) {
    syntax = syntax_problem(error, text);
  } catch (const std::exception& error) {
    syntax = Problem{-1, "not readable as YAML: " + printable(error.what())};
  }
  if (const auto& problem = reader.problem()) return located(origin, problem->line, problem->what);
  if (syntax) return located(origin, syntax->line, syntax->what);
  return reader.take();
}

}  // namespace offcpud
