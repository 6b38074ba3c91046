// SPDX-License-Identifier: Apache-2.0
// The other answers that offcpuctl reads, of a server that wants to harm who asks it.
#include <clocale>

#include "api/snapshot_json.h"
#include "base/result.h"
#include "ctl/answer_summary.h"
#include "ctl/snapshots_text.h"
#include "ctl/stack_listing.h"
#include "ctl/stacks_total.h"
#include "ctl/stalls_text.h"
#include "ctl/status_text.h"
#include "fuzz.h"
#include "support/snapshots.h"
#include "text.h"

namespace offcpud::fuzz {
namespace {

void require_text(const Result<std::string>& text) {
  const std::string& shown = text ? *text : text.error().message();
  require(is_printable(shown, "\n"), "a terminal has nothing to obey");
}

}  // namespace

void test(std::string_view input) {
  static const bool utf8 = std::setlocale(LC_CTYPE, "C.UTF-8") != nullptr;
  require(utf8, "this host has the locale C.UTF-8");
  const std::string json(input);
  require_text(status_text(json));
  require_text(
      stalls_text(json, {.verbose = input.size() % 2 == 0, .of_unknown = input.size() % 3 == 0}));
  require_text(snapshots_text(json));
  require_text(stack_listing(json, input.size() % 2 == 0));
  require(is_printable(error_sentence(json), "\n"), "nor in an error");
  require(is_printable(summary_sentence(json), "\n"), "nor in a summary");
  const auto total = stacks_total(json);
  if (!total) require_text(total.error().message());
}

std::vector<std::string> seeds() {
  const Snapshot a = test::ordinary_snapshot(), b = test::random_snapshot(1, 4);
  return {
      content_of(OFFCPUD_SOURCE_DIR "/tests/data/golden/status.json"),
      snapshot_json(a, {.snapshots = 1}),
      snapshot_json(difference_of(b, a, Normalize::No), {}, {}),
      snapshot_summary(a, {.snapshots = 3, .unreadable = 1}),
      snapshot_summary(difference_of(b, a, Normalize::ToLater), {}, {}),
      R"({"dropped": 5, "matching": 8, "stalls": [{"state": "in_progress", "pid": 100, "tid": 110,
 "duration_seconds": 12.56, "estimated": false, "comm": "\u001b[2J", "process": "server",
 "since": "2026-11-20T11:59:47.500Z", "cgroup": "/a.service", "reason": "lock", "examined": true,
 "syscall": {"number": 202, "name": "futex", "arguments": ["0x10", "0x80"]}, "waits_for":
 {"futex": {"address": "0x10", "owner": {"tid": 152, "comm": "h"}}, "file": {"fd": 3, "path": "/x",
 "device": "8:1 sda1"}, "socket": "tcp"}, "stack": ["a+0x1/0x2", "b"], "woken_by":
 {"from": "thread", "tid": 7, "comm": "w"}}]})",
      R"({"snapshots":[{"sequence":7,"begin":"2026-11-20T12:00:00.000Z",
 "end":"2026-11-20T12:01:00.000Z","bytes":1024,"partial":true,"off_cpu_seconds":1.5,
 "episodes":12.25,"unreadable":false}],"bytes":1024,"foreign_files":1})",
      R"({"error": "no \u001b such"})"};
}

}  // namespace offcpud::fuzz
