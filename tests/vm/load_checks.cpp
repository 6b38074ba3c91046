// SPDX-License-Identifier: Apache-2.0
// Forks, cpu.max and cgroups that come and go, and what was lost over all loads.
#include <sched.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <string>

#include "checks.h"
#include "child_process.h"
#include "kernel_objects.h"
#include "reading.h"
#include "report.h"

namespace offcpud::test {
namespace {

using ull = unsigned long long;

constexpr unsigned kCrowds = 2;
constexpr unsigned kForks = 300;             // of each crowd
constexpr unsigned kLossesPerEpisode = 100;  // at most one loss in so many, where any is allowed

}  // namespace

// Threads that come and go: their state is made at fork and dies with them.
void check_forks(BpfReadingSource& source, const Cgroup& cgroup) {
  std::array<pid_t, kCrowds> crowds{};
  for (pid_t& crowd : crowds) {
    crowd = fork_to([&] {
      cgroup.add(::getpid());
      for (unsigned i = 0; i < kForks; ++i) {
        reap(fork_to([] {
          ::sched_yield();
          ::_exit(0);
        }));
      }
      ::_exit(0);
    });
  }
  for (const pid_t crowd : crowds) reap(crowd);
  const Counts seen = counts_of(sample(source), cgroup.id);
  const std::uint64_t woken = seen.episodes[OFFCPUD_RUNQ_WAKEUP];
  check(seen.running_ns > 0 && woken >= kCrowds * kForks * 99 / 100, "forks",
        text("%u processes, %llu times queued by a wakeup", kCrowds * kForks, ull{woken}));
}

// A process that wants all of a CPU gets a fifth of it.
void check_throttled(BpfReadingSource& source, const FeatureReport& features) {
  write_to(std::string(kCgroups) + "/cgroup.subtree_control", "+cpu");
  const Cgroup limited("probe-limited.slice");
  write_to(limited.path + "/cpu.max", "20000 100000");
  const pid_t spinner = fork_to([&] {
    limited.add(::getpid());
    const std::uint64_t end = now_ns() + 1'000'000'000;
    while (now_ns() < end) {
    }
    ::_exit(0);
  });
  reap(spinner);
  const Counts seen = counts_of(sample(source), limited.id);
  limited.remove();

  const std::uint64_t throttled = seen.episodes[OFFCPUD_RUNQ_THROTTLED];
  const double waited = static_cast<double>(seen.queued_ns) / 1e6;
  const bool told_apart = features.has("throttled");
  check((told_apart ? throttled >= 3 : throttled == 0) && waited > 500, "throttled",
        text("%llu episodes, %s; queued for %.1f ms", ull{throttled},
             told_apart ? "told apart" : "not told apart", waited));
}

void check_cgroup_events(CgroupEvents* events, const Cgroup& cgroup) {
  if (!events) {
    check(true, "cgroup-events", "none, as the feature says");
    return;
  }
  const std::uint64_t root = cgroup_id_of(kCgroups);
  bool created = false, removed = false;
  const auto status = events->drain([&](const CgroupChange& change) {
    if (change.id != cgroup.id) return;
    created |= change.kind == CgroupChange::Kind::Created && change.name == cgroup.name &&
               change.parent_id == root;
    removed |= change.kind == CgroupChange::Kind::Removed;
  });
  check(status && created && removed, "cgroup-events",
        text("%screated with its name, %sremoved", created ? "" : "not ", removed ? "" : "not "));
}

// Nothing may be lost, with one exception. Before 6.4 task storage refuses a look-up while the same
// CPU is inside another one (bpf_task_storage_trylock): an interrupt during a fork or an exit whose
// wakeup cannot be recorded, or under preempt=full the threads that run instead of the forking one.
void check_losses(const BpfSession& session, BpfReadingSource& source,
                  const FeatureReport& features) {
  const KernelReading read = sample(source);
  std::uint64_t episodes = 0, refused = 0;
  for (const CgroupReading& cgroup : read.cgroups) {
    for (const auto& histogram : cgroup.histograms) episodes += histogram ? histogram->count() : 0;
  }
  for (const LossCount& loss : read.losses) {
    const bool follows = loss.cause == "no_thread_state" || loss.cause == "missed_wakeup" ||
                         loss.cause == "missed_switch";
    if (follows && !features.has("late_thread_state")) refused += loss.events;
  }
  for_each_program(session, [](const char* name, const bpf_prog_info& info) {
    if (info.recursion_misses != 0) say(text("MISSES %s %llu", name, info.recursion_misses));
  });
  check(total(read.losses) == refused && refused * kLossesPerEpisode <= episodes, "losses",
        text("%llu of %llu episodes: ", ull{total(read.losses)}, ull{episodes}) +
            in_words(read.losses));
}

}  // namespace offcpud::test
