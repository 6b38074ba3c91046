// SPDX-License-Identifier: Apache-2.0
// Size and cost of snapshots in their formats, and of adding up a day of them: the figures of
// docs/decisions/0008-snapshot-files.md.
#include <chrono>
#include <cstdio>
#include <ctime>
#include <random>
#include <string>

#include "snapshot/folded_text.h"
#include "snapshot/gzip.h"
#include "snapshot/pprof.h"
#include "snapshot/snapshot_merge.h"
#include "support/snapshots.h"

namespace {

using namespace offcpud;

// Stacks as a busy host has them: 20 user and 12 kernel frames of a few thousand functions, whose
// outer half is shared; half of them with a waker.
Snapshot busy_host(std::size_t stacks, std::uint32_t seed) {
  std::mt19937 random(seed);
  Snapshot s;
  s.duration = std::chrono::seconds(60);
  constexpr std::uint32_t kUser = 4'000, kKernel = 800;
  for (std::uint32_t i = 0; i < kUser + kKernel; ++i) {
    const bool kernel = i >= kUser;
    s.frames.push_back({"namespace::Class" + std::to_string(i % 300) + "::function_" +
                            std::to_string(i) + "(int const&, std::string)",
                        kernel ? "[kernel]" : "lib" + std::to_string(i % 50) + ".so",
                        kernel ? "" : std::string(40, static_cast<char>('a' + i % 6)),
                        std::uint64_t{i} * 4'099, kernel});
  }
  const auto stack = [&](std::uint32_t first, std::uint32_t count, std::size_t depth) {
    std::vector<std::uint32_t> ids;
    const std::uint32_t root = static_cast<std::uint32_t>(random() % 50);
    for (std::uint32_t i = 0; i < depth; ++i) {
      const bool shared = i < depth / 2;
      ids.push_back(first +
                    (shared ? root * 10 + i : static_cast<std::uint32_t>(random() % count)));
    }
    return ids;
  };
  for (std::size_t i = 0; i < stacks; ++i) {
    const auto n = static_cast<std::uint32_t>(random() % 200);
    StackEntry e{.pid = 1'000 + n,
                 .comm = "service" + std::to_string(n % 60),
                 .thread_comm = "worker" + std::to_string(n % 90),
                 .cgroup = "/system.slice/service" + std::to_string(n % 60) + ".service",
                 .reason = random() % OFFCPUD_BLOCKED_KINDS};
    e.user = stack(0, kUser, 20);
    e.kernel = stack(kUser, kKernel, 12);
    if (i % 2 == 0) {
      e.waker_comm = "service" + std::to_string(random() % 60);
      e.waker_pid = 1'000 + static_cast<std::uint32_t>(random() % 200);
      e.waker_kernel = stack(kUser, kKernel, 10);
    }
    e.ns = random();
    e.episodes = 1;
    s.entries.push_back(std::move(e));
  }
  return s;
}

// Of CPU time: the machine may be busy with something else.
template <class Work>
double milliseconds(Work work) {
  const std::clock_t begin = std::clock();
  work();
  return 1'000.0 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

void measure(std::size_t stacks) {
  const Snapshot s = busy_host(stacks, 1);
  std::string pprof, folded;
  const double write = milliseconds([&] { pprof = *pprof_of(s); });
  const double read = milliseconds([&] { (void)snapshot_of_pprof(pprof); });
  const double text =
      milliseconds([&] { folded = test::read_all(FoldedText(s, {.wakers = true}), 65'536); });
  const std::size_t compressed = gzip(folded)->size();
  std::printf(
      "%7zu stacks: pprof %7.0f KiB, write %6.1f ms, read %6.1f ms; off-wake folded %8.0f KiB, "
      "gzip %7.0f KiB, write %6.1f ms\n",
      stacks, static_cast<double>(pprof.size()) / 1024, write, read,
      static_cast<double>(folded.size()) / 1024, static_cast<double>(compressed) / 1024, text);
}

void measure_day() {
  const std::string minute = *pprof_of(busy_host(2'000, 1));
  constexpr int kMinutes = 1'440;
  std::size_t entries = 0;
  const double took = milliseconds([&] {
    SnapshotSum sum({});
    for (int i = 0; i < kMinutes; ++i) sum.add(*snapshot_of_pprof(minute));
    entries = sum.take().entries.size();
  });
  std::printf("a day, %d snapshots of 2000 stacks: %.0f KiB, sum of %zu stacks in %.0f ms\n",
              kMinutes, static_cast<double>(minute.size()) * kMinutes / 1024, entries, took);
}

}  // namespace

int main() {
  for (const std::size_t stacks : {500U, 2'000U, 10'000U, 50'000U}) measure(stacks);
  measure_day();
  return 0;
}
