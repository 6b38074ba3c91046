// SPDX-License-Identifier: Apache-2.0
// What it costs to add one event to a histogram in the kernel, by store: the figures of
// docs/decisions/0001-histogram-store.md. Run as root: store_bench [rounds].
//
// One thread per CPU, in SCHED_FIFO so that other work does not interrupt a measurement of some
// hundred microseconds. Every round runs every store once, so that a slow second of the machine
// meets all of them; the median over the rounds is printed.
#include "store_bench.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "offcpud.h"
#include "store_bench.skel.h"

namespace {

constexpr std::uint32_t kCpus = 2;
constexpr std::uint32_t kEvents = 2000;
constexpr std::uint32_t kPauseSteps = 40;

struct Situation {
  const char* name;
  std::uint32_t writers;  // CPUs that add at the same time
  bool same_subject;
  std::uint32_t pause;
};
constexpr std::array kSituations = {
    Situation{"one CPU", 1, true, 0},
    Situation{"two CPUs, same histogram", 2, true, 0},
    Situation{"two CPUs, two cgroups", 2, false, 0},
    Situation{"one CPU, paced", 1, true, kPauseSteps},
    Situation{"two CPUs, same, paced", 2, true, kPauseSteps},
};

[[noreturn]] void fail(const std::string& what) {
  std::perror(("store_bench: " + what).c_str());
  std::exit(1);
}

void become_real_time(int priority) {
  const sched_param parameter{.sched_priority = priority};
  if (::pthread_setschedparam(::pthread_self(), SCHED_FIFO, &parameter) != 0) {
    fail("become real-time");
  }
}

void take_cpu(std::uint32_t cpu) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(cpu, &cpus);
  if (::sched_setaffinity(0, sizeof(cpus), &cpus) != 0) fail("pin to a CPU");
  become_real_time(1);
}

