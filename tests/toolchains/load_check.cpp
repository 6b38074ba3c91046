// SPDX-License-Identifier: Apache-2.0
// Loads and attaches the kernel programs as the daemon does, with every feature of this kernel, and
// compares what they count for a thread that sleeps with its own clocks. It is linked with programs
// of one clang; the daemon's own tests see those of the default one only. One line for each check,
// as the probe of tests/vm says them. Exits with 0 if all passed, 77 where nothing can be loaded.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <numeric>
#include <string>

#include "kernel/bpf_session.h"
#include "kernel/feature_probe.h"
#include "kernel/thread_walker.h"
#include "vm/kernel_objects.h"
#include "vm/report.h"

namespace offcpud::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

constexpr unsigned kRounds = 9;
constexpr unsigned kSleeps = 10;  // of each round
constexpr nanoseconds kSleep = 10ms;

nanoseconds read_clock(clockid_t id) {
  timespec now{};
  must(::clock_gettime(id, &now) == 0, "clock_gettime");
  return std::chrono::seconds(now.tv_sec) + nanoseconds(now.tv_nsec);
}

// Of this thread: the sum of its waits that have ended.
nanoseconds counted_waits(BpfSession& session) {
  ThreadWalker walker(session);
  const auto walk = must(walker.advance(10s), "walk");
  if (!walk) give_up("a walk over the threads takes more than 10 s");
  const auto self = static_cast<std::uint32_t>(::gettid());
  const auto found = std::ranges::find(walk->threads, self, &offcpud_thread::local_tid);
  if (found == walk->threads.end()) give_up("the walk did not find this thread");
  return nanoseconds(
      std::accumulate(std::begin(found->waits_ns), std::end(found->waits_ns), std::uint64_t{0}));
}

// What this thread did not spend on a CPU so far: the kernel's clocks say so without our programs.
nanoseconds off_cpu() {
  const nanoseconds cpu = read_clock(CLOCK_THREAD_CPUTIME_ID);
  return read_clock(CLOCK_MONOTONIC) - cpu;
}

struct Waits {
  nanoseconds counted, at_least, at_most;
};

Waits sleep_for_a_while(BpfSession& session) {
  // Each reading of the programs lies between two of the clocks, because it may wait itself.
  const nanoseconds outer_begin = off_cpu();
  const nanoseconds counted_begin = counted_waits(session);
  const nanoseconds inner_begin = off_cpu();
  for (unsigned i = 0; i < kSleeps; ++i) {
    const timespec sleep{0, kSleep.count()};
    ::clock_nanosleep(CLOCK_MONOTONIC, 0, &sleep, nullptr);
  }
  const nanoseconds inner = off_cpu() - inner_begin;
  const nanoseconds counted = counted_waits(session) - counted_begin;
  return {counted, inner, off_cpu() - outer_begin};
}

// Some hosts keep switches of process 1 from the programs (docs/kernel-support.md), and with them
// the beginning or end of a wait of whoever has its CPU before or after it. That hits single
// rounds.
void check_waits(BpfSession& session) {
  unsigned right = 0;
  std::string rounds;
  for (unsigned i = 0; i < kRounds; ++i) {
    const Waits waits = sleep_for_a_while(session);
    right +=
        waits.counted >= waits.at_least * 98 / 100 && waits.counted <= waits.at_most * 102 / 100;
    const auto ms = [](nanoseconds t) { return static_cast<double>(t.count()) / 1e6; };
    rounds += text(" %.2f/%.2f", ms(waits.counted), ms(waits.at_least));
  }
  check(right > kRounds / 2, "waits",
        text("%u of %u rounds agree; ms counted/waited:", right, kRounds) + rounds);
}

// How much work the verifier had, for each program; tests/vm has the limit.
void tell_instructions(const BpfSession& session) {
  std::string each;
  std::uint32_t sum = 0;
  for_each_program(session, [&](const char* name, const bpf_prog_info& info) {
    sum += info.verified_insns;
    each += text(" %s=%u", name, info.verified_insns);
  });
  check(sum > 0, "verifier", text("%u instructions processed:", sum) + each);
}

}  // namespace
}  // namespace offcpud::test

int main() {
  using namespace offcpud;
  const FeatureReport features = probe_features();
  if (const auto supported = features.require(); !supported) {
    test::say("SKIP: " + supported.error().message());
    return 77;
  }
  auto session = BpfSession::load({}, features);
  if (!session && session.error().kind() == ErrorKind::Permission) {
    test::say("SKIP: " + session.error().message());
    return 77;
  }
  if (!session) {
    test::check(false, "load", session.error().message());
    return 1;
  }
  if (!test::check_all_accepted(*session)) return 1;
  test::tell_instructions(*session);
  const auto attached = session->attach();
  if (test::check(bool{attached}, "attach",
                  attached ? "all programs" : attached.error().message())) {
    test::check_waits(*session);
  }
  return test::failed_checks() == 0 ? 0 : 1;
}
