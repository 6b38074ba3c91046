// SPDX-License-Identifier: Apache-2.0
#include "export/snapshot_json.h"

#include <array>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "export/rfc3339.h"
#include "histogram/hist_kind.h"

namespace offcpud {
namespace {

using Json = nlohmann::json;
using Ids = std::vector<std::uint32_t>;

std::string quoted(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Written by hand: a tree of JSON values would take many times the memory of the text.
class TableWriter {
 public:
  // `before`: null when this is no difference.
  TableWriter(const Snapshot& snapshot, const std::vector<StackAmount>* before)
      : snapshot_(snapshot), before_(before) {
    (void)string_id("");
    (void)stack_id({});
  }

  // ,"columns":[..],"rows":[..],"stacks":[..],"frames":[..],"strings":[..]
  std::string write() {
    out_ =
        ",\"columns\":[\"pid\",\"comm\",\"thread\",\"cgroup\",\"reason\",\"in_progress\",\"stack\","
        "\"waker\",\"waker_pid\",\"waker_stack\",\"ns\",\"episodes\"";
    if (before_ != nullptr) out_ += ",\"before_ns\",\"before_episodes\"";
    out_ += "],\"rows\":[";
    for (std::size_t i = 0; i < snapshot_.entries.size(); ++i) {
      begin_item(i);
      write_row(i);
    }
    out_ += "],\"stacks\":[";
    write_list(stacks_, [this](const Ids& stack) {
      out_ += '[';
      write_list(stack, [this](std::uint32_t frame) { number(frame); });
      out_ += ']';
    });
    out_ += "],\"frames\":[";
    write_list(snapshot_.frames, [this](const StackFrame& frame) { write_frame(frame); });
    out_ += "],\"strings\":[";
    write_list(strings_, [this](const std::string& text) { out_ += text; });
    out_ += ']';
    return std::move(out_);
  }

 private:
  void begin_item(std::size_t index) {
    if (index > 0) out_ += ',';
  }

  template <class List, class Write>
  void write_list(const List& list, Write write) {
    std::size_t index = 0;
    for (const auto& item : list) {
      begin_item(index++);
      write(item);
    }
  }

  template <class Number>
  void number(Number value) {
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
    out_.append(text.data(), end);
  }

  void write_row(std::size_t index) {
    const StackEntry& entry = snapshot_.entries[index];
    out_ += '[';
    const std::size_t ids[] = {entry.pid,
                               string_id(entry.comm),
                               string_id(entry.thread_comm),
                               string_id(entry.cgroup),
                               string_id(std::string(kHistKindNames[entry.reason])),
                               std::size_t{entry.in_progress ? 1U : 0U},
                               stack_id(joined(entry.user, entry.kernel)),
                               string_id(entry.waker_comm),
                               entry.waker_pid,
                               stack_id(joined(entry.waker_user, entry.waker_kernel))};
    for (const std::size_t id : ids) {
      number(id);
      out_ += ',';
    }
    number(entry.ns);
    out_ += ',';
    number(entry.episodes);
    if (before_ != nullptr) {
      out_ += ',';
      number((*before_)[index].ns);
      out_ += ',';
      number((*before_)[index].episodes);
    }
    out_ += ']';
  }

  void write_frame(const StackFrame& frame) {
    out_ += '[';
    number(string_id(frame.function));
    out_ += ',';
    number(string_id(frame.object));
    out_ += frame.kernel ? ",1]" : ",0]";
  }

  static Ids joined(const Ids& user, const Ids& kernel) {
    Ids stack = user;
    stack.insert(stack.end(), kernel.begin(), kernel.end());
    return stack;
  }

  std::size_t string_id(const std::string& text) {
    const auto [place, is_new] = string_ids_.try_emplace(text, strings_.size());
    if (is_new) strings_.push_back(quoted(text));
    return place->second;
  }

  std::size_t stack_id(Ids stack) {
    const auto [place, is_new] = stack_ids_.try_emplace(std::move(stack), stacks_.size());
    if (is_new) stacks_.push_back(place->first);
    return place->second;
  }

  const Snapshot& snapshot_;
  const std::vector<StackAmount>* before_;
  std::unordered_map<std::string, std::size_t> string_ids_;
  std::vector<std::string> strings_;  // as JSON
  std::map<Ids, std::size_t> stack_ids_;
  std::vector<Ids> stacks_;
  std::string out_;
};

double seconds(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

nlohmann::ordered_json head_json(const Snapshot& snapshot, const MergedFrom& from) {
  return {{"begin", rfc3339(snapshot.begin)},
          {"end", rfc3339(snapshot.end)},
          {"covered_seconds", seconds(snapshot.covered())},
          {"partial", snapshot.partial},
          {"snapshots", from.snapshots},
          {"unreadable", from.unreadable}};
}

// An object with `rest` before its last brace.
std::string with(const nlohmann::ordered_json& head, const std::string& rest) {
  std::string text = head.dump();
  text.pop_back();
  return text + rest + "}\n";
}

}  // namespace

std::string snapshot_json(const Snapshot& snapshot, const MergedFrom& from) {
  return with(head_json(snapshot, from), TableWriter(snapshot, nullptr).write());
}

std::string snapshot_json(const StackDifference& difference, const MergedFrom& from,
                          const MergedFrom& base) {
  auto head = head_json(difference.after, from);
  head["base"] = {{"begin", rfc3339(difference.before_begin)},
                  {"end", rfc3339(difference.before_end)},
                  {"covered_seconds", seconds(difference.before_duration)},
                  {"snapshots", base.snapshots},
                  {"unreadable", base.unreadable}};
  return with(head, TableWriter(difference.after, &difference.before).write());
}

}  // namespace offcpud
