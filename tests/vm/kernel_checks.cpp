// SPDX-License-Identifier: Apache-2.0
// What a kernel offers, accepts and gives back when the programs go.
#include <sys/types.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <string>

#include "base/file_io.h"
#include "checks.h"
#include "child_process.h"
#include "kernel_objects.h"
#include "report.h"

namespace offcpud::test {
namespace {

using namespace std::chrono_literals;

constexpr unsigned kAttachCycles = 10;
constexpr std::uint32_t kMaxInstructions = 100'000;  // per program; the kernel allows a million

}  // namespace

// Which optional features a kernel should have, judged by other means than the probe's.
void check_features(const FeatureReport& features) {
  for (const Feature& feature : features.features) {
    say(text("FEATURE %s %s", feature.name.c_str(), feature.enabled ? "yes" : "no"));
  }
  const auto lockdown = read_file("/sys/kernel/security/lockdown", 4096);
  const bool locked = lockdown && lockdown->find("[confidentiality]") != std::string::npos;
  check(features.has("file_kind") == !locked && features.has("cgroup_events") == !locked,
        "features", locked ? "nothing that reads kernel memory" : "files and cgroups can be read");
}

// A kernel that lacks something must be refused in one sentence.
void check_refused(const Error& error) {
  const std::string& words = error.message();
  const bool sentence = words.find('\n') == std::string::npos && words.ends_with('.');
  check(error.kind() == ErrorKind::Unsupported && sentence, "refused", words);
}

void check_instructions(const BpfSession& session) {
  std::uint32_t most = 0, sum = 0;
  std::string each;
  for_each_program(session, [&](const char* name, const bpf_prog_info& info) {
    most = std::max(most, info.verified_insns);
    sum += info.verified_insns;
    each += text(" %s=%u", name, info.verified_insns);
  });
  check(most > 0 && most <= kMaxInstructions, "verifier",
        text("%u instructions processed:%s", sum, each.c_str()));
}

void check_nothing_left(const BpfObjects& before) {
  BpfObjects after = bpf_objects();
  for (int i = 0; i < 100 && after != before; ++i) {
    sleep_for(100ms);
    after = bpf_objects();
  }
  check(after == before, "detach",
        text("left behind %zd programs, %zd links, %zd maps",
             static_cast<ssize_t>(after.programs - before.programs),
             static_cast<ssize_t>(after.links - before.links),
             static_cast<ssize_t>(after.maps - before.maps)));
}

// Attaching rewrites kernel text and walks all threads, while they switch.
void check_attach_cycles(const FeatureReport& features) {
  const pid_t busy = fork_to([] {
    for (;;) sleep_for(1ms);
  });
  unsigned cycles = 0;
  for (; cycles < kAttachCycles; ++cycles) {
    auto session = BpfSession::load({.cgroups = 64}, features);
    if (!session || !session->attach()) break;
    sleep_for(5ms);
  }
  ::kill(busy, SIGKILL);
  ::waitpid(busy, nullptr, 0);
  check(cycles == kAttachCycles, "cycles", text("%u times attached and detached", cycles));
}

}  // namespace offcpud::test
