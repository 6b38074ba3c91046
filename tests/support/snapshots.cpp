// SPDX-License-Identifier: Apache-2.0
#include "support/snapshots.h"

#include <sstream>
#include <utility>

namespace offcpud::test {
namespace {

using namespace std::chrono_literals;

StackFrame libc(std::string function, std::uint64_t address) {
  return {std::move(function), "libc.so.6", "6196744a316dbd57c0fc8968df1680aac482cef4", address,
          false};
}

StackFrame kernel(std::string function, std::uint64_t address) {
  return {std::move(function), "[kernel]", "", 0xffffffff81000000ULL + address, true};
}

std::vector<StackFrame> ordinary_frames() {
  return {{"_start", "pp", "ab12", 0x1040, false},            // 0
          {"main", "pp", "ab12", 0x11a2, false},              // 1
          libc("read", 0xf8520),                              // 2
          kernel("entry_SYSCALL_64_after_hwframe", 0x130),    // 3
          kernel("do_syscall_64", 0x999),                     // 4
          kernel("anon_pipe_read", 0x3e0000),                 // 5
          kernel("schedule", 0xb0000),                        // 6
          libc("write", 0xf85e0),                             // 7
          kernel("anon_pipe_write", 0x3e1000),                // 8
          kernel("try_to_wake_up", 0xc0000),                  // 9
          libc("clock_nanosleep", 0xd1000),                   // 10
          kernel("do_nanosleep", 0xb1000),                    // 11
          kernel("hrtimer_interrupt", 0x20000),               // 12
          kernel("hrtimer_wakeup", 0x20100),                  // 13
          {"[no unwind table]", "[unknown]", "", 0, false}};  // 14
}

}  // namespace

Snapshot ordinary_snapshot() {
  Snapshot s;
  s.sequence = 7;
  s.begin = WallTime(1'795'000'000'250ms);
  s.end = s.begin + 60s;
  s.duration = 60s;
  s.frames = ordinary_frames();
  s.entries.push_back({.pid = 100,
                       .comm = "pp",
                       .thread_comm = "pp-reader",
                       .cgroup = "/system.slice/pp.service",
                       .reason = OFFCPUD_BLOCKED_PIPE,
                       .site = "pipe",
                       .user = {0, 1, 2},
                       .kernel = {3, 4, 5, 6},
                       .waker_comm = "pp",
                       .waker_pid = 101,
                       .waker_user = {0, 1, 7},
                       .waker_kernel = {3, 4, 8, 9},
                       .ns = 87'092'400,
                       .episodes = 1'200.25,
                       .variance = 2.5e12});
  s.entries.push_back({.pid = 200,
                       .comm = "sleeper",
                       .thread_comm = "sleeper",
                       .cgroup = "/user.slice",
                       .reason = OFFCPUD_BLOCKED_SLEEP,
                       .wait_for = WaitFor::Timer,
                       .site = "sleep",
                       .user = {14, 10},
                       .kernel = {3, 4, 11, 6},
                       .waker_comm = "[irq]",
                       .waker_kernel = {12, 13},
                       .ns = 999'209'900,
                       .episodes = 1});
  s.entries.push_back({.pid = 300,
                       .comm = "kworker/0:1",
                       .thread_comm = "kworker/0:1",
                       .cgroup = "/",
                       .reason = OFFCPUD_BLOCKED_KERNEL,
                       .wait_for = WaitFor::Work,
                       .site = "kernel-thread",
                       .in_progress = true,
                       .kernel = {6},
                       .ns = 60'000'000'000,
                       .episodes = 0.5});
  return s;
}

const std::vector<std::string>& hostile_names() {
  static const std::vector<std::string> names = {
      "a;b c 3",
      "GC Thread 3",
      "v 1.5",
      "v 1.",
      " 3",
      "3",
      "ends ",
      "  ",
      "",
      "line\nfeed 7",
      "\r\n",
      "tab\t12",
      "\xff\xfe",
      "half \xe2\x82",
      "<script>alert(1)</script>",
      "\"quoted\" \\back",
      "-",
      "--",
      ";--;",
      "_[k]",
      "nbsp\302\2405",
      "ideographic\343\200\2005",
      "arabic \xd9\xa3",
      "line separator\342\200\2509",
      "next line\302\2059",
      std::string("rtl\xe2\x80") + "\256gnp",  // in two, or compilers warn of it
      std::string("nul\0 4", 6),
      "\x1b[31mred",
      "std::vector<unsigned long, std::allocator<unsigned long> >::at(unsigned long) const",
      "# comment 12",
      std::string(5'000, 'x'),
      std::string(1'020, 'y') + "\xe2\x82\xac\xe2\x82\xac 12",
  };
  return names;
}

Snapshot hostile_snapshot() {
  Snapshot s;
  s.begin = WallTime(1'795'000'000s);
  s.end = s.begin + 60s;
  for (const std::string& name : hostile_names()) {
    const auto id = static_cast<std::uint32_t>(s.frames.size());
    s.frames.push_back({name, name, "", name.empty() ? 0U : 1U, false});
    s.frames.push_back({name, "[kernel]", "", 2, true});
    s.entries.push_back({.pid = id + 1,
                         .comm = name,
                         .thread_comm = name,
                         .cgroup = name,
                         .site = name,
                         .user = {id},
                         .kernel = {id + 1},
                         .waker_comm = name,
                         .waker_user = {id},
                         .waker_kernel = {id + 1},
                         .ns = 1'000'000ULL + id,
                         .episodes = 1});
    s.entries.push_back({.pid = id + 1, .comm = name, .user = {id}, .ns = 999, .episodes = 1});
    s.entries.push_back({.pid = id + 1, .comm = name, .ns = 1'500, .episodes = 1});
  }
  return s;
}

Snapshot random_snapshot(std::uint32_t seed, std::size_t entries) {
  std::mt19937 random(seed);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  Snapshot s;
  s.begin = WallTime(std::chrono::seconds(1'795'000'000 + seed * 60));
  s.end = s.begin + 60s;
  s.duration = 60s;
  if (seed % 2 == 1) s.captured = {"snapshots.reasons=[disk]"};
  if (seed % 2 == 0) {
    s.sampling_interval = 10ms * (seed + 1);
    s.reason_intervals[seed % s.reason_intervals.size()] = s.sampling_interval;
    s.reason_intervals[0] = 7ms;
  }
  const std::uint32_t frames = 30 + below(10);
  for (std::uint32_t i = 0; i < frames; ++i) {
    // Numbered from another offset in each snapshot, so the same frame has another id.
    const std::uint32_t n = (i + seed) % 40;
    s.frames.push_back({"f" + std::to_string(n), "o" + std::to_string(n % 5), "b",
                        std::uint64_t{n} * 16, n % 2 == 1, n % 3});
  }
  const auto stack = [&] {
    std::vector<std::uint32_t> ids(below(5));
    for (std::uint32_t& id : ids) id = below(frames);
    return ids;
  };
  for (std::size_t i = 0; i < entries; ++i) {
    StackEntry e{.pid = 1 + below(3),
                 .comm = "c" + std::to_string(below(3)),
                 .thread_comm = "t" + std::to_string(below(2)),
                 .cgroup = "/g" + std::to_string(below(3)),
                 .reason = below(OFFCPUD_BLOCKED_KINDS),
                 .wait_for = static_cast<WaitFor>(below(kWaitForNames.size())),
                 .site = below(3) == 0 ? "" : "s" + std::to_string(below(3)),
                 .in_progress = below(4) == 0};
    e.user = stack();
    e.kernel = stack();
    if (below(2) == 0) {
      e.waker_comm = "w" + std::to_string(below(2));
      e.waker_pid = 1 + below(2);
      e.waker_kernel = stack();
      e.waker_user = stack();
    }
    e.ns = below(3) == 0 ? below(1'000) : std::uint64_t{random()} * 100;
    e.episodes = below(1'000);
    s.entries.push_back(std::move(e));
  }
  return s;
}

std::uint64_t total_ns(const Snapshot& snapshot) {
  std::uint64_t total = 0;
  for (const StackEntry& entry : snapshot.entries) total += entry.ns;
  return total;
}

double total_episodes(const Snapshot& snapshot) {
  double total = 0;
  for (const StackEntry& entry : snapshot.entries) total += entry.episodes;
  return total;
}

std::map<std::string, std::pair<std::uint64_t, double>> amounts(const Snapshot& snapshot) {
  std::map<std::string, std::pair<std::uint64_t, double>> sums;
  for (const StackEntry& e : snapshot.entries) {
    std::ostringstream key;
    key << e.pid << '|' << e.comm << '|' << e.thread_comm << '|' << e.cgroup << '|' << e.reason
        << '|' << name_of(e.wait_for) << '|' << e.site << '|' << e.in_progress << '|'
        << e.waker_comm << '|' << e.waker_pid;
    for (const auto* ids : {&e.user, &e.kernel, &e.waker_user, &e.waker_kernel}) {
      key << '|';
      for (const std::uint32_t id : *ids) {
        const StackFrame& f = snapshot.frames[id];
        key << f.function << '@' << f.object << '@' << f.build_id << '@' << f.address << f.kernel
            << ':' << f.line << ',';
      }
    }
    auto& [ns, episodes] = sums[key.str()];
    ns += e.ns;
    episodes += e.episodes;
  }
  return sums;
}

std::string read_all(FoldedText text, std::size_t buffer_size) {
  std::string all;
  std::vector<char> buffer(buffer_size);
  while (const std::size_t n = text.read(buffer)) all.append(buffer.data(), n);
  return all;
}

}  // namespace offcpud::test