// Nanoseconds per event on the slower CPU.
double measure(int program, const Situation& situation) {
  std::atomic<std::uint32_t> waiting{situation.writers};
  std::array<store_bench_run, kCpus> runs{};
  auto add = [&](std::uint32_t cpu) {
    take_cpu(cpu);
    runs[cpu] = {.events = kEvents,
                 .pause = situation.pause,
                 .subject = situation.same_subject ? 0 : cpu,
                 .reserved = 0,
                 .ns = 0};
    bpf_test_run_opts options{};
    options.sz = sizeof(options);
    options.ctx_in = &runs[cpu];
    options.ctx_size_in = sizeof(store_bench_run);
    waiting.fetch_sub(1);
    while (waiting.load() != 0) {
    }
    if (bpf_prog_test_run_opts(program, &options) != 0) fail("run a program");
  };
  std::vector<std::thread> threads;
  for (std::uint32_t cpu = 0; cpu < situation.writers; ++cpu) threads.emplace_back(add, cpu);
  for (auto& thread : threads) thread.join();
  std::uint64_t slowest = 0;
  for (const auto& run : runs) slowest = std::max<std::uint64_t>(slowest, run.ns);
  return static_cast<double>(slowest) / kEvents;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

struct Store {
  const char* name;
  bpf_program* program;
  std::array<std::vector<double>, kSituations.size()> ns;
};

void fill_hash(bpf_map* map) {
  const std::vector<char> value(bpf_map__value_size(map));
  // As many entries as 1,000 cgroups with 6 kinds in use have, so that the buckets are as full.
  for (std::uint64_t cgroup = 0; cgroup < 1000; ++cgroup) {
    for (std::uint64_t kind = 0; kind < 6; ++kind) {
      const std::array key{cgroup, kind};
      if (bpf_map_update_elem(bpf_map__fd(map), key.data(), value.data(), BPF_ANY) != 0) {
        fail("fill the hash map");
      }
    }
  }
}

void print_memory() {
  constexpr double kMiB = 1024.0 * 1024.0;
  constexpr double kSubjects = 1001;  // and "(other)"
  constexpr double kSubject = sizeof(offcpud_subject);
  constexpr int kKinds = OFFCPUD_HIST_KINDS;
  constexpr double kNarrow = 64 + kKinds * (8 + 4 * OFFCPUD_SLOTS);
  // An element of a hash map: 48 bytes of head, 16 of key, counter and histogram.
  constexpr double kHashed = 48 + 16 + 8 + sizeof(offcpud_hist);
  std::printf("\nMiB of kernel memory, 1,000 cgroups        ");
  for (const double cpus : {2.0, 16.0, 128.0, 256.0}) std::printf("%6.0f CPUs", cpus);
  auto row = [](const char* name, auto bytes) {
    std::printf("\n%-43s", name);
    for (const double cpus : {2.0, 16.0, 128.0, 256.0}) std::printf("%11.1f", bytes(cpus) / kMiB);
  };
  row("shared", [&](double) { return kSubjects * kSubject; });
  row("sharded, one per 4 CPUs, no limit",
      [&](double cpus) { return kSubjects * kSubject * std::max(1.0, cpus / 4); });
  row("sharded, one per 4 CPUs, 64 MiB limit", [&](double cpus) {
    const double affordable = std::floor((64U << 20) / (kSubjects * kSubject));
    return kSubjects * kSubject * std::max(1.0, std::min(cpus / 4, affordable));
  });
  row("percpu", [&](double cpus) { return kSubjects * kSubject * cpus; });
  row("shared, u32 slots", [&](double) { return kSubjects * kNarrow; });
  row("percpu, u32 slots", [&](double cpus) { return kSubjects * kNarrow * cpus; });
  row("thread_deltas, 5,000 threads",
      [&](double) { return kSubjects * kSubject + 5000.0 * sizeof(std::uint64_t[5]); });
  row("hashed, all kinds", [&](double) { return kSubjects * kKinds * kHashed; });
  row("hashed, 6 kinds in use", [&](double) { return kSubjects * 6 * kHashed; });
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 101;
  if (::sysconf(_SC_NPROCESSORS_ONLN) < kCpus) fail("two CPUs are needed");
  const std::unique_ptr<store_bench_bpf, decltype(&store_bench_bpf::destroy)> skeleton(
      store_bench_bpf::open_and_load(), &store_bench_bpf::destroy);
  if (!skeleton) fail("load the programs");
  fill_hash(skeleton->maps.hashed_hists);
  become_real_time(2);  // above the threads that wait for each other, which it still has to start

  const auto& programs = skeleton->progs;
  std::vector<Store> stores = {
      {"nothing", programs.nothing, {}},         {"shared", programs.shared, {}},
      {"sharded", programs.sharded, {}},         {"sharded, u32 slots", programs.sharded_u32, {}},
      {"percpu", programs.percpu, {}},           {"hashed", programs.hashed, {}},
      {"storage look-up", programs.storage, {}}, {"thread_deltas", programs.thread_deltas, {}},
  };
  for (int round = 0; round < rounds; ++round) {
    for (auto& store : stores) {
      for (std::size_t i = 0; i < kSituations.size(); ++i) {
        store.ns[i].push_back(measure(bpf_program__fd(store.program), kSituations[i]));
      }
    }
    ::usleep(20000);  // real-time threads may use 95 % of a CPU: stay far from that
  }

  std::printf("ns per event above `nothing`, median (minimum) of %d rounds\n%-20s", rounds, "");
  for (const auto& situation : kSituations) std::printf("%26s", situation.name);
  for (const auto& store : stores) {
    std::printf("\n%-20s", store.name);
    for (std::size_t i = 0; i < kSituations.size(); ++i) {
      const bool base = &store == &stores.front();
      const auto& nothing = stores.front().ns[i];
      std::printf("%16.1f (%7.1f)", median(store.ns[i]) - (base ? 0 : median(nothing)),
                  std::ranges::min(store.ns[i]) - (base ? 0 : std::ranges::min(nothing)));
    }
  }
  std::printf("\n");
  print_memory();
  return 0;
}
