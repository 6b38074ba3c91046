// SPDX-License-Identifier: Apache-2.0
// Compares what offcpud counted for the measured process with what the process and the kernel say.
#include <chrono>
#include <cstdint>

#include "checks.h"
#include "measured_process.h"
#include "reading.h"
#include "report.h"

namespace offcpud::test {
namespace {

using ull = unsigned long long;

struct Comparison {
  Counts seen;
  std::uint64_t lost;
  Switches switches;
  Truth truth;
  std::uint64_t asleep_before_ns, asleep_after_ns;  // when it was seen to wait in settle()

  [[nodiscard]] std::uint64_t episodes(offcpud_hist_kind kind) const { return seen.episodes[kind]; }

  // Exact, unless the kernel side says that it lost something; check_losses() judges that.
  [[nodiscard]] bool same(std::uint64_t a, std::uint64_t b) const {
    return a <= b + lost && b <= a + lost;
  }
};

double ms(std::uint64_t ns) {
  return static_cast<double>(ns) / 1e6;
}

Comparison measure(BpfReadingSource& source, const Cgroup& cgroup) {
  const MeasuredProcess process(cgroup);
  const std::uint64_t asleep_before_ns = process.settle();
  const Switches before = process.switches();
  const KernelReading first = sample(source);
  process.go();
  const std::uint64_t asleep_after_ns = process.settle();
  const Switches after = process.switches();
  const KernelReading last = sample(source);
  process.leave();
  return {counts_of(last, cgroup.id) - counts_of(first, cgroup.id),
          total(last.losses) - total(first.losses),
          {after.voluntary - before.voluntary, after.involuntary - before.involuntary},
          process.truth(),
          asleep_before_ns,
          asleep_after_ns};
}

void check_episodes(const Comparison& c) {
  const std::uint64_t blocks = c.switches.voluntary, preempted = c.switches.involuntary;
  const std::uint64_t wakeups = c.episodes(OFFCPUD_RUNQ_WAKEUP);
  check(c.same(c.seen.blocked, blocks) && c.same(wakeups, blocks), "blocked",
        text("%llu episodes and %llu wakeups, %llu voluntary switches", ull{c.seen.blocked},
             ull{wakeups}, ull{blocks}));
  const std::uint64_t queued =
      c.episodes(OFFCPUD_RUNQ_PREEMPTED) + c.episodes(OFFCPUD_RUNQ_THROTTLED);
  check(c.same(queued, preempted), "preempted",
        text("%llu episodes, %llu involuntary switches", ull{queued}, ull{preempted}));
}

void check_reasons(const Comparison& c, const FeatureReport& features) {
  const Truth& truth = c.truth;
  const std::uint64_t sleeps = c.episodes(OFFCPUD_BLOCKED_SLEEP);
  check(c.same(sleeps, truth.sleeps) && truth.sleeps * 100 >= kSleeps * 95, "sleep",
        text("%llu episodes, %llu expected", ull{sleeps}, ull{truth.sleeps}));

  // Which file a read waits for is only known where kernel memory may be read.
  const auto pipe = features.has("file_kind") ? OFFCPUD_BLOCKED_PIPE : OFFCPUD_BLOCKED_OTHER;
  const std::uint64_t in_pipe = c.episodes(pipe), in_kernel = c.episodes(OFFCPUD_BLOCKED_KERNEL);
  const std::uint64_t reads = c.switches.voluntary - truth.sleeps - truth.locks;
  check(c.same(in_pipe + in_kernel, reads) && in_pipe >= truth.pings / 2, "pipe",
        text("%llu episodes as %s, %llu in the pipe's own lock, %llu expected", ull{in_pipe},
             pipe == OFFCPUD_BLOCKED_PIPE ? "pipe" : "other", ull{in_kernel}, ull{reads}));

  const std::uint64_t locks = c.episodes(OFFCPUD_BLOCKED_LOCK);
  check(c.same(locks, truth.locks) && truth.locks * 2 >= kHandOffs, "lock",
        text("%llu episodes, %llu expected", ull{locks}, ull{truth.locks}));
}

void check_times(const Comparison& c) {
  const double slept = ms(c.seen.sums[OFFCPUD_BLOCKED_SLEEP]);
  const double wanted =
      static_cast<double>(c.truth.sleeps) * ms(std::chrono::nanoseconds(kSleep).count());
  check(slept >= wanted * 0.99 && slept <= wanted * 10, "sleep-time",
        text("%.1f ms, at least %.1f expected", slept, wanted));
  // What is told begins with the wait for go() and ends before the wait for leave(). Between the
  // clock of the process and its wait it may run for long, if the host takes the CPU away there.
  const double least = ms(c.truth.last_wait_ns - c.asleep_before_ns);
  const double most = ms(c.asleep_after_ns - c.truth.first_wait_ns);
  const double told = ms(c.seen.running_ns + c.seen.blocked_ns + c.seen.queued_ns);
  check(told > least * 0.99 - 1 && told < most * 1.01 + 1, "wall",
        text("%.2f ms told, %.2f to %.2f ms passed", told, least, most));
  check(c.seen.running_ns > 0 && ms(c.seen.running_ns) < most, "running",
        text("%.2f ms", ms(c.seen.running_ns)));
}

}  // namespace

void check_known_waits(BpfReadingSource& source, const Cgroup& cgroup,
                       const FeatureReport& features) {
  const Comparison comparison = measure(source, cgroup);
  check_episodes(comparison);
  check_reasons(comparison, features);
  check_times(comparison);
}

}  // namespace offcpud::test
