// SPDX-License-Identifier: Apache-2.0
#include "api/stalls_json.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>

#include "api/holder_state.h"
#include "api/json_or_null.h"
#include "api/labels_json.h"
#include "api/releasers_json.h"
#include "api/stall_query.h"
#include "api/syscall_names.h"
#include "api/why_sources.h"
#include "attribution/unit_names.h"
#include "base/hist_kind.h"
#include "base/text.h"
#include "base/utc.h"
#include "holders/lock_holder.h"
#include "pipeline/stall_peers.h"
#include "why/lock_releasers.h"

namespace offcpud {
namespace {

using Json = nlohmann::ordered_json;

// Most readers hold JSON numbers as doubles, into which addresses do not fit.
std::string address_text(std::uint64_t value) {
  return "0x" + hexadecimal(value);
}

Json texts_json(std::span<const std::string> texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(text);
  return list;
}

// Any argument may be a pointer; /proc/PID/syscall hides them all from other users.
Json syscall_json(const WaitDetail& detail, const StallSight& sight) {
  if (!detail.syscall) return nullptr;
  Json json = {{"number", *detail.syscall},
               {"name", text_or_null(syscall_name(*detail.syscall, detail.compat))}};
  if (sight.addresses) {
    Json arguments = Json::array();
    for (const std::uint64_t each : detail.arguments) arguments.push_back(address_text(each));
    json["arguments"] = std::move(arguments);
  }
  if (detail.compat) json["compat"] = true;
  return json;
}

Json futex_json(const WaitDetail& detail, std::uint32_t tgid, const StallSight& sight) {
  Json futex = Json::object();
  if (sight.names != nullptr) {
    if (std::string id = sight.names->of(tgid, *detail.futex_address); !id.empty()) {
      futex["id"] = std::move(id);
    }
  }
  if (sight.addresses) futex["address"] = address_text(*detail.futex_address);
  if (detail.owner_tid) {
    futex["owner"] = {{"tid", *detail.owner_tid}, {"comm", text_or_null(detail.owner_comm)}};
  }
  return futex;
}

// True for the kernel's names of files without a path: they tell the type, not the owner.
bool is_kind_of_file(const std::string& name) {
  return name == "socket" || name == "pipe" || name.starts_with("anon_inode:");
}

Json file_json(const WaitDetail& detail, const StallSight& sight) {
  Json file = Json::object();
  if (detail.fd) file["fd"] = *detail.fd;
  if (!detail.file.empty() && (sight.addresses || is_kind_of_file(detail.file))) {
    file["path"] = detail.file;
  }
  if (!detail.device.empty()) file["device"] = detail.device;
  if (!detail.fifo_lacks.empty()) file["lacks"] = detail.fifo_lacks;
  return file;
}

Json waits_for_json(const WaitDetail& detail, std::uint32_t tgid, const StallSight& sight) {
  Json waits_for = Json::object();
  if (detail.futex_address) waits_for["futex"] = futex_json(detail, tgid, sight);
  if (Json file = file_json(detail, sight); !file.empty()) waits_for["file"] = std::move(file);
  if (!detail.socket.empty()) waits_for["socket"] = detail.socket;
  return waits_for;
}

// What the holder does now; unknown for a stall that has ended, and for a holder that is a process.
HolderState state_of_holder(const Stall& stall, const LockHolder& holder, const View& view) {
  return stall.ended || !holder.is_thread() ? HolderState{} : holder_state(view, holder);
}

// Left out where nobody can tell who holds the lock.
void append_held_by(Json& json, const Stall& stall, const StallPeers& peers, const View& view) {
  const HeldWait* const held = peers.held(stall);
  if (held == nullptr) return;
  const LockHolder& holder = *held->holder;
  const bool thread = holder.is_thread();
  json["held_by"] = {{"lock", name_of(holder.kind)},
                     {"pid", number_or_null(holder.process.local_tgid)},
                     {"process", text_or_null(comm_text(holder.process.comm))},
                     {"tid", thread ? number_or_null(holder.local_tid) : Json(nullptr)},
                     {"comm", thread ? text_or_null(comm_text(holder.comm)) : Json(nullptr)},
                     {"cgroup", held->holder_cgroup},
                     {"deadlock", peers.is_deadlocked(stall)}};
  const HolderState state = state_of_holder(stall, holder, view);
  append_deed(json["held_by"], state.does, state.age);
}

// Who ended waits for locks before, by site: the best guess at who holds one whose holder nobody
// can see.
class Releasers {
 public:
  explicit Releasers(const View& view) : view_(view) {}

