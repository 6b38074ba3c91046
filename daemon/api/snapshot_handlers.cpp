// SPDX-License-Identifier: Apache-2.0
#include "api/snapshot_handlers.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "api/error_response.h"
#include "api/snapshot_json.h"
#include "base/summary_header.h"
#include "base/utc.h"
#include "http/body_stream.h"
#include "snapshot/folded_text.h"
#include "snapshot/pprof.h"
#include "snapshot/snapshot_name.h"

namespace offcpud {
namespace {

using Json = nlohmann::ordered_json;
using Path = SnapshotQuery::Path;

constexpr const char* kBytes = "application/octet-stream";

std::string text_of(const Json& value) {
  return value.dump(2, ' ', true, Json::error_handler_t::replace) + '\n';
}

Response json_of(std::string text) {
  return {.content_type = kJson, .body = stream_of(std::move(text))};
}

Response download(const char* type, BodyStream body, const std::string& file) {
  return {.content_type = type,
          .body = std::move(body),
          .headers = {{"Content-Disposition", "attachment; filename=\"" + file + "\""}}};
}

// "offcpu-20261120T120000Z.folded"
std::string file_name(const Snapshot& snapshot, const char* kind, const char* suffix) {
  return std::string(kind) + "-" + compact_utc(snapshot.begin) + suffix;
}

template <class Stacks>
Response formatted(const Stacks& stacks, const Snapshot& snapshot, const SnapshotQuery& query,
                   const char* kind) {
  if (query.format == SnapshotFormat::Pprof) {
    auto bytes = pprof_of(stacks);
    if (!bytes) return error(500, bytes.error().message());
    return download(kBytes, stream_of(*std::move(bytes)), file_name(snapshot, kind, ".pb.gz"));
  }
  const bool wakers = query.format == SnapshotFormat::OffWake;
  auto text = std::make_shared<FoldedText>(
      stacks, FoldedText::Options{.wakers = wakers, .annotate_kernel = query.annotate_kernel});
  return download(
      kPlainText, [text](std::span<char> buffer) { return text->read(buffer); },
      file_name(snapshot, kind, wakers ? ".offwake.folded" : ".folded"));
}

Response with_summary(Response response, std::string summary) {
  response.headers.emplace_back(kSummaryHeader, std::move(summary));
  return response;
}

// Says which snapshots exist, so that the next request finds one. `which`: the range that has none.
Response nothing_kept(const SnapshotLibrary& library, const SnapshotRange& range,
                      const std::string& which = "this range") {
  const auto all = library.list();
  std::string sentence = "there is no snapshot ";
  sentence += range.sequence ? std::to_string(*range.sequence) : "in " + which + " of time";
  if (all.empty()) {
    sentence += "; none is kept so far";
  } else {
    sentence += "; the kept ones are from " + rfc3339(all.front().name.begin) + " to " +
                rfc3339(all.back().name.end);
  }
  return error(404, sentence);
}

// The refusal of a cgroup that is in none of the snapshots; nullopt: there is nothing to refuse.
std::optional<Response> no_such_cgroup(const SnapshotQuery& query, bool has_cgroup) {
  if (has_cgroup || query.cgroup_is_there) return std::nullopt;
  return error(404, unknown_cgroup(query.filter.cgroup, "in these snapshots").message());
}

MergedFrom from(const MergedSnapshots& merged) {
  return {.snapshots = merged.snapshots, .unreadable = merged.unreadable};
}

Response stopping() {
  return error(503, "offcpud is stopping");
}

Response answer_merge(const SnapshotLibrary& library, const SnapshotQuery& query,
                      const std::stop_token& stop) {
  const MergedSnapshots merged = merge(library, query.range, query.filter, stop);
  if (stop.stop_requested()) return stopping();
  if (merged.snapshots == 0) return nothing_kept(library, query.range);
  if (auto refused = no_such_cgroup(query, merged.has_cgroup)) return *refused;
  const bool as_json = query.format == SnapshotFormat::Json;
  return with_summary(as_json ? json_of(snapshot_json(merged.sum, from(merged)))
                              : formatted(merged.sum, merged.sum, query, "offcpu"),
                      snapshot_summary(merged.sum, from(merged)));
}

Response answer_difference(const SnapshotLibrary& library, const SnapshotQuery& query,
                           const std::stop_token& stop) {
  const MergedSnapshots before = merge(library, query.base, query.filter, stop);
  const MergedSnapshots after = merge(library, query.range, query.filter, stop);
  if (stop.stop_requested()) return stopping();
  if (before.snapshots == 0) return nothing_kept(library, query.base, "the earlier range");
  if (after.snapshots == 0) return nothing_kept(library, query.range, "the later range");
  const bool has_cgroup = before.has_cgroup || after.has_cgroup;
  if (auto refused = no_such_cgroup(query, has_cgroup)) return *refused;
  const StackDifference difference = difference_of(before.sum, after.sum, query.normalize);
  const bool as_json = query.format == SnapshotFormat::Json;
  return with_summary(as_json ? json_of(snapshot_json(difference, from(after), from(before)))
                              : formatted(difference, difference.after, query, "offcpu-difference"),
                      snapshot_summary(difference, from(after), from(before)));
}

Json item(const StoredSnapshot& stored) {
  return {{"sequence", stored.name.sequence},
          {"begin", rfc3339(stored.name.begin)},
          {"end", rfc3339(stored.name.end)},
          {"partial", stored.name.partial},
          {"bytes", stored.bytes}};
}

// From the root on: user functions before those of the kernel.
Json functions_of(const Snapshot& snapshot, const StackEntry& entry) {
  Json functions = Json::array();
  for (const auto* ids : {&entry.user, &entry.kernel}) {
    for (const std::uint32_t id : *ids) functions.push_back(snapshot.frames[id].function);
  }
  return functions;
}

// What threads waited for, without waits for their own children: these say themselves what they
// wait for.
class SumsByFor {
 public:
  void add(const StackEntry& entry) {
    const bool is_child = entry.reason == OFFCPUD_BLOCKED_CHILD;
    std::uint64_t& sum = is_child ? child_ns_ : ns_[static_cast<std::size_t>(entry.wait_for)];
    sum += entry.ns;
  }
  void append_to(Json& item) const {
    Json by_for = Json::object();
    for (std::size_t what = 0; what < ns_.size(); ++what) {
      if (ns_[what] > 0)
        by_for[kWaitForNames[what]] = static_cast<double>(ns_[what]) / kNsPerSecond;
    }
    item["for"] = std::move(by_for);
    item["children"] = static_cast<double>(child_ns_) / kNsPerSecond;
  }

