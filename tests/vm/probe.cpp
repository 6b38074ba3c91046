// SPDX-License-Identifier: Apache-2.0
//
// Runs in a guest (see run): does what the daemon does to a kernel, with loads whose waits are
// known, and prints one line per check, "@@ PASS name: detail" or "@@ FAIL name: detail". run knows
// which names must appear. Exits with 0 if nothing failed.
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <string>
#include <thread>

#include "base/file_io.h"
#include "base/unique_handle.h"
#include "kernel/bpf_sample_source.h"
#include "kernel/bpf_session.h"
#include "kernel/cgroup_events.h"
#include "kernel/feature_probe.h"
#include "offcpud.skel.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using std::uint64_t;

constexpr const char* kCgroups = "/sys/fs/cgroup";
constexpr unsigned kSleeps = 100;
constexpr auto kSleep = 10ms;
constexpr unsigned kPings = 1000;
constexpr unsigned kHandOffs = 50;
constexpr unsigned kCrowds = 2;
constexpr unsigned kForks = 300;  // of each crowd
constexpr unsigned kAttachCycles = 10;
constexpr unsigned kLossesPerEpisode = 100;  // at most one loss in so many, where any is allowed
constexpr std::uint32_t kMaxInstructions = 50'000;  // per program; the kernel allows a million

unsigned failures = 0;

[[gnu::format(printf, 1, 2)]] std::string text(const char* format, ...) {
  std::array<char, 1024> line{};
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line.data(), line.size(), format, arguments);
  va_end(arguments);
  return line.data();
}

void say(const std::string& line) {
  std::printf("@@ %s\n", line.c_str());
  std::fflush(stdout);
}

bool check(bool passed, const char* name, const std::string& detail) {
  if (!passed) ++failures;
  say(std::string(passed ? "PASS " : "FAIL ") + name + ": " + detail);
  return passed;
}

// What the probe itself needs: without it nothing can be said about the kernel.
[[noreturn]] void give_up(const std::string& what) {
  say("FAIL probe: " + what);
  std::exit(1);
}
void must(bool done, const char* what) {
  if (!done) give_up(std::string(what) + ": " + std::strerror(errno));
}
template <class T>
T must(Result<T> result, const char* name) {
  if (!result) {
    check(false, name, result.error().message());
    std::exit(1);
  }
  return *std::move(result);
}

// ---- the measured process

// Shared between the probe, the measured process and its partner.
struct Ledger {
  pthread_mutex_t mutex;
  // Voluntary switches during the operations, counted by the measured process itself.
  uint64_t sleeps, pings, locks;
  // When it began to wait for "go" and for "leave".
  uint64_t first_wait_ns, last_wait_ns;
};

uint64_t now_ns() {
  return static_cast<uint64_t>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

uint64_t voluntary_switches() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return static_cast<uint64_t>(usage.ru_nvcsw);
}

