// SPDX-License-Identifier: Apache-2.0
#include "unit/metrics/view_fixture.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "pipeline/reading_source.h"
#include "pipeline/taker.h"
#include "pipeline/waited_on.h"

namespace offcpud::test {
namespace {

using namespace std::chrono_literals;

SubjectSeries subject(SubjectLabels labels, std::uint64_t running_ns) {
  SubjectSeries series;
  series.labels = std::make_shared<const SubjectLabels>(std::move(labels));
  series.running_ns = running_ns;
  return series;
}

std::shared_ptr<const KeptOff> kept_off_by(
    std::vector<std::pair<SubjectLabels, std::uint64_t>> takers) {
  KeptOff kept_off;
  for (auto& [labels, ns] : takers) {
    kept_off.takers.push_back({std::make_shared<const SubjectLabels>(std::move(labels)), ns});
  }
  return std::make_shared<const KeptOff>(std::move(kept_off));
}

// Two threads blocked in `kind`, one of them for `oldest_ns` and over the first `bounds` bounds.
std::shared_ptr<const WaitsInProgress> waits_of(std::size_t kind, std::uint64_t oldest_ns,
                                                std::size_t bounds) {
  auto waits = std::make_shared<WaitsInProgress>();
  waits->blocked[kind] = {.threads = 2, .oldest = {oldest_ns}, .stalled = {}};
  std::fill_n(waits->blocked[kind].stalled.begin(), bounds, 1);
  return waits;
}

ProcessRow process(std::uint32_t pid, std::string comm, const SubjectSeries& subject) {
  ProcessRow row;
  row.pid = pid;
  row.comm = std::move(comm);
  row.labels = subject.labels;
  row.exported = true;
  return row;
}

}  // namespace

SubjectSeries subject_of(std::string cgroup) {
  SubjectLabels labels;
  labels.cgroup = std::move(cgroup);
  return subject(std::move(labels), 0);
}

std::shared_ptr<const LatencyHistogram> histogram_of(std::initializer_list<std::uint64_t> ns) {
  auto histogram = std::make_shared<LatencyHistogram>();
  for (const std::uint64_t duration : ns) {
    histogram->sum_ns += duration;
    ++histogram->slots[offcpud_slot(duration)];
  }
  return histogram;
}

namespace {

SubjectSeries hostile_subject() {
  SubjectSeries hostile = subject({.cgroup = "/evil\"} 1\\\nup 1/\u00fc\u4e16",
                                   .slice = "",
                                   .unit = "a\\x2db\".service",
                                   .container_id = "",
                                   .pod_uid = ""},
                                  1);
  hostile.histograms[OFFCPUD_BLOCKED_LOCK] = histogram_of({1, 953, 954, 1'000'000});
  hostile.preemptions = {1, 2, 3};
  hostile.wakeups = {4, 5, 6, 7};
  hostile.kept_off = kept_off_by(
      {{{.cgroup = "(kernel)", .slice = "", .unit = "", .container_id = "", .pod_uid = ""}, 1'000},
       {{.cgroup = "/b\"\n", .slice = "", .unit = "b\".service", .container_id = "", .pod_uid = ""},
        9'007'199'254'740'993U}});
  hostile.waited_on = std::make_shared<const std::vector<WaitedOn>>(std::vector<WaitedOn>{
      {.wait_for = WaitFor::Answer, .on = "b\\\".service", .ns = 1'000},
      {.wait_for = WaitFor::Answer, .on = "remote:[2001:db8::1]:443", .ns = 1},
      {.wait_for = WaitFor::Storage, .on = "device:sda\n", .ns = 2}});
  GoroutineTimes goroutines{};
  goroutines[static_cast<std::size_t>(WaitFor::Lock)] = 9'007'199'254'740'993U;
  goroutines[static_cast<std::size_t>(WaitFor::Timer)] = 1;
  hostile.goroutines = std::make_shared<const GoroutineTimes>(goroutines);
  hostile.in_progress = waits_of(OFFCPUD_BLOCKED_POLL, 0, 0);
  return hostile;
}

SubjectSeries pod_subject() {
  SubjectSeries pod =
      subject({.cgroup = "/kubepods.slice/kubepods-pod1.slice/cri-containerd-0123abcd.scope",
               .slice = "kubepods-pod1.slice",
               .unit = "cri-containerd-0123abcd.scope",
               .container_id = "0123abcd",
               .pod_uid = "11111111-2222-3333-4444-555555555555"},
              18'446'744'073'709'551'615U);
  pod.kept_off = kept_off_by(
      {{{.cgroup = "(idle)", .slice = "", .unit = "", .container_id = "", .pod_uid = ""}, 5}});
  // Beyond 2^53 ns, where a double cannot hold every nanosecond, and beyond the last bound.
  pod.histograms[OFFCPUD_BLOCKED_DISK] = histogram_of({9'007'199'254'740'993U});
  pod.histograms[OFFCPUD_RUNQ_WAKEUP] = histogram_of({1'000'000'000, 1'000'000'001});
  pod.histograms[OFFCPUD_RUNQ_THROTTLED] = histogram_of({100'000'000});
  auto pod_waits = std::make_shared<WaitsInProgress>();
  pod_waits->oldest_runnable_ns = 20'000'001;
  pod_waits->unaccounted_ratio = -0.0625;
  pod.in_progress = std::move(pod_waits);
  return pod;
}

StallsInProgress stalls_of_storage() {
  StallsInProgress stalls;
  stalls.threads[static_cast<std::size_t>(WaitFor::Storage)] = 1;
  stalls.oldest_ns[static_cast<std::size_t>(WaitFor::Storage)] = 90'061'000'000'007U;
  stalls.shown = 1U << static_cast<std::size_t>(WaitFor::Storage);
  stalls.on = {{.wait_for = WaitFor::Storage, .on = "device:sd\"a\n", .threads = 1}};
  return stalls;
}

void add_estimates(SubjectSeries& nginx) {
  WaitEstimate waits;
  waits.add(1'500'000'001, 1'500'000'001);
  EstimatedHistogram storage;
  storage += waits;
  nginx.waits[static_cast<std::size_t>(WaitFor::Storage)] =
      std::make_shared<const EstimatedHistogram>(storage);
  waits.add(2'000'000, 10'000'000);  // one that stands for five
  EstimatedHistogram lock;
  lock += waits;
  nginx.waits[static_cast<std::size_t>(WaitFor::Lock)] =
      std::make_shared<const EstimatedHistogram>(lock);
  nginx.waits[static_cast<std::size_t>(WaitFor::Work)] =
      std::make_shared<const EstimatedHistogram>();  // one is in progress
}

SubjectSeries nginx_subject(std::size_t bounds) {
  SubjectSeries nginx = subject({.cgroup = "/system.slice/nginx.service",
                                 .slice = "system.slice",
                                 .unit = "nginx.service",
                                 .container_id = "",
                                 .pod_uid = ""},
                                1'500'000'001);
  nginx.histograms[OFFCPUD_BLOCKED_DISK] = histogram_of({1'500'000'001});
  nginx.histograms[OFFCPUD_BLOCKED_OTHER] = std::make_shared<const LatencyHistogram>();
  auto stuck = std::make_shared<WaitsInProgress>(
      *waits_of(OFFCPUD_BLOCKED_DISK, 90'061'000'000'007U, bounds));
  stuck->unaccounted_ratio = 0;
  nginx.in_progress = std::move(stuck);
  nginx.stalls = std::make_shared<const StallsInProgress>(stalls_of_storage());
  add_estimates(nginx);
  return nginx;
}

std::vector<ProcessRow> processes_of(const SubjectSeries& hostile, const SubjectSeries& nginx) {
  ProcessRow worker = process(4'194'304, "worker\"\\\n\xff", hostile);
  worker.histograms[OFFCPUD_RUNQ_PREEMPTED] = histogram_of({4'000'000});
  worker.oldest_blocked[OFFCPUD_BLOCKED_POLL].ns = 3'000'000'000;
  ProcessRow server = process(7, "nginx", nginx);
  server.histograms[OFFCPUD_BLOCKED_DISK] = histogram_of({1'500'000'001});
  ProcessRow silent = process(8, "not exported", nginx);
  silent.exported = false;
  silent.histograms = server.histograms;
  return {worker, silent, server};
}

}  // namespace

std::shared_ptr<const View> hostile_view() {
  auto view = std::make_shared<View>();
  view->stall_bounds = {250ms, 10s, 60s, 90min};
  view->taken_wall = WallTime(1'700'000'000s + 250ms);
  const SubjectSeries hostile = hostile_subject();
  const SubjectSeries nginx = nginx_subject(view->stall_bounds.size());
  view->subjects = {hostile, pod_subject(), nginx, subject_of("/user.slice")};
  view->processes = processes_of(hostile, nginx);
  view->disk_loads = std::make_shared<const std::vector<DiskLoadRow>>(std::vector<DiskLoadRow>{
      {.disk = "sd\"a\n",
       .by = hostile.labels,
       .load = {.bytes = {0, 1, 18'446'744'073'709'551'615U}, .request_ns = 1}},
      {.disk = "vda", .by = nginx.labels, .load = {.bytes = {4096}, .requests = {1}}}});
  view->times_disk_requests = true;
  auto walk = std::make_shared<ThreadWalk>();
  walk->passes = 3;
  view->walk = std::move(walk);
  view->running_deviation_ratio = 1e-05;
  view->losses = {{"clock", 0}, {"subjects_full", 3}};
  view->left_censored = 42;
  view->maps = {{"subjects", 4, 1024}, {"task_states", 300, 65536}};
  view->histogram_series = 5;
  view->folded_series = 2;
  view->lost_wait_ns = 1'500'000'001;
  return view;
}

std::string read_all(const BodyStream& body, std::size_t buffer_size) {
  std::string bytes;
  std::vector<char> buffer(buffer_size);
  while (const std::size_t n = body(buffer)) bytes.append(buffer.data(), n);
  return bytes;
}

std::string read_all(Exposition& exposition, std::size_t buffer_size) {
  return read_all([&exposition](std::span<char> buffer) { return exposition.read(buffer); },
                  buffer_size);
}

std::string render(std::shared_ptr<const View> view, unsigned classic_buckets,
                   const std::string& self_metrics, std::size_t buffer_size) {
  Exposition exposition(std::move(view), make_writer({.classic_buckets = classic_buckets}),
                        [&](SeriesWriter& out) { out.bytes() += self_metrics; });
  return read_all(exposition, buffer_size);
}

std::string text_of(const SelfMetrics& metrics) {
  const auto writer = make_writer({});
  metrics.write(*writer);
  return writer->bytes();
}

}  // namespace offcpud::test