  // Left out where a holder is known, where it is no lock, and where too little was seen.
  void append(Json& json, const Stall& stall, const StallPeers& peers) {
    const bool is_lock = stall.wait != nullptr && stall.wait->wait_for == WaitFor::Lock;
    if (stall.ended || !is_lock || peers.held(stall) != nullptr) return;
    if (!releases_) releases_ = releases_of(view_, names_);
    const std::string& unit = names_.of(stall.labels->cgroup);
    if (const auto found = releasers_of(*releases_, unit, stall.wait->site)) {
      json["released_by"] = releasers_json(found);
    }
  }

 private:
  const View& view_;
  UnitNames names_;
  std::optional<Source<UnitRelease>> releases_;  // once a stall needs them
};

// The kernel writes an address in place of a function that it has no name for.
Json stack_json(const Stall& stall, const WaitDetail& detail, const StallSight& sight) {
  if (!stall.detail && stall.wait) return texts_json(stall.wait->kernel);
  Json stack = Json::array();
  for (const std::string& frame : detail.stack) {
    stack.push_back(sight.addresses || !frame.starts_with("0x") ? frame : "[unknown]");
  }
  return stack;
}

Json woken_by_json(const Stall& stall) {
  if (!stall.woken_from) return nullptr;
  return {{"from", kWakerNames[*stall.woken_from]},
          {"tid", number_or_null(stall.waker_tid)},
          {"comm", text_or_null(stall.waker_comm)}};
}

// null: nothing examined its stack in time, so its reason made it a stall.
void append_wait(Json& json, const Stall& stall) {
  const ExaminedWait* wait = stall.wait.get();
  json["for"] = wait != nullptr ? Json(name_of(wait->wait_for)) : Json(nullptr);
  json["site"] = wait != nullptr ? text_or_null(wait->site) : Json(nullptr);
  json["certain"] = wait != nullptr ? Json(wait->certain) : Json(nullptr);
  json["user_stack"] = texts_json(wait != nullptr ? wait->user : SharedTexts());
}

// Left out where nobody knows.
void append_waits_on(Json& json, const PeerWaits* peer) {
  if (peer == nullptr) return;
  json["waits_on"] = {{"on", peer->on}};
  if (peer->peer_pid == 0) return;
  json["waits_on"]["pid"] = peer->peer_pid;
  json["waits_on"]["comm"] = peer->peer_comm;
}

// null: it is in progress, or nobody saw its end. `taken`: the time of the pass.
Json ended_ago_json(const Stall& stall, WallTime taken) {
  if (!stall.ended_at) return nullptr;
  return std::max(0.0, std::chrono::duration<double>(taken - *stall.ended_at).count());
}

Json stall_json(const Stall& stall, const StallPeers& peers, const StallSight& sight,
                const View& view) {
  Json json = {{"state", stall.ended ? "ended" : "in_progress"},
               {"told", stall.told},
               {"since", rfc3339(stall.since)},
               {"duration_seconds", static_cast<double>(stall.duration_ns) / kNsPerSecond},
               {"estimated", stall.estimated},
               {"pid", number_or_null(stall.local_tgid)},
               {"tid", number_or_null(stall.local_tid)},
               {"comm", stall.comm},
               {"process", text_or_null(stall.process_comm)}};
  append_labels(json, *stall.labels);
  json["reason"] = kHistKindNames[stall.kind];
  append_wait(json, stall);
  json["examined"] = stall.detail.has_value();
  const WaitDetail detail = stall.detail.value_or(WaitDetail{});
  json["syscall"] = syscall_json(detail, sight);
  json["waits_for"] = waits_for_json(detail, stall.tgid, sight);
  append_waits_on(json, peers.of(stall));
  append_held_by(json, stall, peers, view);
  json["stack"] = stack_json(stall, detail, sight);
  json["ended_at"] = stall.ended_at ? Json(rfc3339(*stall.ended_at)) : Json(nullptr);
  json["ended_ago_seconds"] = ended_ago_json(stall, view.taken_wall);
  json["woken_by"] = woken_by_json(stall);
  return json;
}

// The number of blocks of the host that are no stalls, by what they wait for; null: reasons decide.
Json untold_json(const StallList* stalls) {
  if (stalls == nullptr || !stalls->examines) return nullptr;
  Json counts = Json::object();
  for (const WaitFor each : {WaitFor::Work, WaitFor::Timer, WaitFor::Unknown}) {
    counts[std::string(name_of(each))] = stalls->untold_blocks[static_cast<std::size_t>(each)];
  }
  // Waits for an answer are no stalls only if they are for a child.
  counts["child"] = stalls->untold_blocks[static_cast<std::size_t>(WaitFor::Answer)];
  return counts;
}

Json usual_json(const UsualWaits& usual) {
  const auto seconds = [](std::uint64_t ns) { return static_cast<double>(ns) / kNsPerSecond; };
  return {{"waits", std::llround(usual.waits)},
          {"p99_seconds", seconds(usual.p99_ns)},
          {"longest_seconds", seconds(usual.longest_ns)},
          {"seen_seconds", seconds(usual.seen_ns)}};
}

// null: nobody looks for unusual waits.
Json unusual_json(const View& view, const StallQuery& wanted, const StallSight& sight) {
  if (!view.tells_unusual) return nullptr;
  const StallPeers peers(view);
  Json list = Json::array();
  for (const UnusualWait& wait : view.unusual) {
    if (list.size() == wanted.limit || !wanted.admits_unusual(*wait.stall)) continue;
    list.push_back(stall_json(*wait.stall, peers, sight, view));
    list.back()["usual"] = usual_json(*wait.usual);
  }
  return list;
}

}  // namespace

Result<std::string> stalls_json(const View& view,
                                const std::multimap<std::string, std::string>& query,
                                const StallSight& sight) {
  TRY(const StallQuery wanted, StallQuery::parse(query));
  const StallPeers peers(view);
  Releasers releasers(view);
  Json list = Json::array();
  std::size_t matching = 0;
  std::uint64_t dropped = 0;
  if (view.stalls) {
    dropped = view.stalls->dropped;
    for (const auto* stalls : {&view.stalls->stalls, &view.stalls->untold}) {
      for (const auto& stall : *stalls) {
        if (!wanted.admits(*stall)) continue;
        if (++matching > wanted.limit) continue;
        list.push_back(stall_json(*stall, peers, sight, view));
        releasers.append(list.back(), *stall, peers);
      }
    }
  }
  const Json json = {{"taken", rfc3339(view.taken_wall)},
                     {"dropped", dropped},
                     {"not_told", untold_json(view.stalls.get())},
                     {"beyond_limit", view.stalls ? view.stalls->beyond_limit() : 0},
                     {"matching", matching},
                     {"addresses", sight.addresses},
                     {"stalls", std::move(list)},
                     {"unusual", unusual_json(view, wanted, sight)}};
  return json.dump(2, ' ', true, Json::error_handler_t::replace) + '\n';
}

}  // namespace offcpud
