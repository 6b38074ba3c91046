// SPDX-License-Identifier: Apache-2.0
// Parameters of requests: the queries of every endpoint, and an answer that fits to them.
#include <string_view>

#include "api/changes_query.h"
#include "api/goroutines_query.h"
#include "api/query_parameters.h"
#include "api/snapshot_query.h"
#include "api/stall_query.h"
#include "api/top_query.h"
#include "api/unit_query.h"
#include "api/why_query.h"
#include "fuzz.h"
#include "text.h"

namespace offcpud::fuzz {
namespace {

// A refusal quotes what came: it is printed by terminals and logs.
template <class Query>
bool is_accepted(const Result<Query>& query) {
  if (query) return true;
  require(query.error().kind() == ErrorKind::Usage, "a wrong parameter is the user's error");
  require(is_printable(query.error().message()), "a refusal is one line of text");
  require(query.error().message().size() < 2'048, "of bounded length");
  return false;
}

}  // namespace

void test(std::string_view input) {
  Parameters parameters;
  ByteReader in(bytes_of(input));
  const auto path = static_cast<SnapshotQuery::Path>(in.take<std::uint8_t>() % 4);
  std::string_view rest = text_of(in.rest());
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    parameters.emplace(pair.substr(0, equals), pair.substr(std::min(equals + 1, pair.size())));
  }
  const WallTime now(std::chrono::seconds(1'795'176'000));
  const auto snapshots = SnapshotQuery::parse(path, parameters, now);
  if (is_accepted(snapshots)) {
    require(snapshots->length >= std::chrono::seconds(1) &&
                snapshots->length <= SnapshotQuery::kMostLength,
            "the time to come is bounded");
    require(snapshots->filter.reasons.any(), "some reason is asked for");
    require(snapshots->filter.wait_for.any(), "waits for something are asked for");
  }
  const auto stalls = StallQuery::parse(parameters);
  if (is_accepted(stalls)) {
    require(stalls->limit <= StallQuery::kMostLimit, "a list is bounded");
    require(!stalls->kind || *stalls->kind < OFFCPUD_BLOCKED_KINDS, "a reason exists");
  }
  const auto goroutines = GoroutinesQuery::parse(parameters);
  if (is_accepted(goroutines)) {
    require(goroutines->limit <= GoroutinesQuery::kMostLimit, "a list is bounded");
    require(goroutines->pid > 0, "it is of a process");
  }
  const auto top = TopQuery::parse(parameters);
  if (is_accepted(top)) (void)top->admits(1, "comm", "process", "/cgroup");
  const auto units = UnitQuery::parse(parameters, now);
  if (is_accepted(units)) {
    require(units->window.count() >= 0, "a window is of the past");
    (void)units->admits("/system.slice");
  }
  const auto changes = ChangesQuery::parse(parameters, now);
  if (is_accepted(changes)) {
    require(changes->range.from < changes->range.to, "a range has a length");
    require(changes->base.from < changes->base.to, "so has the earlier one");
    require(changes->kinds.any(), "waits for something are compared");
    require(changes->limit <= ChangesQuery::kMostLimit, "a list is bounded");
  }
  const auto why = WhyQuery::parse(parameters, now);
  if (is_accepted(why)) {
    require(why->window.count() > 0, "a window has a length");
    require(why->limit <= WhyQuery::kMostLimit, "a list is bounded");
  }
  for (const auto& [name, value] : parameters) require(parameters.count(name) > 0, "it is there");
}

std::vector<std::string> seeds() {
  return {
      "\x01"
      "from=-10min&to=now&cgroup=/system.slice&reason=disk,lock&pid=7",
      "\x02"
      "format=folded&threads=user&frames=kernel&idle=false&stack=00c0ffee00c0ffee",
      "\x03"
      "base_from=2026-11-20T12:00:00Z&base_to=now&normalize=true&comm=nginx",
      "\x00"
      "seconds=30&min_duration=1ms&max_duration=10s&kernel_threads=false&tid=8",
      "\x01"
      "for=lock,answer,unknown&site=postgresql-heavyweight-lock&reason=poll",
      "\x00"
      "sequence=42&frame=read&state=in_progress&limit=20&ended=true",
      "\x00"
      "sort=actionable&reverse=true&threads=true&cpu=3&pinned=true&filter=a%20b",
      "\x00"
      "window=5min&below=false&history=true&limit=10",
      "\x00"
      "from=-10min&base_from=-2h&base_to=-1h&unit=nginx&for=cpu,throttled,lock&limit=5&format=text",
      "\x00"
      "unit=nginx.service&window=5min&limit=3&format=json",
      "\x00&&=&a&a=1&a=2"};
}

}  // namespace offcpud::fuzz