 private:
  std::array<std::uint64_t, kWaitForNames.size()> ns_{};
  std::uint64_t child_ns_ = 0;
};

// Adds to `item` how much of the snapshot the filter admits. False: nothing, so it is not listed.
// If `stack` is null, it becomes the stack of an admitted entry.
bool append_amount(Json& item, Json& stack, bool& has_cgroup, const Snapshot& snapshot,
                   const SnapshotQuery& query) {
  const FilteredEntries filtered(snapshot, query.filter);
  std::uint64_t ns = 0;
  double episodes = 0;
  SumsByFor sums;
  for (const StackEntry& entry : snapshot.entries) {
    has_cgroup = has_cgroup || query.filter.cgroup.admits(entry.cgroup);
    if (!filtered.admits(entry)) continue;
    if (stack.is_null()) stack = functions_of(snapshot, entry);
    ns += entry.ns;
    episodes += entry.episodes;
    sums.add(entry);
  }
  item["off_cpu_seconds"] = static_cast<double>(ns) / kNsPerSecond;
  item["episodes"] = episodes;
  if (query.by_for) sums.append_to(item);
  return ns > 0;
}

Response answer_list(const SnapshotLibrary& library, const SnapshotQuery& query,
                     const std::stop_token& stop) {
  const bool filtered = query.filter != SnapshotFilter{};
  const bool reads = filtered || query.by_for;
  Json list = Json::array();
  Json stack;
  std::uint64_t bytes = 0;
  std::size_t unreadable = 0;
  bool has_cgroup = false;
  for (const StoredSnapshot& stored : library.list()) {
    if (stop.stop_requested()) return stopping();
    bytes += stored.bytes;
    if (!query.range.contains(stored.name)) continue;
    Json described = item(stored);
    if (reads) {
      const auto snapshot = library.load(stored.name.sequence);
      if (!snapshot) ++unreadable;
      if (!snapshot && !filtered) described["unreadable"] = true;
      const bool is_there = snapshot && *snapshot;
      const bool has = is_there && append_amount(described, stack, has_cgroup, **snapshot, query);
      if (filtered ? !has : snapshot && !is_there) continue;
    } else if (stored.unreadable) {
      ++unreadable;
      described["unreadable"] = true;
    }
    list.push_back(std::move(described));
  }
  if (auto refused = no_such_cgroup(query, has_cgroup)) return *refused;
  Json answer = {{"snapshots", std::move(list)},
                 {"bytes", bytes},
                 {"unreadable", unreadable},
                 {"foreign_files", library.foreign_files()}};
  if (query.filter.stack) answer["stack"] = std::move(stack);  // null: it is in none of them
  return {.content_type = kJson, .body = text_of(answer)};
}

Response answer_profile(const Result<Snapshot>& taken, const SnapshotQuery& query) {
  if (!taken) {
    const bool asked_for_nobody = taken.error().kind() == ErrorKind::Usage;
    return error(asked_for_nobody ? 404 : 503, taken.error().message());
  }
  SnapshotSum sum(query.filter);
  sum.add(*taken);
  const Snapshot snapshot = sum.take();
  const MergedFrom one{.snapshots = 1};
  const bool as_json = query.format == SnapshotFormat::Json;
  return with_summary(as_json ? json_of(snapshot_json(snapshot, one))
                              : formatted(snapshot, snapshot, query, "offcpu"),
                      snapshot_summary(snapshot, one));
}

}  // namespace

SnapshotHandlers::SnapshotHandlers(const SnapshotLibrary& library, SnapshotSource& source,
                                   RequestWorker& worker, const Clock& clock, IsLiveCgroup is_live)
    : library_(library),
      source_(source),
      worker_(worker),
      clock_(clock),
      is_live_(std::move(is_live)) {}

Result<SnapshotQuery> SnapshotHandlers::parsed(Path path, const Request& request) const {
  TRY(auto query, SnapshotQuery::parse(path, request.query, clock_.wall()));
  query.cgroup_is_there = is_there(query.filter.cgroup, is_live_);
  return query;
}

Response SnapshotHandlers::list(const Request& request) const {
  auto query = parsed(Path::List, request);
  if (!query) return error(400, query.error().message());
  return worker_.respond([this, query = *std::move(query)](const std::stop_token& stop) {
    return answer_list(library_, query, stop);
  });
}

Response SnapshotHandlers::merge(const Request& request) const {
  auto query = parsed(Path::Merge, request);
  if (!query) return error(400, query.error().message());
  return worker_.respond([this, query = *std::move(query)](const std::stop_token& stop) {
    return answer_merge(library_, query, stop);
  });
}

Response SnapshotHandlers::difference(const Request& request) const {
  auto query = parsed(Path::Difference, request);
  if (!query) return error(400, query.error().message());
  return worker_.respond([this, query = *std::move(query)](const std::stop_token& stop) {
    return answer_difference(library_, query, stop);
  });
}

Response SnapshotHandlers::profile(const Request& request) const {
  auto query = parsed(Path::Profile, request);
  if (!query) return error(400, query.error().message());
  const auto start = [this, query = *std::move(query)](Later::Done done) {
    source_.take_next(
        query.length, query.capture, [this, query, done = std::move(done)](Result<Snapshot> taken) {
          // Formatting is slow: neither the sampling thread nor one that answers scrapes does it.
          auto shared = std::make_shared<const Result<Snapshot>>(std::move(taken));
          worker_.answer([shared, query] { return answer_profile(*shared, query); }, done);
        });
  };
  return {.body = Later{start}};
}

}  // namespace offcpud
