// SPDX-License-Identifier: Apache-2.0
#include "api/changes_handler.h"

#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "api/changes_json.h"
#include "api/changes_query.h"
#include "api/error_response.h"
#include "changes/changes.h"
#include "changes/chosen_ranges.h"

namespace offcpud {
namespace {

unsigned status_of_unread_ranges(const Error& error) {
  return error.kind() == ErrorKind::Usage ? 400 : 404;
}

struct ChangesRequest {
  ChangesQuery query;
  bool cgroup_is_there = false;
  bool sees_details = false;
  std::shared_ptr<const View> view;
  CpuSteps cpu_history;
};

// One request's work.
class ChangesAnswer {
 public:
  ChangesAnswer(const SnapshotLibrary& library, const ChangesRequest& request)
      : library_(library), request_(request), used_(request.query) {}

  Response make(const std::stop_token& stop) {
    const std::vector<StoredSnapshot> kept = library_.list();
    const WallTime last = kept.empty() ? WallTime::min() : kept.back().name.end;
    auto windows = recent(last);
    const auto snapshots = choose_snapshots(kept, used_, !windows.empty());
    if (!snapshots) {
      return error(status_of_unread_ranges(snapshots.error()), snapshots.error().message());
    }
    windows = recent(last);  // the range may have become shorter
    if (!add(before_, snapshots->before, stop) || !add(after_, snapshots->after, stop)) {
      return error(503, "offcpud is stopping");
    }
    // Windows hold what the configuration keeps out of snapshots.
    const bool all_is_kept = before_.range().captured.empty() && after_.range().captured.empty();
    if (all_is_kept) {
      for (const auto& [window, end] : windows) after_.add(*window, end);
    }
    add_cpu(before_, used_.base);
    add_cpu(after_, used_.range);
    return answer();
  }

 private:
  [[nodiscard]] std::vector<RecentWindow> recent(WallTime since) const {
    return request_.view ? recent_windows(*request_.view, used_.range, since)
                         : std::vector<RecentWindow>();
  }

  // False: the daemon stops.
  bool add(RangeSums& sums, const std::vector<StoredSnapshot>& snapshots,
           const std::stop_token& stop) const {
    for (const StoredSnapshot& stored : snapshots) {
      if (stop.stop_requested()) return false;
      const auto snapshot = library_.load(stored.name.sequence);
      if (!snapshot) {
        sums.count_unreadable();
      } else if (*snapshot) {
        sums.add(**snapshot);
      }
    }
    return true;
  }

  void add_cpu(RangeSums& sums, const ChangesQuery::Range& range) const {
    static const std::vector<std::shared_ptr<const WaitStep>> nothing;
    const auto& history = request_.view ? request_.view->history : nothing;
    for (const auto& step : cpu_steps(request_.cpu_history, history, range)) sums.add(*step);
  }

  [[nodiscard]] Response answer() const {
    const ChangesQuery& query = request_.query;
    if (before_.range().covered.count() == 0 || after_.range().covered.count() == 0) {
      return error(404, "the snapshots of these ranges cannot be read, or are no longer kept");
    }
    const bool has_cgroup = before_.has_cgroup() || after_.has_cgroup();
    if (!has_cgroup && !request_.cgroup_is_there) {
      return error(404, unknown_cgroup(query.cgroup, "in these ranges").message());
    }
    Changes changes = changes_between(before_, after_, used_);
    changes.asked = query.range;
    changes.asked_base = query.base;
    auto notes = notes_on_ranges(query, used_, changes.before, changes.after);
    notes.insert(notes.end(), changes.notes.begin(), changes.notes.end());
    if (!request_.sees_details) {
      notes.emplace_back("sites are shown to clients that may see details");
    }
    changes.notes = std::move(notes);
    if (!query.as_text) return {.content_type = kJson, .body = changes_json(changes)};
    return {.content_type = kPlainText, .body = changes_text(changes, used_)};
  }

  const SnapshotLibrary& library_;
  const ChangesRequest& request_;
  ChangesQuery used_;
  RangeSums before_{used_, request_.sees_details}, after_{used_, request_.sees_details};
};

}  // namespace

ChangesHandler::ChangesHandler(const SnapshotLibrary& library, RequestWorker& worker,
                               const Clock& clock, IsLiveCgroup is_live)
    : library_(library), worker_(worker), clock_(clock), is_live_(std::move(is_live)) {}

Response ChangesHandler::changes(const Request& request, std::shared_ptr<const View> view,
                                 CpuSteps cpu_history) const {
  auto query = ChangesQuery::parse(request.query, clock_.wall());
  if (!query) return error(400, query.error().message());
  if (!request.sees_details && !query->site.empty()) {
    return error(400, "parameter site: this client may not see sites; leave it out");
  }
  ChangesRequest asked{.query = *std::move(query),
                       .sees_details = request.sees_details,
                       .view = std::move(view),
                       .cpu_history = std::move(cpu_history)};
  asked.cgroup_is_there = is_there(asked.query.cgroup, is_live_);
  return worker_.respond([this, asked = std::move(asked)](const std::stop_token& stop) {
    return ChangesAnswer(library_, asked).make(stop);
  });
}

}  // namespace offcpud
