// SPDX-License-Identifier: Apache-2.0
#include "ctl/snapshots_text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/amount_text.h"
#include "base/duration_text.h"
#include "base/printable.h"
#include "base/utf8_prefix.h"
#include "ctl/whole_number.h"

namespace offcpud {
namespace {

using Json = nlohmann::json;
using SnapshotRow = std::vector<std::string>;

std::string string_text(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) return "-";
  return printable(found->get_ref<const std::string&>());
}

std::string number_text(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number()) return "-";
  std::array<char, 64> text{};
  (void)std::snprintf(text.data(), text.size(), "%.0f", found->get<double>());
  return text.data();
}

std::string seconds_text(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number()) return "-";
  return duration_text(found->get<double>());
}

// 0 where there is none. Throws if it is no number.
std::uint64_t count_of(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? 0 : whole_number<std::uint64_t>(*found);
}

std::string notes(const Json& snapshot) {
  std::string text;
  if (snapshot.value("partial", false)) text = "partial";
  if (snapshot.value("unreadable", false)) text += text.empty() ? "unreadable" : ", unreadable";
  return text;
}

SnapshotRow row_of(const Json& snapshot, bool has_amounts) {
  SnapshotRow row = {number_text(snapshot, "sequence"), string_text(snapshot, "begin"),
                     string_text(snapshot, "end"), bytes_text(snapshot.value("bytes", 0.0))};
  if (has_amounts) {
    row.push_back(seconds_text(snapshot, "off_cpu_seconds"));
    row.push_back(number_text(snapshot, "episodes"));
  }
  row.push_back(notes(snapshot));
  return row;
}

// As left_aligned() counts them.
std::size_t columns_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char byte) { return !continues_utf8(byte); }));
}

std::string table(const std::vector<SnapshotRow>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const SnapshotRow& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], columns_of(row[i]));
    }
  }
  std::string text;
  for (const SnapshotRow& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) line += left_aligned(row[i], widths[i] + 2);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string summary(const Json& answer, std::size_t listed) {
  std::string text = counted(listed, "snapshot") + " listed; all kept snapshots take " +
                     bytes_text(answer.value("bytes", 0.0)) + "\n";
  if (const auto damaged = count_of(answer, "unreadable"); damaged > 0) {
    text += "snapshots of this time that cannot be read: " + std::to_string(damaged) + "\n";
  }
  if (const auto foreign = count_of(answer, "foreign_files"); foreign > 0) {
    text += std::to_string(foreign) + " files in the directory are not snapshots\n";
  }
  return text;
}

}  // namespace

Result<std::string> snapshots_text(const std::string& json) {
  try {
    const Json answer = Json::parse(json);
    const Json& snapshots = answer.at("snapshots");
    if (snapshots.empty()) return "no snapshots\n" + summary(answer, 0);
    const bool has_amounts = snapshots.at(0).contains("off_cpu_seconds");
    std::vector<SnapshotRow> rows = {{"SEQUENCE", "BEGIN", "END", "SIZE"}};
    if (has_amounts) rows[0].insert(rows[0].end(), {"OFF-CPU", "EPISODES"});
    rows[0].emplace_back("NOTES");
    for (const Json& snapshot : snapshots) rows.push_back(row_of(snapshot, has_amounts));
    return table(rows) + summary(answer, snapshots.size());
  } catch (const std::exception&) {
    return Error("the answer is not a list of snapshots of offcpud");
  }
}

}  // namespace offcpud
