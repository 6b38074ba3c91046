// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <clocale>
#include <string>

namespace offcpud::test {

// A locale for the life of the object: what fits for a terminal depends on its encoding.
class WithLocale {
 public:
  explicit WithLocale(const char* name) : before_(std::setlocale(LC_CTYPE, nullptr)) {
    known_ = std::setlocale(LC_CTYPE, name) != nullptr;
  }
  WithLocale(const WithLocale&) = delete;
  WithLocale& operator=(const WithLocale&) = delete;
  ~WithLocale() { (void)std::setlocale(LC_CTYPE, before_.c_str()); }
  [[nodiscard]] bool known() const { return known_; }

 private:
  std::string before_;
  bool known_ = false;
};

// Answers as the daemon gives them, with names that want to be obeyed.
inline constexpr const char* kProcessesJson = R"({"interval_seconds": 10.0,
 "taken": "2026-11-20T12:19:40.250Z",
 "totals": {"processes": 214, "threads": 1830, "actionable_seconds": 32.0, "running_seconds": 17.0,
  "blocked_seconds": {"disk": 21.0, "poll": 9000.0, "lock": 7.0},
  "runqueue_seconds": {"wakeup": 1.0, "preempted": 3.0}},
 "matching": 3, "processes": [
 {"pid": 4711, "start_time": "2026-11-20T10:00:00.000Z", "comm": "postgres",
  "cgroup": "/system.slice/postgresql.service", "unit": "postgresql.service", "threads": 12,
  "kernel_thread": false, "exported": true, "actionable_seconds": 31.0, "running_seconds": 15.0,
  "blocked_seconds": {"disk": 21.0, "lock": 7.0, "poll": 40.0},
  "runqueue_seconds": {"wakeup": 1.0, "preempted": 2.0}, "ended": 90, "p50_seconds": 0.0009765625,
  "p99_seconds": 0.25, "max_seconds": null,
  "oldest_blocked": {"reason": "lock", "seconds": 754.2},
  "oldest_blocked_seconds": {"lock": 754.2}},
 {"pid": 99, "start_time": "2026-11-20T10:00:00.000Z", "comm": "evil\u001b[2J\u009b\u202e",
  "cgroup": "/user.slice/\u00fcber/a\nb", "threads": 1, "kernel_thread": false, "exported": false,
  "actionable_seconds": 1.0, "running_seconds": 0.0, "blocked_seconds": {},
  "runqueue_seconds": {"preempted": 1.0}, "ended": 2, "p50_seconds": 0.5, "p99_seconds": 0.5,
  "max_seconds": 0.5, "oldest_blocked": null, "oldest_blocked_seconds": {}},
 {"pid": 1, "start_time": "2026-11-20T09:00:00.000Z", "comm": "systemd", "cgroup": "/init.scope",
  "unit": "init.scope", "threads": 1, "kernel_thread": false, "exported": false,
  "actionable_seconds": 0.0, "running_seconds": 2.0, "blocked_seconds": {"poll": 9.9},
  "runqueue_seconds": {}, "ended": 0, "p50_seconds": 0.0, "p99_seconds": 0.0, "max_seconds": 0.0,
  "oldest_blocked": null, "oldest_blocked_seconds": {}}]})";

