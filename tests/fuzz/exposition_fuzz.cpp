// SPDX-License-Identifier: Apache-2.0
// Names of cgroups and processes in every answer about numbers: text, protobuf and JSON.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "api/stalls_json.h"
#include "api/top_json.h"
#include "api/units_json.h"
#include "attribution/subject.h"
#include "base/text.h"
#include "fuzz.h"
#include "metrics/exposition.h"
#include "metrics/metric_catalog.h"
#include "metrics/prometheus_protobuf.h"
#include "metrics/prometheus_text.h"
#include "pipeline/reading_source.h"
#include "pipeline/stall.h"
#include "text.h"

namespace offcpud::fuzz {
namespace {

std::shared_ptr<const View> view_of(const std::string& path, const std::string& comm) {
  auto view = std::make_shared<View>();
  auto labels = std::make_shared<const SubjectLabels>(labels_of_cgroup(path));
  auto histogram = std::make_shared<LatencyHistogram>();
  histogram->sum_ns = 1'500'000;
  ++histogram->slots[offcpud_slot(1'500'000)];
  SubjectSeries subject;
  subject.labels = labels;
  subject.histograms[OFFCPUD_BLOCKED_DISK] = histogram;
  view->subjects = {subject};
  ProcessRow process;
  process.pid = 7;
  process.comm = to_valid_utf8(comm);
  process.labels = labels;
  process.exported = true;
  process.histograms = subject.histograms;
  view->processes = {process};
  auto stall = std::make_shared<Stall>();
  stall->comm = stall->process_comm = process.comm;
  stall->labels = labels;
  stall->detail = WaitDetail{.stack = {comm}, .file = comm, .socket = comm, .device = comm};
  auto stalls = std::make_shared<StallList>();
  stalls->stalls = {stall};
  view->stalls = stalls;
  view->walk = std::make_shared<const ThreadWalk>();
  return view;
}

std::string read_all(std::unique_ptr<SeriesWriter> writer, std::shared_ptr<const View> view) {
  Exposition exposition(std::move(view), std::move(writer), [](SeriesWriter&) {});
  std::string all;
  std::vector<char> buffer(4'096);
  while (const std::size_t n = exposition.read(buffer)) all.append(buffer.data(), n);
  return all;
}

// The name that a label value stands for: \xHH of a byte that is not shown, and \x5c of a backslash
// before what looks like one (docs/metrics.md), are that byte.
std::string name_of_label(const std::string& value) {
  std::string name;
  for (std::size_t at = 0; at < value.size(); ++at) {
    const std::string digits = value.substr(std::min(at + 2, value.size()), 2);
    const bool is_hex =
        digits.size() == 2 && digits.find_first_not_of("0123456789abcdef") == std::string::npos;
    const std::size_t byte = is_hex && value[at] == '\\' && value[at + 1] == 'x'
                                 ? std::stoul(digits, nullptr, 16)
                                 : std::size_t{' '};
    if (byte < 0x20 || byte == 0x5c || byte >= 0x7f) {
      name += static_cast<char>(byte);
      at += 3;
    } else {
      name += value[at];
    }
  }
  return name;
}

// The value of a label in the first series that has it, unescaped as a scraper does.
std::string label_of(const std::string& text, const std::string& name) {
  std::size_t at = text.find(name + "=\"");
  require(at != std::string::npos, "the label is there");
  std::string value;
  for (at += name.size() + 2; text.at(at) != '"'; ++at) {
    if (text[at] != '\\') {
      value += text[at];
      continue;
    }
    ++at;
    require(text.at(at) == '\\' || text[at] == '"' || text[at] == 'n', "an escape is known");
    value += text[at] == 'n' ? '\n' : text[at];
  }
  return value;
}

void require_json(const std::string& json) {
  require(is_utf8(json), "JSON is UTF-8");
  require(nlohmann::json::accept(json), "and JSON");
  require(!has_control_bytes(json, "\n"), "and has no control characters");
  require(!has_invisible_orders(json), "nor others that a terminal obeys");
}

}  // namespace

void test(std::string_view input) {
  const std::string path(input.substr(0, input.size() / 2));
  const std::string comm(input.substr(input.size() / 2));
  const auto view = view_of(path, comm);
  const std::vector<ClassicBucket> buckets;
  const std::string text = read_all(std::make_unique<PrometheusText>(buckets), view);
  require(is_utf8(text), "the text format is UTF-8");
  require(!has_control_bytes(text, "\n"), "without control bytes");
  require(!has_invisible_orders(text), "nor others that a terminal obeys");
  const std::string protobuf = read_all(std::make_unique<PrometheusProtobuf>(buckets), view);
  for (const auto& [label, name] : {std::pair("cgroup", &path), std::pair("comm", &comm)}) {
    if (name->empty()) continue;
    const std::string value = label_of(text, label);
    require(name_of_label(value) == to_valid_utf8(*name), "a scraper reads the name");
    require(protobuf.find(value) != std::string::npos, "both formats have the same value");
  }
  require_json(top_json(*view, {}, {}));
  require_json(units_json(*view, {}, true));
  const auto stalls = stalls_json(*view, {}, {.addresses = true});
  require(static_cast<bool>(stalls), "stalls are shown");
  require_json(*stalls);
}

std::vector<std::string> seeds() {
  return {"/system.slice/nginx.servicenginx", "/evil\"} 1\\\nup 1/\u00fcworker\"\\\n\xff\x1b[31m",
          "/a\\x2db.service//\x07x",
          "/\xc2\x9b\\x1b\\x5c\\x5cx\\/\xe2\x80\xae\xd8\x9c\\xe2\xe2\x81\xa6x"};
}

}  // namespace offcpud::fuzz
