// SPDX-License-Identifier: Apache-2.0
#include "config/yaml_settings.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <array>
#include <exception>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "base/printable.h"

namespace offcpud {
namespace {

using Kind = YamlSetting::Kind;

constexpr std::size_t kDeepest = 8;

// Appended to every text. yaml-cpp takes the end of the input for the end of an open quotation, so
// it would accept a truncated file; this marker inside of a quotation is an error.
constexpr std::string_view kEndOfDocument = "\n...\n";

struct Problem {
  int line;  // yaml-cpp counts from 0
  std::string what;
};

// Uses events instead of YAML::Node: they show aliases, tags and duplicate keys, and build no tree
// from a hostile file. After the first problem, the rest of the file is ignored.
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
    if (is(Place::Ignored)) return;
    if (is(Place::Items)) return add_item(mark, Kind::Nothing, {});
    if (key_expected()) return refuse(mark, "a value without a key; write key: value");
    add(Kind::Nothing, {});
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    refuse(mark, "aliases (*name) are not supported; write the value out");
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (!accept(mark, tag, anchor) || is(Place::Ignored)) return;
    if (levels_.empty()) return refuse_root(mark);
    if (is(Place::Items)) return add_item(mark, Kind::Value, value);
    if (key_expected()) return start_setting(mark, value);
    add(Kind::Value, value);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    if (!enter(mark, tag, anchor)) return;
    if (levels_.empty()) return refuse_root(mark);
    // Only a list that is the value of an option has items; no option accepts lists of lists.
    const Place inside = is(Place::Settings) ? Place::Items : Place::Ignored;
    if (is(Place::Items)) {
      add_item(mark, Kind::List, {});
    } else if (!is(Place::Ignored)) {
      add(Kind::List, {});
    }
    levels_.push_back({.prefix = {}, .place = inside});
  }
  void OnSequenceEnd() override { leave(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    if (!enter(mark, tag, anchor)) return;
    Level inside;
    if (is(Place::Items)) {
      add_item(mark, Kind::Group, {});
      const std::size_t number = settings_.back().items.size();
      inside = {.prefix = settings_.back().key + ": entry " + std::to_string(number) + ": ",
                .place = Place::Entries};
    } else if (is(Place::Entries) || is(Place::Ignored)) {
      if (is(Place::Entries)) add(Kind::Group, {});
      inside.place = Place::Ignored;
    } else if (!levels_.empty()) {
      inside.prefix = key_ + ".";
      add(Kind::Group, {});
    }
    levels_.push_back(std::move(inside));
  }
  void OnMapEnd() override { leave(); }

 private:
  enum class Place {
    Settings,  // a map of options
    Items,     // a list that is the value of an option
    Entries,   // a map that is an item of such a list
    Ignored,   // a list or map anywhere below
  };
  struct Level {
    std::string prefix = {};  // for the keys of this map
    Place place = Place::Settings;
  };

  [[nodiscard]] bool is(Place place) const {
    return !levels_.empty() && levels_.back().place == place;
  }
  [[nodiscard]] bool key_expected() const { return !in_setting_; }

  void refuse(const YAML::Mark& mark, std::string what) {
    if (!problem_) problem_ = Problem{mark.line, std::move(what)};
  }
  void refuse_root(const YAML::Mark& mark) {
    refuse(mark, "not a map of options; write key: value");
  }

  bool accept(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (anchor != 0) refuse(mark, "anchors (&name) are not supported; remove it");
    const bool plain = tag.empty() || tag == "?" || tag == "!";  // yaml-cpp's marks for no tag
    if (!plain) refuse(mark, "the YAML tag " + quotation(tag) + " is not supported; remove it");
    return !problem_;
  }

  bool enter(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (!accept(mark, tag, anchor)) return false;
    if (levels_.size() >= kDeepest) {
      refuse(mark, "nested more than " + std::to_string(kDeepest) + " levels deep");
    } else if ((is(Place::Settings) || is(Place::Entries)) && key_expected()) {
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
    key_ = is(Place::Entries) ? key : levels_.back().prefix + key;
    line_ = mark.line;
    in_setting_ = true;
    const auto [first, fresh] = lines_.emplace(levels_.back().prefix + key, line_);
    if (!fresh) {
      refuse(mark, excerpt(first->first) + ": set twice; the first time on line " +
                       std::to_string(first->second + 1));
    }
  }

  void add(Kind kind, const std::string& value) {
    const std::size_t line = static_cast<std::size_t>(line_) + 1;
    if (is(Place::Entries)) {
      settings_.back().items.back().entries.push_back({key_, kind, value, line});
    } else {
      settings_.push_back({key_, kind, value, line});
    }
    in_setting_ = false;
  }
  void add_item(const YAML::Mark& mark, Kind kind, const std::string& value) {
    settings_.back().items.push_back({kind, value, {}, static_cast<std::size_t>(mark.line) + 1});
  }

  bool started_ = false;
  std::vector<Level> levels_;
  bool in_setting_ = false;  // `key_` waits for its value
  std::string key_;
  int line_ = 0;
  std::map<std::string, int> lines_;
  std::vector<YamlSetting> settings_;
  std::optional<Problem> problem_;
};

std::string line_text(const std::string& text, int line) {
  std::istringstream lines(text);
  std::string found;
  for (int i = 0; i <= line && std::getline(lines, found); ++i) {
  }
  return found;
}

// What most often makes such a line.
std::string_view syntax_hint(const std::string& what, const std::string& line) {
  if (line.find_first_not_of(' ') == line.find('\t')) {
    return "YAML indents with spaces, and this line begins with a tab";
  }
  if (what.starts_with("unknown escape character")) {
    return "in double quotes \\ begins an escape; put patterns in single quotes";
  }
  if (line.starts_with(' ') && !what.starts_with("the referenced anchor")) {
    return "is it indented as the lines of its list or map? Text with special characters needs "
           "quotes";
  }
  return "text with special characters needs quotes";
}

// `whole` names what was read: "file" or "value".
Problem syntax_problem(const YAML::Exception& error, const std::string& text,
                       std::string_view whole) {
  const auto last_line = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  if (error.mark.line > last_line) {
    return {last_line, "not valid YAML: a quotation or bracket is still open at the end of the " +
                           std::string(whole)};
  }
  const std::string_view hint = syntax_hint(error.msg, line_text(text, error.mark.line));
  return {error.mark.line, "not valid YAML: " + printable(error.msg) + "; " + std::string(hint)};
}

// Feeds `text` to `reader`; nullopt: all of it was read.
std::optional<Problem> read(SettingReader& reader, const std::string& text,
                            std::string_view whole) {
  std::optional<Problem> syntax;
  try {
    std::istringstream stream(text + std::string(kEndOfDocument));
    YAML::Parser parser(stream);
    while (!reader.problem() && parser.HandleNextDocument(reader)) {
    }
  } catch (const YAML::Exception& error) {
    syntax = syntax_problem(error, text, whole);
  } catch (const std::exception& error) {
    syntax = Problem{-1, "not readable as YAML: " + printable(error.what())};
  }
  return reader.problem() ? reader.problem() : syntax;
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
  if (const auto problem = read(reader, text, "file")) {
    return located(origin, problem->line, problem->what);
  }
  return reader.take();
}

Result<YamlSetting> parse_yaml_value(const std::string& text) {
  constexpr std::string_view kKey = "value: ";  // makes the value a file with one key
  SettingReader reader;
  if (const auto problem = read(reader, std::string(kKey) + text, "value")) {
    const bool named = problem->what.starts_with(kKey);
    return Error(problem->what.substr(named ? kKey.size() : 0), ErrorKind::Configuration);
  }
  std::vector<YamlSetting> settings = reader.take();
  if (settings.empty()) return Error("not a YAML value", ErrorKind::Configuration);
  YamlSetting value = std::move(settings.front());
  value.key.clear();
  return value;
}

std::string yaml_scalar(const std::string& value) {
  constexpr std::array<std::string_view, 3> kNulls = {"null", "Null",
                                                      "NULL"};  // YAML 1.2.2, 10.3.2
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._:-";
  constexpr std::string_view kPlainEnds = ":-.";  // allowed, but not first or last
  const bool plain = value.find_first_not_of(kPlain) == std::string::npos && !value.empty() &&
                     kPlainEnds.find(value.front()) == std::string_view::npos &&
                     kPlainEnds.find(value.back()) == std::string_view::npos &&
                     std::ranges::find(kNulls, value) == kNulls.end();
  if (plain) return value;
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + '"';
}

std::string_view kind_text(YamlKind kind) {
  switch (kind) {
    case YamlKind::Nothing:
      return "has no value";
    case YamlKind::List:
      return "is a list";
    case YamlKind::Group:
      return "is a map";
    case YamlKind::Value:
      break;
  }
  return "is a single value";
}

}  // namespace offcpud
