// SPDX-License-Identifier: Apache-2.0
// Names of cgroups and processes in every answer about numbers: text, protobuf and JSON.
#include <nlohmann/json.hpp>

#include "attribution/subject.h"
#include "base/text.h"
#include "export/exposition.h"
#include "export/metric_catalog.h"
#include "export/prometheus_protobuf.h"
#include "export/prometheus_text.h"
#include "export/stalls_json.h"
#include "export/top_json.h"
#include "export/units_json.h"
#include "fuzz.h"
#include "pipeline/sample_source.h"
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
  if (!path.empty() && !has_control_bytes(path)) {
    require(label_of(text, "cgroup") == to_valid_utf8(path), "a scraper reads the name");
  }
  const std::string protobuf = read_all(std::make_unique<PrometheusProtobuf>(buckets), view);
  require(!protobuf.empty(), "protobuf is written");
  require_json(top_json(*view, {}, {}));
  require_json(units_json(*view, {}));
  const auto stalls = stalls_json(*view, {}, {.addresses = true});
  require(static_cast<bool>(stalls), "stalls are shown");
  require_json(*stalls);
}

std::vector<std::string> seeds() {
  return {"/system.slice/nginx.servicenginx", "/evil\"} 1\\\nup 1/\u00fcworker\"\\\n\xff\x1b[31m",
          "/a\\x2db.service//\x07x"};
}

}  // namespace offcpud::fuzz
