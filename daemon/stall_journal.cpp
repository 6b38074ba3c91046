// SPDX-License-Identifier: Apache-2.0
#include "stall_journal.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "api/syscall_names.h"
#include "base/amount_text.h"
#include "base/duration_text.h"
#include "base/hist_kind.h"
#include "base/printable.h"
#include "base/text.h"
#include "runtime/message_ids.h"

namespace offcpud {
namespace {

constexpr std::size_t kStackFrames = 8;  // the innermost; /api/v1/stalls has all

// For programs.
std::string seconds_text(std::uint64_t ns) {
  constexpr std::uint64_t kMillisecond = 1'000'000;
  std::array<char, 32> text{};
  (void)std::snprintf(text.data(), text.size(), "%llu.%03llu",
                      static_cast<unsigned long long>(ns / (1000 * kMillisecond)),
                      static_cast<unsigned long long>(ns / kMillisecond % 1000));
  return text.data();
}

std::string for_people(const Stall& stall) {
  return duration_text(std::chrono::nanoseconds(stall.duration_ns));
}

std::string syscall_text(const WaitDetail& detail) {
  if (!detail.syscall) return {};
  const std::string name = syscall_name(*detail.syscall, detail.compat);
  return name.empty() ? std::to_string(*detail.syscall) : name;
}

// For example "futex 0x7f12 held by worker[1250]" or "fd 7 socket tcp ...".
std::string waits_for_text(const WaitDetail& detail) {
  std::string text;
  const auto append = [&](const std::string& part) { text += (text.empty() ? "" : " ") + part; };
  if (detail.futex_address) append("futex 0x" + hexadecimal(*detail.futex_address));
  if (detail.owner_tid) {
    append("held by " + numbered(detail.owner_comm, *detail.owner_tid));
  }
  if (detail.fd) append("fd " + std::to_string(*detail.fd));
  if (!detail.file.empty()) append(printable(detail.file));
  if (!detail.socket.empty()) append(printable(detail.socket));
  if (!detail.device.empty()) append("on " + printable(detail.device));
  return text;
}

std::string stack_text(std::span<const std::string> frames) {
  std::string text;
  std::string_view before;
  for (const std::string& frame : frames.first(std::min(frames.size(), kStackFrames))) {
    text.append(before).append(printable(frame));
    before = " < ";
  }
  return text;
}

// "lock at postgresql-heavyweight-lock (poll)", no word twice; the reason where nothing examined
// its stack.
std::string why_text(const Stall& stall) {
  std::string reason(kHistKindNames[stall.kind]);
  if (!stall.wait) return reason;
  std::string text(name_of(stall.wait->wait_for));
  const std::string site = printable(stall.wait->site);
  const bool says_more = reason != text;
  if (!site.empty() && site != text) text += " at " + site;
  return says_more ? text + " (" + reason + ")" : text;
}

// Of a stall that was taken back.
const char* verdict_text(const Stall& stall) {
  const bool is_idle_wait = stall.wait && is_idle(stall.wait->wait_for);
  return is_idle_wait ? " but is no stall: " : " but is no certain stall: ";
}

std::string woken_by_text(const Stall& stall) {
  if (!stall.woken_from) return {};
  std::string text(kWakerNames[*stall.woken_from]);
  if (stall.waker_tid != 0) text += " " + numbered(stall.waker_comm, stall.waker_tid);
  return text;
}

// For example "server/worker[100/110]"; a process with its thread's name is not repeated.
std::string name_text(const Stall& stall) {
  std::string name = printable(stall.comm);
  if (!stall.process_comm.empty() && stall.process_comm != stall.comm) {
    name.insert(0, printable(stall.process_comm) + "/");
  }
  return name + "[" + std::to_string(stall.local_tgid) + "/" + std::to_string(stall.local_tid) +
         "]";
}

std::string thread_text(const Stall& stall) {
  return name_text(stall) + " in " + printable(stall.labels->cgroup);
}

// What stalls of one incident have in common; empty: the stall is one of its own. In a deadlock
// each waits for another lock, so the lock is left out if the site is known.
std::string cause_of(const Stall& stall) {
  const std::string site = stall.wait ? stall.wait->site : std::string();
  const std::string what =
      site.empty() && stall.detail ? waits_for_text(*stall.detail) : std::string();
  if (site.empty() && what.empty()) return {};
  std::string cause = why_text(stall);
  for (const std::string& part : {what, stall.labels->cgroup, stall.process_comm}) {
    cause.append(1, '\0').append(part);
  }
  return cause;
}

StallId id_of(const Stall& stall) {
  return {stall.tid, stall.since_ns};
}

// "; with 2 more: server/auditor[100/111] (futex 0x7f50), ..."
std::string others_text(const Stall& stall, const OtherStalls& others) {
  if (others.count == 0) return {};
  const auto what = [](const Stall& of) {
    return of.detail ? waits_for_text(*of.detail) : std::string();
  };
  std::string text = "; with " + count_text(others.count) + " more: ";
  for (const auto& other : others.named) {
    if (other != others.named.front()) text += ", ";
    text += name_text(*other);
    if (const std::string waits_for = what(*other); waits_for != what(stall)) {
      text += " (" + (waits_for.empty() ? "not looked up yet" : waits_for) + ")";
    }
  }
  return others.count > others.named.size() ? text + ", ..." : text;
}

// Leaves out fields without a value.
class Fields {
 public:
  void add(std::string_view name, std::string value) {
    if (!value.empty()) fields_.push_back({name, std::move(value)});
  }
  std::vector<LogField> take() { return std::move(fields_); }