struct Pipe {
  std::array<int, 2> ends{-1, -1};
  Pipe() { must(::pipe(ends.data()) == 0, "pipe"); }
  ~Pipe() {
    ::close(ends[0]);
    ::close(ends[1]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  void put() const { must(::write(ends[1], "x", 1) == 1, "write to pipe"); }
  void take() const {
    char byte = 0;
    must(::read(ends[0], &byte, 1) == 1, "read from pipe");
  }
};

void sleep_for(std::chrono::milliseconds time) {
  const timespec rest{0, std::chrono::nanoseconds(time).count()};
  ::nanosleep(&rest, nullptr);
}

struct Workload {
  Ledger* ledger;
  Pipe ready, go, leave, ping, pong;

  Workload() {
    ledger = static_cast<Ledger*>(
        ::mmap(nullptr, sizeof(Ledger), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    must(ledger != MAP_FAILED, "mmap");
    pthread_mutexattr_t shared;
    ::pthread_mutexattr_init(&shared);
    ::pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    ::pthread_mutex_init(&ledger->mutex, &shared);
  }

  [[noreturn]] void measured() const {
    ready.put();
    ledger->first_wait_ns = now_ns();
    go.take();

    uint64_t before = voluntary_switches();
    for (unsigned i = 0; i < kSleeps; ++i) sleep_for(kSleep);
    ledger->sleeps = voluntary_switches() - before;

    before = voluntary_switches();
    for (unsigned i = 0; i < kPings; ++i) {
      ping.put();
      pong.take();
    }
    ledger->pings = voluntary_switches() - before;

    for (unsigned i = 0; i < kHandOffs; ++i) {
      ping.put();
      pong.take();  // the partner has the mutex now
      before = voluntary_switches();
      ::pthread_mutex_lock(&ledger->mutex);
      ledger->locks += voluntary_switches() - before;
      ::pthread_mutex_unlock(&ledger->mutex);
    }

    ready.put();
    ledger->last_wait_ns = now_ns();
    leave.take();
    ::_exit(0);
  }

  [[noreturn]] void partner() const {
    for (unsigned i = 0; i < kPings; ++i) {
      ping.take();
      pong.put();
    }
    for (unsigned i = 0; i < kHandOffs; ++i) {
      ping.take();
      ::pthread_mutex_lock(&ledger->mutex);
      pong.put();
      sleep_for(kSleep);
      ::pthread_mutex_unlock(&ledger->mutex);
    }
    ::_exit(0);
  }
};

template <class Body>
pid_t fork_to(Body body) {
  const pid_t child = ::fork();
  must(child >= 0, "fork");
  if (child == 0) body();
  return child;
}

void reap(pid_t child) {
  int status = 0;
  must(::waitpid(child, &status, 0) == child, "waitpid");
  if (status != 0) give_up(text("a child ended with status %d", status));
}

uint64_t status_number(pid_t process, const char* field) {
  const auto status = read_file(text("/proc/%d/status", process), 65536);
  if (!status) give_up(status.error().message());
  const auto at = status->find(std::string("\n") + field + ":");
  if (at == std::string::npos) give_up(text("no '%s' in /proc/PID/status", field));
  return std::strtoull(status->c_str() + at + std::strlen(field) + 2, nullptr, 10);
}

bool asleep(pid_t process) {
  const auto status = read_file(text("/proc/%d/status", process), 65536);
  return status && status->find("\nState:\tS") != std::string::npos;
}

// ---- cgroups and readings

struct Cgroup {
  std::string name, path;
  uint64_t id = 0;

  explicit Cgroup(const char* leaf) : name(leaf), path(std::string(kCgroups) + "/" + leaf) {
    must(::mkdir(path.c_str(), 0755) == 0, "mkdir cgroup");
    struct stat facts {};
    must(::stat(path.c_str(), &facts) == 0, "stat cgroup");
    id = facts.st_ino;
  }
  void add(pid_t process) const {
    std::ofstream procs(path + "/cgroup.procs");
    procs << process << std::flush;
    if (!procs) give_up("move a process to cgroup " + name);
  }
  // Busy for a moment after its last process has gone.
  void remove() const {
    for (int i = 0; i < 100 && ::rmdir(path.c_str()) != 0; ++i) sleep_for(20ms);
  }
};

// Plain copy of what the kernel counted for one cgroup.
struct Counts {
  uint64_t running_ns = 0, blocked_ns = 0, queued_ns = 0, blocked = 0;
  std::array<uint64_t, OFFCPUD_HIST_KINDS> episodes{}, sums{};

  friend Counts operator-(const Counts& a, const Counts& b) {
    Counts d;
    d.running_ns = a.running_ns - b.running_ns;
    d.blocked_ns = a.blocked_ns - b.blocked_ns;
    d.queued_ns = a.queued_ns - b.queued_ns;
    d.blocked = a.blocked - b.blocked;
    for (std::size_t i = 0; i < d.episodes.size(); ++i) {
      d.episodes[i] = a.episodes[i] - b.episodes[i];
      d.sums[i] = a.sums[i] - b.sums[i];
    }
    return d;
  }
};

KernelSample sample(BpfSampleSource& source) {
  return must(source.read(), "read");
}

Counts counts_of(const KernelSample& read, uint64_t cgroup_id) {
  Counts counts;
  for (const CgroupReading& cgroup : read.cgroups) {
    if (cgroup.cgroup_id != cgroup_id) continue;
    counts.running_ns = cgroup.running_ns;
    for (std::size_t kind = 0; kind < OFFCPUD_HIST_KINDS; ++kind) {
      if (!cgroup.histograms[kind]) continue;
      counts.episodes[kind] = cgroup.histograms[kind]->count();
      counts.sums[kind] = cgroup.histograms[kind]->sum_ns;
      (kind < OFFCPUD_BLOCKED_KINDS ? counts.blocked_ns : counts.queued_ns) += counts.sums[kind];
      if (kind < OFFCPUD_BLOCKED_KINDS) counts.blocked += counts.episodes[kind];
    }
  }
  return counts;
}

uint64_t total(const std::vector<LossCount>& losses) {
  uint64_t sum = 0;
  for (const LossCount& loss : losses) sum += loss.events;
  return sum;
}

std::string in_words(const std::vector<LossCount>& losses) {
  std::string words;
  for (const LossCount& loss : losses) {
    words += text(" %s=%llu", loss.cause.c_str(), static_cast<unsigned long long>(loss.events));
  }
  return words.substr(1);
}

// ---- checks

template <int (*Next)(std::uint32_t, std::uint32_t*)>
std::set<std::uint32_t> kernel_ids() {
  std::set<std::uint32_t> ids;
  std::uint32_t id = 0;
  while (Next(id, &id) == 0) ids.insert(id);
  return ids;
}

// The programs, links and maps of the kernel. It frees them some time after the last user is gone.
struct BpfObjects {
  std::size_t programs = kernel_ids<&bpf_prog_get_next_id>().size();
  std::size_t links = kernel_ids<&bpf_link_get_next_id>().size();
  std::size_t maps = kernel_ids<&bpf_map_get_next_id>().size();
  friend bool operator==(const BpfObjects&, const BpfObjects&) = default;
};

void check_nothing_left(const BpfObjects& before) {
  BpfObjects after;
  for (int i = 0; i < 100 && after != before; ++i) {
    sleep_for(100ms);
    after = BpfObjects();
  }
  check(after == before, "detach",
        text("left behind %zd programs, %zd links, %zd maps",
             static_cast<ssize_t>(after.programs - before.programs),
             static_cast<ssize_t>(after.links - before.links),
             static_cast<ssize_t>(after.maps - before.maps)));
}

template <class Body>
void for_each_program(const BpfSession& session, Body body) {
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, session.skeleton().obj) {
    if (!bpf_program__autoload(program)) continue;
    bpf_prog_info info{};
    std::uint32_t size = sizeof(info);
    must(bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size) == 0, "program info");
    body(bpf_program__name(program), info);
  }
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

// A process whose every wait is known is measured from one sleep in a pipe to another, so that
// nothing is half counted.
void check_known_waits(BpfSampleSource& source, const Cgroup& cgroup,
                       const FeatureReport& features) {
  Workload load;
  const pid_t measured = fork_to([&] { load.measured(); });
  cgroup.add(measured);
  const pid_t partner = fork_to([&] { load.partner(); });

  const auto settle = [&] {
    load.ready.take();
    sleep_for(100ms);
    for (int i = 0; i < 100 && !asleep(measured); ++i) sleep_for(20ms);
  };
  settle();
  const uint64_t voluntary = status_number(measured, "voluntary_ctxt_switches");
  const uint64_t involuntary = status_number(measured, "nonvoluntary_ctxt_switches");
  const KernelSample first = sample(source);
  load.go.put();
  settle();
  const uint64_t blocks = status_number(measured, "voluntary_ctxt_switches") - voluntary;
  const uint64_t preempted = status_number(measured, "nonvoluntary_ctxt_switches") - involuntary;
  const KernelSample last = sample(source);
  load.leave.put();
  reap(measured);
  reap(partner);

  const Counts seen = counts_of(last, cgroup.id) - counts_of(first, cgroup.id);
  const auto n = [&](offcpud_hist_kind kind) { return seen.episodes[kind]; };
  const auto ms = [](uint64_t ns) { return static_cast<double>(ns) / 1e6; };
  const Ledger& truth = *load.ledger;
  using ull = unsigned long long;
  // Exact, unless the kernel side says that it lost something; check_losses() judges that.
  const uint64_t lost = total(last.losses) - total(first.losses);
  const auto same = [&](uint64_t a, uint64_t b) { return a <= b + lost && b <= a + lost; };

  check(same(seen.blocked, blocks) && same(n(OFFCPUD_RUNQ_WAKEUP), blocks), "blocked",
        text("%llu episodes and %llu wakeups, %llu voluntary switches", ull{seen.blocked},
             ull{n(OFFCPUD_RUNQ_WAKEUP)}, ull{blocks}));
  const uint64_t queued = n(OFFCPUD_RUNQ_PREEMPTED) + n(OFFCPUD_RUNQ_THROTTLED);
  check(same(queued, preempted), "preempted",
        text("%llu episodes, %llu involuntary switches", ull{queued}, ull{preempted}));
  check(same(n(OFFCPUD_BLOCKED_SLEEP), truth.sleeps) && truth.sleeps * 100 >= kSleeps * 95, "sleep",
        text("%llu episodes, %llu expected", ull{n(OFFCPUD_BLOCKED_SLEEP)}, ull{truth.sleeps}));
  const double slept = ms(seen.sums[OFFCPUD_BLOCKED_SLEEP]);
  const double wanted =
      static_cast<double>(truth.sleeps) * ms(std::chrono::nanoseconds(kSleep).count());
  check(slept >= wanted * 0.99 && slept <= wanted * 10, "sleep-time",
        text("%.1f ms, at least %.1f expected", slept, wanted));
  // Which file a read waits for is only known where kernel memory may be read.
  const auto pipe = features.has("file_kind") ? OFFCPUD_BLOCKED_PIPE : OFFCPUD_BLOCKED_OTHER;
  const uint64_t reads = blocks - truth.sleeps - truth.locks;
  check(same(n(pipe) + n(OFFCPUD_BLOCKED_KERNEL), reads) && n(pipe) >= truth.pings / 2, "pipe",
        text("%llu episodes as %s, %llu in the pipe's own lock, %llu expected", ull{n(pipe)},
             pipe == OFFCPUD_BLOCKED_PIPE ? "pipe" : "other", ull{n(OFFCPUD_BLOCKED_KERNEL)},
             ull{reads}));
  check(same(n(OFFCPUD_BLOCKED_LOCK), truth.locks) && truth.locks * 2 >= kHandOffs, "lock",
        text("%llu episodes, %llu expected", ull{n(OFFCPUD_BLOCKED_LOCK)}, ull{truth.locks}));
  const double wall = ms(truth.last_wait_ns - truth.first_wait_ns);
  const double told = ms(seen.running_ns + seen.blocked_ns + seen.queued_ns);
  check(told > wall * 0.99 - 1 && told < wall * 1.01 + 1, "wall",
        text("%.2f ms told, %.2f ms passed", told, wall));
  check(seen.running_ns > 0 && ms(seen.running_ns) < wall, "running",
        text("%.2f ms", ms(seen.running_ns)));
}

void write_to(const std::string& path, const char* value) {
  std::ofstream file(path);
  file << value << std::flush;
  if (!file) give_up("write " + path);
}

// A process that wants all of a CPU gets a fifth of it.
void check_throttled(BpfSampleSource& source, const FeatureReport& features) {
  write_to(std::string(kCgroups) + "/cgroup.subtree_control", "+cpu");
  const Cgroup limited("probe-limited.slice");
  write_to(limited.path + "/cpu.max", "20000 100000");
  const pid_t spinner = fork_to([&] {
    limited.add(::getpid());
    const uint64_t end = now_ns() + 1'000'000'000;
    while (now_ns() < end) {
    }
    ::_exit(0);
  });
  reap(spinner);
  const Counts seen = counts_of(sample(source), limited.id);
  limited.remove();

  const uint64_t throttled = seen.episodes[OFFCPUD_RUNQ_THROTTLED];
  const double waited = static_cast<double>(seen.queued_ns) / 1e6;
  const bool told_apart = features.has("throttled");
  check((told_apart ? throttled >= 3 : throttled == 0) && waited > 500, "throttled",
        text("%llu episodes, %s; queued for %.1f ms", static_cast<unsigned long long>(throttled),
             told_apart ? "told apart" : "not told apart", waited));
}

// Threads that come and go: their state is made at fork and dies with them.
void check_forks(BpfSampleSource& source, const Cgroup& cgroup) {
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
  const uint64_t woken = seen.episodes[OFFCPUD_RUNQ_WAKEUP];
  check(seen.running_ns > 0 && woken >= kCrowds * kForks * 99 / 100, "forks",
        text("%u processes, %llu times queued by a wakeup", kCrowds * kForks,
             static_cast<unsigned long long>(woken)));
}

void check_cgroup_events(CgroupEvents* events, const Cgroup& cgroup) {
  if (!events) {
    check(true, "cgroup-events", "none, as the feature says");
    return;
  }
  struct stat root {};
  must(::stat(kCgroups, &root) == 0, "stat the root cgroup");
  bool created = false, removed = false;
  const auto status = events->drain([&](const CgroupChange& change) {
    if (change.id != cgroup.id) return;
    created |= change.kind == CgroupChange::Kind::Created && change.name == cgroup.name &&
               change.parent_id == root.st_ino;
    removed |= change.kind == CgroupChange::Kind::Removed;
  });
  check(status && created && removed, "cgroup-events",
        text("%screated with its name, %sremoved", created ? "" : "not ", removed ? "" : "not "));
}

// Nothing may be lost, with one exception. Before 6.4 task storage refuses a look-up while the same
// CPU is inside another one (bpf_task_storage_trylock): an interrupt during a fork or an exit whose
// wakeup cannot be recorded, or under preempt=full the threads that run instead of the forking one.
void check_losses(const BpfSession& session, BpfSampleSource& source,
                  const FeatureReport& features) {
  const KernelSample read = sample(source);
  uint64_t episodes = 0, refused = 0;
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
        text("%llu of %llu episodes: ", static_cast<unsigned long long>(total(read.losses)),
             static_cast<unsigned long long>(episodes)) +
            in_words(read.losses));
}

// Attaching rewrites kernel text and walks all threads, while they switch.
void check_attach_cycles(const FeatureReport& features) {
  const pid_t busy = fork_to([] {
    for (;;) sleep_for(1ms);
  });
  unsigned cycles = 0;
  for (; cycles < kAttachCycles; ++cycles) {
    auto session = BpfSession::load(64, features);
    if (!session || !session->attach()) break;
    sleep_for(5ms);
  }
  ::kill(busy, SIGKILL);
  ::waitpid(busy, nullptr, 0);
  check(cycles == kAttachCycles, "cycles", text("%u times attached and detached", cycles));
}

void check_supported(const FeatureReport& features) {
  const BpfObjects before;
  {
    BpfSession session = must(BpfSession::load(64, features), "load");
    check(true, "load", "all programs are accepted");
    check_instructions(session);
    const auto attached = session.attach();
    if (!check(bool{attached}, "attach", attached ? "all programs" : attached.error().message())) {
      return;
    }
    std::unique_ptr<CgroupEvents> events;
    if (features.has("cgroup_events")) events = must(CgroupEvents::open(session), "ring");
    BpfSampleSource source = must(BpfSampleSource::open(session), "maps");

    const Cgroup known("probe-known.slice"), crowd("probe-crowd.scope");
    check_known_waits(source, known, features);
    check_forks(source, crowd);
    check_throttled(source, features);
    known.remove();
    crowd.remove();
    check_cgroup_events(events.get(), known);
    check_losses(session, source, features);
  }
  check_nothing_left(before);
  check_attach_cycles(features);
}

// A kernel that lacks something must be refused in one sentence.
void check_refused(const Error& error) {
  const std::string& words = error.message();
  const bool sentence = words.find('\n') == std::string::npos && words.ends_with('.');
  check(error.kind() == ErrorKind::Unsupported && sentence, "refused", words);
}

}  // namespace
}  // namespace offcpud

int main() {
  using namespace offcpud;
  const FeatureReport features = probe_features();
  check_features(features);
  if (const auto supported = features.require(); supported) {
    check_supported(features);
  } else {
    check_refused(supported.error());
  }
  return failures == 0 ? 0 : 1;
}
