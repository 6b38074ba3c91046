// SPDX-License-Identifier: Apache-2.0
// The real programs on this kernel: what they leave behind, how they are sized, what they tell.
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "attribution/cgroup_mount.h"
#include "base/file_io.h"
#include "kernel/bpf_reading_source.h"
#include "kernel/bpf_session.h"
#include "kernel/cgroup_events.h"
#include "kernel/optional_features.h"
#include "offcpud.skel.h"
#include "sleeping_crowd.h"

namespace offcpud {
namespace {

class Session : public ::testing::Test {
 protected:
  void SetUp() override {
    if (auto status = probe_features().require(); !status) GTEST_SKIP() << status.error().message();
    if (auto session = BpfSession::load({.cgroups = 16}, probe_features());
        !session && session.error().kind() == ErrorKind::Permission) {
      GTEST_SKIP() << session.error().message();
    }
  }
  static BpfSession loaded(std::uint32_t max_cgroups) {
    auto session = BpfSession::load({.cgroups = max_cgroups}, probe_features());
    EXPECT_TRUE(session) << session.error().message();
    for (const Feature& feature : session->features().features) {
      EXPECT_FALSE(feature.refused) << feature.name << ": " << feature.remedy;
    }
    return std::move(*session);
  }
  static Result<KernelReading> of_first_moments() {
    BpfSession session = loaded(64);
    TRY_VOID(session.attach());
    TRY(const auto source, BpfReadingSource::open(session));
    ::usleep(200'000);
    return source->read();
  }
};

// The ids of all programs of this kernel whose name is one of ours. Ids are never given out again,
// so another offcpud on this host shows up in both sets and not in their difference.
std::set<std::uint32_t> program_ids() {
  const std::set<std::string> ours = {
      // cut to 15 characters, as the kernel keeps them: on_sched_wakeup_new
      "on_sched_switch", "on_sched_waking", "on_sched_wakeup", "on_task_newtask", "on_cgroup_mkdir",
      "on_cgroup_rmdir", "walk_threads",    "describe_stacks", "describe_calls",  "describe_file"};
  std::set<std::uint32_t> ids;
  std::uint32_t id = 0;
  while (bpf_prog_get_next_id(id, &id) == 0) {
    const int fd = bpf_prog_get_fd_by_id(id);
    if (fd < 0) continue;
    bpf_prog_info info{};
    std::uint32_t size = sizeof info;
    if (bpf_obj_get_info_by_fd(fd, &info, &size) == 0 && ours.contains(info.name)) ids.insert(id);
    ::close(fd);
  }
  return ids;
}

std::set<std::uint32_t> held_since(const std::set<std::uint32_t>& before) {
  std::set<std::uint32_t> now = program_ids(), more;
  std::ranges::set_difference(now, before, std::inserter(more, more.end()));
  return more;
}

TEST_F(Session, LeavesNoProgramBehind) {
  const auto before = program_ids();
  for (int i = 0; i < 20; ++i) {
    BpfSession session = loaded(16);
    const Status attached = session.attach();
    ASSERT_TRUE(attached) << attached.error().message();
    EXPECT_GE(held_since(before).size(), 7U);
  }
  std::set<std::uint32_t> left = held_since(before);
  for (int i = 0; i < 100 && !left.empty(); ++i) {  // the kernel frees them after a grace period
    ::usleep(50'000);
    left = held_since(before);
  }
  EXPECT_TRUE(left.empty()) << left.size() << " programs are still there, the first has id "
                            << *left.begin();
}

TEST_F(Session, HasEveryProgramOfEachOptionalFeature) {
  const FeatureReport features = probe_features();
  const BpfSession session = loaded(16);
  for (const OptionalFeature& feature : optional_features()) {
    EXPECT_NE(std::ranges::find(features.features, feature.name, &Feature::name),
              features.features.end())
        << feature.name;
    for (const auto* programs : {&feature.own, &feature.shared}) {
      for (const std::string_view program : *programs) {
        EXPECT_NE(bpf_object__find_program_by_name(session.skeleton().obj, program.data()), nullptr)
            << program;
      }
    }
  }
}

TEST_F(Session, SizesMapsForTheConfiguredCgroups) {
  const BpfSession session = loaded(16);
  EXPECT_EQ(session.plan().subjects, 17U) << "16 and \"(other)\"";
  EXPECT_EQ(session.plan().ring_size, 32U);
  EXPECT_GE(session.plan().shards, 1U);
}

TEST_F(Session, ReadsWhatItMeasures) {
  const auto sample = of_first_moments();
  ASSERT_TRUE(sample) << sample.error().message();
  std::uint64_t episodes = 0, running_ns = 0;
  for (const CgroupReading& reading : sample->cgroups) {
    running_ns += reading.running_ns;
    for (const auto& histogram : reading.histograms) episodes += histogram ? histogram->count() : 0;
  }
  EXPECT_GT(episodes, 0U);
  EXPECT_GT(running_ns, 0U);
  EXPECT_GT(sample->left_censored, 0U);
}

// As /proc says: PF_KTHREAD among the flags, the seventh field behind the name.
bool is_kernel_thread(std::uint32_t pid) {
  const auto stat = read_file("/proc/" + std::to_string(pid) + "/stat", 4096);
  if (!stat) return false;
  std::istringstream fields(stat->substr(stat->rfind(')') + 1));
  std::string field;
  for (int i = 0; i < 6; ++i) fields >> field;
  std::uint32_t flags = 0;
  fields >> flags;
  return (flags & 0x00200000) != 0;
}

// There may be more of them than places.
TEST_F(Session, GivesNoPlaceOfAProcessToKernelThreads) {
  const auto sample = of_first_moments();
  ASSERT_TRUE(sample) << sample.error().message();
  std::set<std::uint32_t> kernel_threads, own;
  for (const ProcessReading& process : sample->processes) {
    if (is_kernel_thread(process.tgid)) kernel_threads.insert(process.tgid);
    if (process.tgid == static_cast<std::uint32_t>(::getpid())) own.insert(process.tgid);
  }
  EXPECT_TRUE(kernel_threads.empty()) << kernel_threads.size() << " of them";
  EXPECT_EQ(own.size(), 1U);
  ASSERT_TRUE(sample->walk);
  const auto met = std::ranges::count_if(sample->walk->threads, [](const offcpud_thread& thread) {
    return is_kernel_thread(thread.tid);
  });
  EXPECT_GT(met, 10) << "threads of the kernel that the walk has met";
}

// A cgroup made for the test and removed with it.
struct TemporaryCgroup {
  std::filesystem::path path;
  explicit TemporaryCgroup(const std::filesystem::path& root)
      : path(root / ("offcpud-test-" + std::to_string(::getpid()))) {
    std::filesystem::create_directory(path);
  }
  ~TemporaryCgroup() { remove(); }
  void remove() const {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
  [[nodiscard]] std::uint64_t id() const {
    struct stat status = {};
    return ::stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
  }
};

// Attaches, measures for `time` and detaches; the waits after wakeup of the threads of a cgroup.
LatencyHistogram wakeup_waits_of_a_session(BpfSession session, std::uint64_t cgroup_id,
                                           std::chrono::microseconds time) {
  EXPECT_TRUE(session.attach());
  auto source = BpfReadingSource::open(session);
  EXPECT_TRUE(source) << source.error().message();
  ::usleep(static_cast<useconds_t>(time.count()));
  auto sample = (*source)->read();
  EXPECT_TRUE(sample) << sample.error().message();
  LatencyHistogram waits;
  for (const CgroupReading& reading : sample->cgroups) {
    const auto& wakeups = reading.histograms[OFFCPUD_RUNQ_WAKEUP];
    if (reading.cgroup_id == cgroup_id && wakeups) waits += *wakeups;
  }
  return waits;
}

// A thread that wakes, runs and sleeps again while sched_waking is attached and sched_switch is not
// yet must not be taken for one that has been waiting for a CPU ever since.
TEST_F(Session, InventsNoWaitWhileItAttaches) {
  const auto mounts = read_file("/proc/self/mountinfo", 4 << 20);
  ASSERT_TRUE(mounts);
  const TemporaryCgroup cgroup(*cgroup2_mount(*mounts));
  const SleepingCrowd crowd(3'000, cgroup.path);
  if (!crowd.is_there()) GTEST_SKIP() << "3,000 SCHED_FIFO threads are not to be had here";
  LatencyHistogram waits;
  for (int i = 0; i < 10; ++i) {
    waits += wakeup_waits_of_a_session(loaded(256), cgroup.id(), std::chrono::milliseconds(600));
  }
  std::uint64_t as_long_as_a_sleep = 0;
  for (std::size_t slot = 0; slot < waits.slots.size(); ++slot) {
    const double bound = slot_bound_seconds(slot);
    if (bound > 0.25 && bound <= 0.5) as_long_as_a_sleep += waits.slots[slot];
  }
  EXPECT_GE(waits.count(), 30'000U) << "each thread wakes once in 0.4 s";
  EXPECT_EQ(as_long_as_a_sleep, 0U) << "of " << waits.count() << " waits";
}

std::vector<CgroupChange> changes_named(CgroupEvents& events, const std::string& name,
                                        std::uint64_t id) {
  std::vector<CgroupChange> seen;
  const Status drained = events.drain([&](const CgroupChange& change) {
    if (change.name == name || (id != 0 && change.id == id)) seen.push_back(change);
  });
  EXPECT_TRUE(drained);
  return seen;
}

TEST_F(Session, TellsOfCgroupsOfTheUnifiedHierarchy) {
  if (!probe_features().has("cgroup_events")) GTEST_SKIP() << "no cgroup events on this kernel";
  const auto mounts = read_file("/proc/self/mountinfo", 4 << 20);
  ASSERT_TRUE(mounts);
  BpfSession session = loaded(16);
  auto events = CgroupEvents::open(session);
  ASSERT_TRUE(events) << events.error().message();
  ASSERT_TRUE(session.attach());

  const TemporaryCgroup cgroup(*cgroup2_mount(*mounts));
  const std::uint64_t id = cgroup.id();
  cgroup.remove();
  const auto seen = changes_named(**events, cgroup.path.filename(), id);
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].kind, CgroupChange::Kind::Created);
  EXPECT_EQ(seen[0].id, id);
  EXPECT_EQ(seen[0].name, cgroup.path.filename());
  EXPECT_EQ(seen[1].kind, CgroupChange::Kind::Removed);
  EXPECT_EQ(seen[1].id, id);
}

TEST_F(Session, IsSilentAboutCgroupsOfVersionOne) {
  const std::filesystem::path v1 = "/sys/fs/cgroup/cpu";
  if (!std::filesystem::exists(v1 / "cgroup.procs")) GTEST_SKIP() << "no v1 hierarchy is mounted";
  if (!probe_features().has("cgroup_events")) GTEST_SKIP() << "no cgroup events on this kernel";
  BpfSession session = loaded(16);
  auto events = CgroupEvents::open(session);
  ASSERT_TRUE(events) << events.error().message();
  ASSERT_TRUE(session.attach());

  const TemporaryCgroup cgroup(v1);
  cgroup.remove();
  EXPECT_TRUE(changes_named(**events, cgroup.path.filename(), 0).empty());
}

}  // namespace
}  // namespace offcpud
