// SPDX-License-Identifier: Apache-2.0
#include "api/snapshot_json.h"

#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hist_kind.h"
#include "base/utc.h"

namespace offcpud {
namespace {

using Ids = std::vector<std::uint32_t>;

// What clients, and the server's own memory for a connection, allow for a header.
constexpr std::size_t kMostSummaryBytes = 4096;

// On one line, in ASCII; texts may have any bytes.
template <class Json>
std::string json_text(const Json& json) {
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::string quoted(const std::string& text) {
  return json_text(nlohmann::json(text));
}

// Writes JSON text directly: a tree of JSON values would take many times the memory.
class TableWriter {
 public:
  // `before`: null unless this is a difference.
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
    out_ += ",\"variance\"";
    if (before_ != nullptr) out_ += ",\"before_variance\"";
    // At the end, as readers may count columns.
    out_ += ",\"for\",\"site\"],\"rows\":[";
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
    out_ += ',';
    number(entry.variance);
    if (before_ != nullptr) {
      out_ += ',';
      number((*before_)[index].variance);
    }
    for (const std::size_t id :
         {string_id(std::string(name_of(entry.wait_for))), string_id(entry.site)}) {
      out_ += ',';
      number(id);
    }
    out_ += ']';
  }

  void write_frame(const StackFrame& frame) {
    out_ += '[';
    number(string_id(frame.function));
    out_ += ',';
    number(string_id(frame.object));
    out_ += frame.kernel ? ",1" : ",0";
    if (frame.line != 0) {
      out_ += ',';
      number(frame.line);
    }
    out_ += ']';
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

nlohmann::ordered_json interval_json(std::chrono::nanoseconds interval) {
  if (interval.count() > 0) return in_seconds(interval);
  return nullptr;
}

struct Total {
  double seconds = 0, standard_error = 0;
};

template <class Amounts>
Total total_of(const Amounts& amounts) {
  double ns = 0, variance = 0;
  for (const auto& amount : amounts) {
    ns += static_cast<double>(amount.ns);
    variance += amount.variance;
  }
  return {.seconds = ns / kNsPerSecond, .standard_error = std::sqrt(variance) / kNsPerSecond};
}

nlohmann::ordered_json head_json(const Snapshot& snapshot, const MergedFrom& from) {
  const Total total = total_of(snapshot.entries);
  return {{"begin", rfc3339(snapshot.begin)},
          {"end", rfc3339(snapshot.end)},
          {"covered_seconds", in_seconds(snapshot.covered())},
          {"off_cpu_seconds", total.seconds},
          {"standard_error_seconds", total.standard_error},
          {"lost_of_any_seconds", static_cast<double>(snapshot.lost_of_any_ns) / kNsPerSecond},
          {"sampling_interval_seconds", interval_json(snapshot.sampling_interval)},
          {"partial", snapshot.partial},
          {"captured", snapshot.captured},
          {"snapshots", from.snapshots},
          {"unreadable", from.unreadable}};
}

nlohmann::ordered_json head_json(const StackDifference& difference, const MergedFrom& from,
                                 const MergedFrom& base) {
  auto head = head_json(difference.after, from);
  const Total before = total_of(difference.before);
  head["base"] = {
      {"begin", rfc3339(difference.before_begin)},
      {"end", rfc3339(difference.before_end)},
      {"covered_seconds", in_seconds(difference.before_duration)},
      {"off_cpu_seconds", before.seconds},
      {"standard_error_seconds", before.standard_error},
      {"lost_of_any_seconds", static_cast<double>(difference.before_lost_of_any_ns) / kNsPerSecond},
      {"sampling_interval_seconds", interval_json(difference.before_sampling_interval)},
      {"partial", difference.before_partial},
      {"captured", difference.before_captured},
      {"snapshots", base.snapshots},
      {"unreadable", base.unreadable}};
  return head;
}

// ASCII, as a header must be.
std::string summary_of(nlohmann::ordered_json head) {
  if (auto summary = json_text(head); summary.size() <= kMostSummaryBytes) return summary;
  for (auto* part : {&head, head.contains("base") ? &head["base"] : nullptr}) {
    if (part != nullptr) (*part)["captured"] = {"filters that are too long for a header"};
  }
  return json_text(head);
}

// The text of the object, with `rest` before its last brace.
std::string with(const nlohmann::ordered_json& head, const std::string& rest) {
  std::string text = json_text(head);
  text.pop_back();
  return text + rest + "}\n";
}

}  // namespace

std::string snapshot_summary(const Snapshot& snapshot, const MergedFrom& from) {
  return summary_of(head_json(snapshot, from));
}

std::string snapshot_summary(const StackDifference& difference, const MergedFrom& from,
                             const MergedFrom& base) {
  return summary_of(head_json(difference, from, base));
}

std::string snapshot_json(const Snapshot& snapshot, const MergedFrom& from) {
  return with(head_json(snapshot, from), TableWriter(snapshot, nullptr).write());
}

std::string snapshot_json(const StackDifference& difference, const MergedFrom& from,
                          const MergedFrom& base) {
  return with(head_json(difference, from, base),
              TableWriter(difference.after, &difference.before).write());
}

}  // namespace offcpud