 private:
  std::vector<LogField> fields_;
};

std::vector<LogField> fields_of(const Stall& stall, const OtherStalls& others,
                                const char* message_id) {
  const WaitDetail detail = stall.detail.value_or(WaitDetail{});
  Fields fields;
  fields.add(kMessageId, message_id);
  fields.add("tid", std::to_string(stall.local_tid));
  fields.add("pid", std::to_string(stall.local_tgid));
  fields.add("threads", std::to_string(others.count + 1));
  fields.add("comm", printable(stall.comm));
  fields.add("process", printable(stall.process_comm));
  fields.add("cgroup", printable(stall.labels->cgroup));
  fields.add("unit", printable(stall.labels->unit));
  fields.add("reason", std::string(kHistKindNames[stall.kind]));
  if (stall.wait) {
    fields.add("for", std::string(name_of(stall.wait->wait_for)));
    fields.add("site", printable(stall.wait->site));
    fields.add("user_stack", stack_text(stall.wait->user));
  }
  fields.add("duration_seconds", seconds_text(stall.duration_ns));
  fields.add("syscall", syscall_text(detail));
  fields.add("waits_for", waits_for_text(detail));
  fields.add("stack", stack_text(detail.stack));
  if (stall.ended) fields.add("woken_by", woken_by_text(stall));
  return fields.take();
}

}  // namespace

StallEntry stall_begun_entry(const Stall& stall, const OtherStalls& others) {
  std::string message =
      thread_text(stall) + " is blocked for " + for_people(stall) + ": " + why_text(stall);
  if (stall.detail) {
    const std::string syscall = syscall_text(*stall.detail);
    const std::string waits_for = waits_for_text(*stall.detail);
    if (!syscall.empty()) message += ", in " + syscall;
    if (!waits_for.empty()) message += ", waits for " + waits_for;
  }
  message += others_text(stall, others);
  return {std::move(message), fields_of(stall, others, kStallBegunId)};
}

StallEntry stall_ended_entry(const Stall& stall, const OtherStalls& others) {
  std::string message = thread_text(stall);
  const std::string duration = for_people(stall);
  if (stall.taken_back) {
    message += " has been blocked for " + duration + verdict_text(stall) + why_text(stall) +
               others_text(stall, others);
    return {std::move(message), fields_of(stall, others, kStallEndedId)};
  }
  message += stall.ended_at ? " was blocked for " + duration
                            : " was blocked for at least " + duration + ", its end was not seen";
  message += ": " + why_text(stall);
  if (const std::string waker = woken_by_text(stall); !waker.empty())
    message += ", woken from " + waker;
  message += others_text(stall, others);
  return {std::move(message), fields_of(stall, others, kStallEndedId)};
}

void ToldStalls::add(const std::shared_ptr<const Stall>& stall) {
  if (!oldest) {
    oldest = stall;
    return;
  }
  ++others.count;
  const bool is_older = stall->duration_ns > oldest->duration_ns;
  auto other = is_older ? std::exchange(oldest, stall) : stall;
  if (others.named.size() < kOthers) others.named.push_back(std::move(other));
}

void StallJournal::log_begin(const ToldStalls& stalls) {
  if (!budget_.admit(stalls.size())) return;
  const StallEntry entry = stall_begun_entry(*stalls.oldest, stalls.others);
  log_warning(entry.message, entry.fields);
}

void StallJournal::log_end(const ToldStalls& stalls) {
  if (!budget_.admit(stalls.size())) return;
  const StallEntry entry = stall_ended_entry(*stalls.oldest, stalls.others);
  log_info(entry.message, entry.fields);
}

// The incident that a stall belongs to; null: it is one of its own.
StallJournal::Incident* StallJournal::incident_of(const std::string& cause) {
  if (cause.empty()) return nullptr;
  if (incidents_.size() >= kMostIncidents && !incidents_.contains(cause)) return nullptr;
  return &incidents_[cause];
}

void StallJournal::begin(const std::shared_ptr<const Stall>& stall) {
  const std::string cause = cause_of(*stall);
  Incident* const incident = incident_of(cause);
  if (incident == nullptr) {
    if (stall->ended) return;  // its end says it all
    ToldStalls alone;
    alone.add(stall);
    return log_begin(alone);
  }
  causes_[id_of(*stall)] = cause;
  ++incident->stuck;
  if (!stall->ended) incident->begun.add(stall);
}

void StallJournal::end(const std::shared_ptr<const Stall>& stall) {
  const auto known = causes_.extract(id_of(*stall));
  Incident* const incident = incident_of(known.empty() ? cause_of(*stall) : known.mapped());
  if (incident == nullptr) {
    ToldStalls alone;
    alone.add(stall);
    return log_end(alone);
  }
  if (!known.empty() && incident->stuck > 0) --incident->stuck;
  incident->ended.add(stall);
}

// What is due: its begin at once, its end as soon as nobody is stuck, but a minute after the line
// before. Threads that join an incident which is told have no line.
void StallJournal::tell(Incident& incident) {
  const bool may_tell = !incident.told || clock_.now() - *incident.told >= kPause;
  if (!may_tell) return;
  if (incident.stuck == 0 && incident.ended.oldest) {
    log_end(incident.ended);
    incident = {.told = clock_.now()};
  } else if (incident.begun.oldest && !incident.is_told) {
    log_begin(incident.begun);
    incident.told = clock_.now();
    incident.is_told = true;
  }
}

void StallJournal::record(const StallChanges& changes) {
  if (const std::uint64_t left_out = budget_.take_left_out(); left_out > 0) {
    const std::string count = std::to_string(left_out);
    log_warning(count + " stalls that began or ended were left out of the log: it takes " +
                    std::to_string(kLinesPerMinute) +
                    " a minute; 'offcpuctl stalls --all' shows the last ones",
                {{kMessageId, kStallsLeftOutId}, {"left_out", count}});
  }
  for (const auto& stall : changes.begun) begin(stall);
  for (const auto& stall : changes.ended) end(stall);
  for (auto& [cause, incident] : incidents_) tell(incident);
  std::erase_if(incidents_, [this](const auto& each) {
    const Incident& incident = each.second;
    const bool is_over = incident.stuck == 0 && !incident.begun.oldest && !incident.ended.oldest;
    return is_over && (!incident.told || clock_.now() - *incident.told >= kPause);
  });
}

}  // namespace offcpud
