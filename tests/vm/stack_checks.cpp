// SPDX-License-Identifier: Apache-2.0
// Stacks of blocks with a known length, on whatever hook this kernel has for them.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "checks.h"
#include "child_process.h"
#include "kernel/block_samples.h"
#include "report.h"

namespace offcpud::test {
namespace {

using namespace std::chrono_literals;

constexpr unsigned kSleeps = 20;

struct Seen {
  unsigned samples = 0, kernel = 0, user = 0, wakers = 0;
};

// A child that sleeps 20 times for 10 ms; all of them are sampled.
Seen sample_sleeps(BlockSamples& samples) {
  const pid_t sleeper = fork_to([] {
    for (unsigned i = 0; i < kSleeps; ++i) sleep_for(10ms);
    ::_exit(0);
  });
  reap(sleeper);
  Seen seen;
  must(samples.drain([&](const SampledBlock& block) {
    if (block.sample.tid != static_cast<std::uint32_t>(sleeper)) return;
    seen.samples++;
    if (block.kernel.size() >= 3) seen.kernel++;
    if (!block.user.empty()) seen.user++;
    if (!block.waker_kernel.empty()) seen.wakers++;
  }),
       "samples");
  return seen;
}

// One that sleeps for longer is accounted while it does.
unsigned account_sleeper(BlockSamples& samples) {
  const pid_t sleeper = fork_to([] {
    sleep_for(900ms);
    ::_exit(0);
  });
  sleep_for(600ms);
  unsigned accounted = 0;
  const auto walked =
      samples.walk_blocked(BlockAge::Lasting, [&](const offcpud_blocked_record& record) {
        if (record.sample.tid != static_cast<std::uint32_t>(sleeper)) return;
        if (record.sample.kernel_frames > 0 && record.regs.ip != 0) accounted++;
      });
  must(static_cast<bool>(walked), "walk over blocked threads");
  reap(sleeper);
  return accounted;
}

}  // namespace

void check_stacks(const BpfSession& session, const FeatureReport& features) {
  const auto samples = must(BlockSamples::open(session), "ring of samples");
  SampleChoice choice{.intervals = SamplingIntervals(1ms)};
  choice.blocks = BlockFilter{};
  choice.blocks.kernel_threads = false;
  samples->choose(choice);
  const Seen seen = sample_sleeps(*samples);
  const bool taken = features.has("stacks");
  const bool wakers = features.has("wakers");
  const unsigned expected = taken && wakers ? kSleeps : 0;
  check(seen.samples >= expected && seen.kernel == seen.samples && seen.user == seen.samples &&
            seen.wakers == seen.samples,
        "stacks",
        text("%u samples of %u sleeps; with kernel stack %u, user stack %u, waker's %u",
             seen.samples, kSleeps, seen.kernel, seen.user, seen.wakers));
  const unsigned accounted = account_sleeper(*samples);
  check(accounted == (taken ? 1 : 0), "accounted",
        text("%u of one sleep accounted while it lasts, stacks %s", accounted,
             taken ? "are taken" : "are not taken on this kernel"));
  samples->choose({});

  const std::uint64_t address = 0;
  const auto names = samples->kernel_names(std::span(&address, 1));
  check(names && names->size() == 1, "names", "the kernel is asked for names");
}

}  // namespace offcpud::test