// Eight backends before a row lock whose reason is poll, beside an idle program of Go whose reason
// is lock.
inline constexpr const char* kWaitsJson = R"({"interval_seconds": 10.0,
 "taken": "2026-11-20T12:19:40.250Z", "window": {"seconds": 10.0, "age_seconds": 3.0},
 "totals": {"processes": 214, "threads": 1830, "actionable_seconds": 80.0, "running_seconds": 17.0,
  "blocked_seconds": {"lock": 80.0, "poll": 90.0}, "runqueue_seconds": {"preempted": 4.0},
  "waits": {"actionable": 8.31, "error": 0.02, "children": 3.0, "idle": 412.5, "unknown": 1.2,
   "for": {"lock": {"waiting": 8.0, "error": 0.0}, "storage": {"waiting": 0.31, "error": 0.02},
    "work": {"waiting": 400.0, "error": 0.1}, "timer": {"waiting": 12.5, "error": 0.0},
    "unknown": {"waiting": 1.2, "error": 0.0}},
   "sites": []}},
 "matching": 214, "processes": [
 {"pid": 4711, "start_time": "2026-11-20T10:00:00.000Z", "comm": "postgres",
  "cgroup": "/system.slice/postgresql.service", "unit": "postgresql.service", "threads": 8,
  "kernel_thread": false, "exported": true, "actionable_seconds": 0.1, "running_seconds": 15.0,
  "blocked_seconds": {"poll": 80.0}, "runqueue_seconds": {"wakeup": 0.1}, "ended": 90,
  "p50_seconds": 0.0009765625, "p99_seconds": 0.25, "max_seconds": null, "oldest_blocked": null,
  "oldest_blocked_seconds": {},
  "waits": {"actionable": 8.31, "error": 0.02, "children": 0.0, "idle": 0.0, "unknown": 0.0, "for": {}, "sites": [
   {"for": "lock", "site": "postgresql-heavyweight-lock", "waiting": 8.0, "error": 0.0,
    "lasting": 8, "oldest_seconds": 25.2},
   {"for": "storage", "site": "fsync", "waiting": 0.31, "error": 0.02, "lasting": 0,
    "oldest_seconds": null}]}},
 {"pid": 99, "start_time": "2026-11-20T10:00:00.000Z", "comm": "prometheus",
  "cgroup": "/system.slice/prometheus.service", "unit": "prometheus.service", "threads": 12,
  "kernel_thread": false, "exported": false, "actionable_seconds": 70.0, "running_seconds": 0.1,
  "blocked_seconds": {"lock": 70.0}, "runqueue_seconds": {}, "ended": 2, "p50_seconds": 0.5,
  "p99_seconds": 0.5, "max_seconds": 0.5, "oldest_blocked": {"reason": "lock", "seconds": 900.0},
  "oldest_blocked_seconds": {"lock": 900.0},
  "waits": {"actionable": 0.0, "error": 0.0, "children": 0.0, "idle": 12.0, "unknown": 1.2, "for": {}, "sites": [
   {"for": "unknown", "site": null, "waiting": 1.2, "error": 0.0, "lasting": 1,
    "oldest_seconds": 1.0}]}}]})";

inline constexpr const char* kThreadsJson = R"({"interval_seconds": 2.0,
 "taken": "2026-11-20T12:19:40.250Z",
 "totals": {"processes": 2, "threads": 3, "actionable_seconds": 1.0, "running_seconds": 2.0,
  "blocked_seconds": {}, "runqueue_seconds": {"preempted": 1.0}},
 "matching": 3, "threads": [
 {"tid": 801, "pid": 800, "comm": "dpdk-lcore-3", "cgroup": "/nfv.slice/vswitch.service", "cpu": 3,
  "pinned": true, "state": "runnable", "cause": "preempted", "state_seconds": 0.004,
  "actionable_seconds": 0.5, "running_seconds": 1.5, "blocked_seconds": {},
  "runqueue_seconds": {"preempted": 0.5}, "kept_off_seconds": {"kernel": 0.4, "other_cgroup": 0.1},
  "last_taker": {"tid": 30, "comm": "kworker/3:1"},
  "longest_wait": {"seconds": 0.31, "taker": {"tid": 30, "comm": "kworker/3:1"}}},
 {"tid": 802, "pid": 800, "comm": "reader", "cgroup": "/nfv.slice/vswitch.service", "cpu": 0,
  "pinned": false, "state": "blocked", "reason": "disk", "state_seconds": null,
  "actionable_seconds": 0.0, "running_seconds": 0.0, "blocked_seconds": {"disk": 0.2},
  "runqueue_seconds": {}, "kept_off_seconds": {}, "last_taker": null, "longest_wait": null},
 {"tid": 7, "pid": 7, "comm": "hog", "cpu": 1, "pinned": false, "state": "running",
  "state_seconds": 100000.0, "actionable_seconds": 0.0, "running_seconds": 0.5,
  "blocked_seconds": {}, "runqueue_seconds": {}, "kept_off_seconds": {}, "last_taker": null,
  "longest_wait": null}]})";

}  // namespace offcpud::test
