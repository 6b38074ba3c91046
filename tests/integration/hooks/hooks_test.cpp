// SPDX-License-Identifier: Apache-2.0
// What the programs do when another CPU, another walk or the kernel comes in between: each test
// makes the one order of events that a race needs.
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <gtest/gtest.h>
#include <linux/bpf.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <ctime>
#include <vector>

#include "base/file_io.h"
#include "hooks.skel.h"
#include "hooks_case.h"
#include "hooks_object.h"
#include "sample.h"
#include "unwind.h"

namespace offcpud {
namespace {

constexpr std::uint64_t kMicrosecond = 1000, kSecond = 1'000'000'000;

std::uint64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * kSecond + static_cast<std::uint64_t>(now.tv_nsec);
}

// A child that sleeps until it is destroyed.
class Sleeper {
 public:
  Sleeper() : pid_(::fork()) {
    if (pid_ != 0) return;
    for (;;) ::pause();
  }
  ~Sleeper() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;

  // Its number, once it sleeps.
  [[nodiscard]] std::uint32_t pid() const {
    const std::string path = "/proc/" + std::to_string(pid_) + "/syscall";
    const std::string pause = std::to_string(SYS_pause) + " ";
    for (int i = 0; i < 500; ++i) {
      const auto call = read_file(path, 256);
      if (call && call->starts_with(pause)) break;
      ::usleep(10'000);
    }
    return static_cast<std::uint32_t>(pid_);
  }

 private:
  pid_t pid_;
};

// Runs a program by a system call of this very frame, `depth` frames below the caller's: the walk
// finds these frames by their frame pointers.
[[gnu::noinline]] long run_below(int program, int depth) {
  if (depth > 0) {
    const long result = run_below(program, depth - 1);
    asm volatile("");  // not the last thing that it does: the call stays a call
    return result;
  }
  union bpf_attr attr {};
  attr.test.prog_fd = static_cast<std::uint32_t>(program);
  long result = SYS_bpf;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(long{BPF_PROG_TEST_RUN}), "S"(&attr), "d"(sizeof attr)
               : "rcx", "r11", "memory");
  return result;
}

class Hooks : public HooksCase {
 protected:
  void SetUp() override {
    cpu_set_t here;  // maps with an element for each CPU are asked on one
    CPU_ZERO(&here);
    CPU_SET(0, &here);
    ASSERT_EQ(::sched_setaffinity(0, sizeof here, &here), 0);
    HooksCase::SetUp();
  }
  void run(const bpf_program* program) {
    const Status status = HooksObject::run(program);
    ASSERT_TRUE(status) << status.error().message();
  }
  void walk(const bpf_program* program) {
    const Status status = HooksObject::walk(program);
    ASSERT_TRUE(status) << status.error().message();
  }
  // Walks this thread's stack `depth` frames deep.
  void walk_stack(std::uint32_t most, int depth = 40) {
    hooks()->bss->most_frames = most;
    ASSERT_EQ(run_below(bpf_program__fd(hooks()->progs.run_walk), depth), 0);
  }
  void leave_walk(std::uint32_t tid, std::uint64_t since_ns) {
    hooks()->bss->locked = 1;
    hooks()->bss->paused_tid = tid;
    hooks()->bss->paused_since_ns = since_ns;
    run(hooks()->progs.run_leave_walk);
  }
  static offcpud_process one_thread() {
    return {.start_ns = 5, .tgid = 77, .threads = 1, .hists = {}};
  }
};

TEST_F(Hooks, TwoThreadsBookTheFirstWaitOfAProcessWithTheLastFreeHistogram) {
  ASSERT_TRUE(hooks().set_process(1, one_thread()));
  ASSERT_EQ(HooksObject::drain(hooks()->maps.free_process_hists), HooksObject::kHists);
  hooks()->bss->rival_kind = OFFCPUD_BLOCKED_LOCK;
  hooks()->bss->rival_hist = 2;  // the other one took it, and says so before this one gives up
  run(hooks()->progs.run_new_hist);
  EXPECT_EQ(hooks().process(1).hists[OFFCPUD_BLOCKED_LOCK], 2U);
  EXPECT_EQ(hooks()->bss->result, 2U);
  EXPECT_EQ(hooks().lost(OFFCPUD_LOSS_PROCESSES_FULL), 0U);
}

TEST_F(Hooks, AProcessIsToldThatThereIsNoHistogramOnce) {
  ASSERT_TRUE(hooks().set_process(1, one_thread()));
  HooksObject::drain(hooks()->maps.free_process_hists);
  run(hooks()->progs.run_new_hist);
  EXPECT_EQ(hooks().process(1).hists[OFFCPUD_BLOCKED_LOCK], OFFCPUD_NO_HIST);
  run(hooks()->progs.run_new_hist);
  EXPECT_EQ(hooks().lost(OFFCPUD_LOSS_PROCESSES_FULL), 1U);
  EXPECT_EQ(hooks().lost(OFFCPUD_LOSS_FREE_LIST), 0U);
}

TEST_F(Hooks, AListThatCannotBeAskedIsNoEmptyList) {
  ASSERT_TRUE(hooks().set_process(1, one_thread()));
  hooks()->bss->pop_error = -EBUSY;
  run(hooks()->progs.run_new_hist);
  EXPECT_EQ(hooks().process(1).hists[OFFCPUD_BLOCKED_LOCK], 0U);  // the next wait asks again
  EXPECT_EQ(hooks().lost(OFFCPUD_LOSS_FREE_LIST), 1U);
  hooks()->bss->pop_error = 0;
  run(hooks()->progs.run_new_hist);
  EXPECT_EQ(hooks().process(1).hists[OFFCPUD_BLOCKED_LOCK], 1U);
  EXPECT_EQ(hooks().lost(OFFCPUD_LOSS_PROCESSES_FULL), 0U);
}

TEST_F(Hooks, AThreadJoinsLaterWhereTheListCouldNotBeAsked) {
  hooks()->bss->pop_error = -EBUSY;
  run(hooks()->progs.run_join);
  EXPECT_EQ(hooks()->bss->result, 0U);
  EXPECT_EQ(hooks().lost(OFFCPUD_LOSS_FREE_LIST), 1U);
  hooks()->bss->pop_error = 0;
  run(hooks()->progs.run_join);
  EXPECT_EQ(hooks()->bss->result, 1U);
  EXPECT_EQ(hooks().process(1).tgid, static_cast<std::uint32_t>(::getpid()));
  EXPECT_EQ(hooks().lost(OFFCPUD_LOSS_PROCESSES_FULL), 0U);
}

TEST_F(Hooks, WhatCannotBeGivenBackIsCounted) {
  offcpud_process process = one_thread();
  process.hists[OFFCPUD_BLOCKED_LOCK] = 1;
  process.hists[OFFCPUD_BLOCKED_DISK] = OFFCPUD_NO_HIST;
  ASSERT_TRUE(hooks().set_process(1, process));
  hooks()->bss->push_error = -EBUSY;
  run(hooks()->progs.run_leave_process);
  EXPECT_EQ(hooks().process(1).tgid, 0U);
  EXPECT_EQ(hooks().lost(OFFCPUD_LOSS_FREE_LIST), 2U);  // the histogram and the process
}

TEST_F(Hooks, ATakerLetsManyOthersPass) {
  const int ring = bpf_map__fd(hooks()->maps.free_subjects);
  for (std::uint32_t i = 0; i < 64; ++i) {
    const std::uint32_t subject = 1 + i % HooksObject::kCgroups;
    ASSERT_EQ(bpf_map_update_elem(ring, &i, &subject, BPF_ANY), 0);
  }
  hooks()->bss->free_tail = 64;
  hooks()->bss->rivals = 10;
  hooks()->bss->cgroup_id = 1234;
  run(hooks()->progs.run_take_subject);
  EXPECT_EQ(hooks()->bss->result, 1U + 10 % HooksObject::kCgroups);
  EXPECT_EQ(hooks()->bss->free_head, 11U);
  EXPECT_EQ(hooks().lost(OFFCPUD_LOSS_SUBJECTS_FULL), 0U);

  hooks()->bss->rivals = 50;  // more than it has patience for, and still there is room
  hooks()->bss->cgroup_id = 1235;
  run(hooks()->progs.run_take_subject);
  EXPECT_EQ(hooks()->bss->result, std::uint64_t{OFFCPUD_SUBJECT_OTHER});
  EXPECT_LT(hooks()->bss->free_head, 64U);
  EXPECT_EQ(hooks().lost(OFFCPUD_LOSS_SUBJECTS_FULL), 0U);
  EXPECT_EQ(hooks().lost(OFFCPUD_LOSS_SUBJECTS_BUSY), 1U);

  hooks()->bss->rivals = 0;
  hooks()->bss->free_head = 64;
  run(hooks()->progs.run_take_subject);
  EXPECT_EQ(hooks().lost(OFFCPUD_LOSS_SUBJECTS_FULL), 1U);
}

TEST_F(Hooks, AClockThatStepsBackLosesNothing) {
  const std::uint64_t began = 100 * kSecond;
  hooks()->bss->begun_ns = began;
  hooks()->bss->ended_ns = began - 9 * kMicrosecond;  // the other CPU's clock was ahead
  run(hooks()->progs.run_charge);
  EXPECT_EQ(hooks().lost(OFFCPUD_LOSS_CLOCK), 0U);
  EXPECT_EQ(hooks()->bss->result, 0U);
  const auto& waits = hooks().subject(0).hists[OFFCPUD_RUNQ_WAKEUP];
  EXPECT_EQ(waits.slots[0], 1U);  // an episode of no length
  EXPECT_EQ(waits.sum_ns, 0U);
  EXPECT_EQ(hooks().subject(0).running_ns, 0U);

  hooks()->bss->ended_ns = began - 11 * kMicrosecond;  // no step of a clock
  run(hooks()->progs.run_charge);
  EXPECT_EQ(hooks().lost(OFFCPUD_LOSS_CLOCK), 2U);
  EXPECT_EQ(hooks().subject(0).hists[OFFCPUD_RUNQ_WAKEUP].slots[0], 1U);

  hooks()->bss->ended_ns = began + 3 * kSecond;
  run(hooks()->progs.run_charge);
  EXPECT_EQ(hooks()->bss->result, 3 * kSecond);
  EXPECT_EQ(hooks().subject(0).running_ns, 3 * kSecond);
  EXPECT_EQ(hooks().subject(0).hists[OFFCPUD_RUNQ_WAKEUP].sum_ns, 3 * kSecond);
}

TEST_F(Hooks, AWalkTakesNoMoreFramesThanAsked) {
  walk_stack(OFFCPUD_UNWIND_FRAMES, 200);
  EXPECT_EQ(hooks()->bss->frames, std::uint32_t{OFFCPUD_UNWIND_FRAMES});
  EXPECT_EQ(hooks()->bss->end, std::uint32_t{OFFCPUD_UNWIND_END_DEPTH});
  walk_stack(31, 200);
  EXPECT_EQ(hooks()->bss->frames, 31U);
  EXPECT_EQ(hooks()->bss->end, std::uint32_t{OFFCPUD_UNWIND_END_DEPTH});
  walk_stack(OFFCPUD_UNWIND_FRAMES, 40);
  EXPECT_GT(hooks()->bss->frames, 40U);
  EXPECT_LT(hooks()->bss->frames, std::uint32_t{OFFCPUD_UNWIND_FRAMES});
}

TEST_F(Hooks, AWalkThatNobodyComesBackForHindersNobody) {
  const auto self = static_cast<std::uint32_t>(::gettid());
  leave_walk(self + 1, now_ns());  // of a thread that has left this CPU
  walk_stack(31);
  EXPECT_EQ(hooks()->bss->result, 1U);
  EXPECT_EQ(hooks()->bss->frames, 31U);
  leave_walk(self, now_ns() - kSecond);  // its interrupt never came
  walk_stack(31);
  EXPECT_EQ(hooks()->bss->result, 1U);
  // Given back afterwards: the next one finds it free.
  walk_stack(31);
  EXPECT_EQ(hooks()->bss->result, 1U);
}

TEST_F(Hooks, AWalkThatGoesOnSoonIsLeftAlone) {
  leave_walk(static_cast<std::uint32_t>(::gettid()), now_ns() + kSecond);
  walk_stack(31);
  EXPECT_EQ(hooks()->bss->result, 0U);
  leave_walk(0, 0);  // no pause: the program that this one interrupted is at it
  walk_stack(31);
  EXPECT_EQ(hooks()->bss->result, 0U);
  run(hooks()->progs.run_describe_waker);
  EXPECT_EQ(hooks()->bss->frames, 0U);
  EXPECT_EQ(hooks().lost(OFFCPUD_LOSS_WAKER_STACK), 1U);
  hooks()->bss->locked = 0;
  run(hooks()->progs.run_leave_walk);
  run(hooks()->progs.run_describe_waker);
  EXPECT_GT(hooks()->bss->frames, 0U);
  EXPECT_EQ(hooks().lost(OFFCPUD_LOSS_WAKER_STACK), 1U);
}

TEST_F(Hooks, AStackThatCouldNotBeCopiedIsNotComplete) {
  ASSERT_EQ(run_below(bpf_program__fd(hooks()->progs.run_append), 40), 0);
  const std::uint32_t frames = hooks()->bss->frames, end = hooks()->bss->end;
  EXPECT_GT(frames, 40U);
  hooks()->bss->copies_fail = 1;
  ASSERT_EQ(run_below(bpf_program__fd(hooks()->progs.run_append), 40), 0);
  EXPECT_EQ(hooks()->bss->frames, 0U);
  EXPECT_EQ(hooks()->bss->end, std::uint32_t{OFFCPUD_UNWIND_END_READ});
  hooks()->bss->copies_fail = 0;  // and the room was given back
  ASSERT_EQ(run_below(bpf_program__fd(hooks()->progs.run_append), 40), 0);
  EXPECT_EQ(hooks()->bss->frames, frames);
  EXPECT_EQ(hooks()->bss->end, end);
}

// A block of 60 s, of which walks have counted 50 s.
TEST_F(Hooks, ALostSampleStandsForItsPartAndForItsWholeBlock) {
  auto& memory = *hooks()->bss;
  hooks()->data_settings->sample_threads = OFFCPUD_SAMPLE_PROGRAMS;
  memory.begun_ns = 100 * kSecond;
  memory.ended_ns = 160 * kSecond;
  memory.part_ns = 10 * kSecond;
  memory.whole_ns = 60 * kSecond;
  run(hooks()->progs.run_keep_block);
  EXPECT_EQ(hooks().lost(OFFCPUD_LOSS_SAMPLE), 0U) << "there is room for one";
  run(hooks()->progs.run_drop_block);
  EXPECT_EQ(hooks().lost(OFFCPUD_LOSS_SAMPLE), 1U);
  EXPECT_EQ(memory.samples_lost_ns, 10 * kSecond);
  EXPECT_EQ(memory.samples_lost_whole_ns, 60 * kSecond);

  const std::uint32_t other = 1;  // somebody else's takes the room
  const std::vector<char> chosen(bpf_map__value_size(hooks()->maps.chosen_blocks));
  ASSERT_EQ(
      bpf_map_update_elem(bpf_map__fd(hooks()->maps.chosen_blocks), &other, chosen.data(), BPF_ANY),
      0);
  run(hooks()->progs.run_keep_block);
  EXPECT_EQ(hooks().lost(OFFCPUD_LOSS_SAMPLE), 2U);
  EXPECT_EQ(memory.samples_lost_ns, 20 * kSecond);
  EXPECT_EQ(memory.samples_lost_whole_ns, 120 * kSecond);

  memory.ended_ns = memory.begun_ns + kSecond / 1000;  // a short one: it stands for others, too
  memory.part_ns = kSecond / 1000;
  memory.whole_ns = kSecond;
  run(hooks()->progs.run_keep_block);
  EXPECT_EQ(memory.samples_lost_ns, 21 * kSecond);
  EXPECT_EQ(memory.samples_lost_whole_ns, 121 * kSecond);
}

// No histogram has such a block, so nothing of it is missing there.
TEST_F(Hooks, ALostSampleOfABlockWithoutBeginningIsNoWholeBlock) {
  auto& memory = *hooks()->bss;
  hooks()->data_settings->sample_threads = OFFCPUD_SAMPLE_PROGRAMS;
  memory.censored = 1;
  memory.begun_ns = 100 * kSecond;
  memory.ended_ns = 160 * kSecond;
  memory.part_ns = 10 * kSecond;
  memory.whole_ns = 60 * kSecond;
  run(hooks()->progs.run_keep_block);
  run(hooks()->progs.run_drop_block);
  EXPECT_EQ(hooks().lost(OFFCPUD_LOSS_SAMPLE), 1U);
  EXPECT_EQ(memory.samples_lost_ns, 10 * kSecond);
  EXPECT_EQ(memory.samples_lost_whole_ns, 0U);
}

enum RivalDeed : std::uint32_t { kKeeps = 1, kBegins, kWrites };  // hooks.bpf.c
// Barriers of past_of_other(), behind what it reads first and before and behind the blocks.
enum CopyBarrier : std::uint32_t { kCountIsRead = 1, kBeginIsRead, kBlocksAreRead };

class PastBlocksOfOthers : public Hooks {
 protected:
  // Copies the blocks while their thread does this at a barrier of the copy.
  offcpud_past copy(std::uint32_t deed, std::uint32_t barrier) {
    hooks()->bss->rival_deed = deed;
    hooks()->bss->rival_barriers = barrier;
    run(hooks()->progs.run_copy_past);
    EXPECT_EQ(hooks()->bss->rival_barriers, 0U) << "it has happened";
    offcpud_past past{};
    static_assert(sizeof past == sizeof hooks()->bss->copied);
    std::memcpy(&past, hooks()->bss->copied, sizeof past);
    return past;
  }
  static void expect_all_but_the_oldest(const offcpud_past& past) {
    EXPECT_EQ(past.tid, static_cast<std::uint32_t>(::gettid()));
    EXPECT_EQ(past.blocks[0].ended_ns, 0U) << "the thread may be replacing it";
    for (std::size_t i = 1; i <= OFFCPUD_PAST_BLOCKS; ++i) {
      EXPECT_EQ(past.blocks[i].ended_ns, (i + 1) * kSecond / 1000);
      EXPECT_EQ(past.blocks[i].length, 100 * kMicrosecond >> OFFCPUD_PAST_UNIT);
    }
  }
};

TEST_F(PastBlocksOfOthers, TheOldestIsLeftOut) {
  expect_all_but_the_oldest(copy(0, 0));
}

TEST_F(PastBlocksOfOthers, ABlockThatIsHalfWrittenIsTheOneLeftOut) {
  expect_all_but_the_oldest(copy(kWrites, kCountIsRead));
  expect_all_but_the_oldest(copy(kWrites, kBeginIsRead));
  expect_all_but_the_oldest(copy(kWrites, kBlocksAreRead));
}

// A reader comes between the keeping of the last block and the beginning of the next one: short
// blocks before the last one are not taken for running.
TEST_F(PastBlocksOfOthers, ShortBlocksAreToldUntilTheNextBlockHasBegun) {
  constexpr auto kShort = kSecond / 1000 >> OFFCPUD_PAST_UNIT;
  hooks()->bss->keeps = 1;
  const offcpud_past past = copy(0, 0);
  EXPECT_EQ(past.blocks[0].ended_ns, 5 * kSecond / 1000) << "it was kept";
  EXPECT_NEAR(past.blocks[0].skipped, kShort, 1);
  EXPECT_EQ(past.blocks[OFFCPUD_PAST_BLOCKS].ended_ns, 5 * kSecond / 1000);
  EXPECT_NEAR(past.blocks[OFFCPUD_PAST_BLOCKS].skipped, kShort, 1);

  hooks()->bss->keeps = 0;
  hooks()->bss->begins = 1;
  EXPECT_EQ(copy(0, 0).blocks[OFFCPUD_PAST_BLOCKS].ended_ns, 0U) << "it has not ended";
  EXPECT_EQ(hooks()->bss->result, 0U) << "none came after the block that was kept";
}

// What it waited for a CPU after its last block is known until it began to wait, or until now.
TEST_F(PastBlocksOfOthers, SayHowLongTheThreadWaitedForACpu) {
  constexpr auto kMs = kSecond / 1000;
  const auto units = [](std::uint64_t ns) { return std::uint32_t(ns >> OFFCPUD_PAST_UNIT); };
  auto& memory = *hooks()->bss;
  memory.past_state = 2;  // THREAD_RUNNABLE
  memory.past_since_ns = 7 * kMs;
  const offcpud_past queued = copy(0, 0);
  EXPECT_EQ(queued.until_ns, 7 * kMs);
  EXPECT_EQ(queued.queued, units(6 * kMs));
  EXPECT_EQ(queued.skipped, 0U);
  EXPECT_EQ(queued.blocks[1].queued, 0U);
  EXPECT_EQ(queued.blocks[OFFCPUD_PAST_BLOCKS].queued, units(kMs));

  memory.past_state = 1;  // THREAD_RUNNING
  EXPECT_GT(copy(0, 0).until_ns, kSecond) << "until now";
  EXPECT_EQ(copy(0, 0).queued, units(6 * kMs));

  memory.begins = 1;  // at 6 ms
  const offcpud_past blocked = copy(0, 0);
  EXPECT_EQ(blocked.until_ns, 6 * kMs);
  EXPECT_EQ(blocked.queued, units(6 * kMs));
}

// Short blocks lie before the one that lasts.
TEST_F(PastBlocksOfOthers, ShortBlocksAreToldBeforeOneThatHasNotEnded) {
  hooks()->bss->begins = 1;
  hooks()->bss->last_ns = 10 * kMicrosecond;
  const offcpud_past past = copy(0, 0);
  EXPECT_EQ(past.blocks[OFFCPUD_PAST_BLOCKS].ended_ns, 0U);
  EXPECT_NEAR(past.skipped, (kSecond / 1000 + 10 * kMicrosecond) >> OFFCPUD_PAST_UNIT, 1);
}

TEST_F(PastBlocksOfOthers, NothingIsKnownIfTheThreadGoesOnMeanwhile) {
  for (const std::uint32_t barrier : {kCountIsRead, kBeginIsRead, kBlocksAreRead}) {
    EXPECT_EQ(copy(kKeeps, barrier).tid, 0U) << barrier;
  }
  for (const std::uint32_t barrier : {kBeginIsRead, kBlocksAreRead}) {
    EXPECT_EQ(copy(kBegins, barrier).tid, 0U) << barrier;
  }
}

TEST_F(Hooks, TheWalkLeavesToTheSwitchWhatIsTheSwitchs) {
  const Sleeper sleeper;
  hooks()->bss->sleeper = sleeper.pid();
  walk(hooks()->progs.run_seed);
  EXPECT_EQ(hooks()->bss->found_idle, 1U);
  EXPECT_EQ(hooks()->bss->found_task_state, 8U);  // TASK_TRACED
  EXPECT_EQ(hooks()->bss->found_state, 3U);       // THREAD_BLOCKED
}

TEST_F(Hooks, AWakingThatWasOverEndsNoLaterBlock) {
  const Sleeper sleeper;
  hooks()->bss->sleeper = sleeper.pid();
  hooks()->bss->result = 1;
  walk(hooks()->progs.run_missed_wakeup);
  EXPECT_EQ(hooks()->bss->result, 0U);
  EXPECT_EQ(hooks().lost(OFFCPUD_LOSS_WAKEUP), 1U);
}

TEST_F(Hooks, AThreadIsAwakeSinceItsLastBlockOrItsStart) {
  constexpr std::uint32_t kRunning = 1, kWoken = 4;  // enum thread_state
  const Sleeper sleeper;
  auto& set = *hooks()->bss;
  set.sleeper = sleeper.pid();
  set.awake_state = kRunning;
  const auto since = [&] {
    walk(hooks()->progs.run_awake_since);
    return set.result;
  };
  set.born_ns = 1'000;
  EXPECT_EQ(since(), 1'000U) << "it has never slept";
  set.born_ns = kSecond;
  EXPECT_EQ(since(), 0U) << "it may have slept before it was seen first";
  set.found_blocked = 1;
  EXPECT_EQ(since(), kSecond) << "the end of the block that a walk had found";
  set.block_began_ns = 2 * kSecond;
  set.block_ended_ns = 3 * kSecond;
  set.woken_ns = 4 * kSecond;
  EXPECT_EQ(since(), 3 * kSecond) << "a waking of a thread that runs ends no block";
  set.block_ended_ns = 2 * kSecond - 1;
  EXPECT_EQ(since(), 0U) << "the end of its last block is not accounted";
  set.awake_state = kWoken;
  EXPECT_EQ(since(), 4 * kSecond);
}

}  // namespace
}  // namespace offcpud
