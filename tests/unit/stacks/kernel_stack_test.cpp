// SPDX-License-Identifier: Apache-2.0
#include "stacks/kernel_stack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace offcpud {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Functions = std::vector<std::string>;

std::vector<StackFrame> stack_of(const Functions& functions) {
  std::vector<StackFrame> frames;
  for (const std::string& function : functions) frames.emplace_back().function = function;
  return frames;
}

Functions names(std::span<const StackFrame> frames) {
  Functions functions;
  for (const StackFrame& frame : frames) functions.push_back(frame.function);
  return functions;
}

Functions without_switch(const Functions& functions) {
  const auto frames = stack_of(functions);
  return names(without_switch(frames));
}

Functions without_tracepoint(const Functions& functions, bool interrupt) {
  const auto frames = stack_of(functions);
  return names(without_tracepoint(frames, interrupt));
}

TEST(WithoutSwitch, BeginsWithWhatCalledTheScheduler) {
  EXPECT_THAT(without_switch({"bpf_prog_26e2f1a7_on_irq_work", "bpf_trace_run1",
                              "__bpf_trace_x86_irq_vector", "__traceiter_irq_work_exit",
                              "__sysvec_irq_work", "sysvec_irq_work", "asm_sysvec_irq_work",
                              "finish_task_switch.isra.0", "__schedule", "schedule",
                              "futex_do_wait", "do_syscall_64"}),
              ElementsAre("futex_do_wait", "do_syscall_64"));
  // As the walk over blocked threads finds it.
  EXPECT_THAT(without_switch({"__schedule", "schedule_preempt_disabled", "__mutex_lock", "f"}),
              ElementsAre("__mutex_lock", "f"));
}

// Another interrupt came first, and ours at the end of it.
TEST(WithoutSwitch, LooksBelowOtherInterrupts) {
  EXPECT_THAT(
      without_switch({"bpf_prog_26e2f1a7_on_irq_work", "sysvec_irq_work", "asm_sysvec_irq_work",
                      "handle_softirqs", "irq_exit_rcu", "asm_sysvec_apic_timer_interrupt",
                      "finish_task_switch", "__schedule", "schedule", "ep_poll"}),
      ElementsAre("ep_poll"));
}

// What is called like the scheduler tells why the thread waits.
TEST(WithoutSwitch, KeepsOtherFunctionsOfTheScheduler) {
  EXPECT_THAT(without_switch({"__schedule", "schedule", "schedule_timeout", "do_poll"}),
              ElementsAre("schedule_timeout", "do_poll"));
  EXPECT_THAT(without_switch({"schedule", "schedule_hrtimeout_range_clock", "ep_poll"}),
              ElementsAre("schedule_hrtimeout_range_clock", "ep_poll"));
}

TEST(WithoutSwitch, TakesNothingFromTheMiddle) {
  const Functions functions = {"f", "schedule", "bpf_prog_1_x", "g"};
  EXPECT_EQ(without_switch(functions), functions);
  EXPECT_THAT(without_switch({"schedule", "f", "__schedule"}), ElementsAre("f", "__schedule"));
}

TEST(WithoutSwitch, MayLeaveNothing) {
  EXPECT_THAT(without_switch({"bpf_trampoline_6442537", "__schedule", "schedule"}), IsEmpty());
  EXPECT_THAT(without_switch({}), IsEmpty());
}

const Functions kWaker = {"bpf_prog_1_on_sched_waking",
                          "bpf_trace_run1",
                          "__bpf_trace_sched_wakeup_template",
                          "__traceiter_sched_waking",
                          "try_to_wake_up",
                          "wake_up_q",
                          "futex_wake",
                          "do_syscall_64"};

TEST(WithoutTracepoint, BeginsWithTheWakeup) {
  EXPECT_THAT(without_tracepoint(kWaker, false),
              ElementsAre("try_to_wake_up", "wake_up_q", "futex_wake", "do_syscall_64"));
}

TEST(WithoutTracepoint, EndsWithTheEntryOfTheInterruptThatWoke) {
  EXPECT_THAT(
      without_tracepoint({"try_to_wake_up", "hrtimer_wakeup", "sysvec_apic_timer_interrupt",
                          "asm_sysvec_apic_timer_interrupt", "md5_transform", "do_syscall_64"},
                         true),
      ElementsAre("try_to_wake_up", "hrtimer_wakeup", "sysvec_apic_timer_interrupt",
                  "asm_sysvec_apic_timer_interrupt"));
  EXPECT_THAT(without_tracepoint({"try_to_wake_up", "nvme_irq", "asm_common_interrupt", "f"}, true),
              ElementsAre("try_to_wake_up", "nvme_irq", "asm_common_interrupt"));
}

// At the end of an interrupt the softirq is inside its entry; where bottom halves are enabled again
// there is no interrupt on the stack at all.
TEST(WithoutTracepoint, EndsWithTheSoftirqWhereThereIsNoInterrupt) {
  EXPECT_THAT(without_tracepoint({"try_to_wake_up", "tcp_rcv", "handle_softirqs", "f"}, true),
              ElementsAre("try_to_wake_up", "tcp_rcv", "handle_softirqs"));
  EXPECT_THAT(without_tracepoint({"try_to_wake_up", "tcp_rcv", "handle_softirqs", "irq_exit_rcu",
                                  "asm_sysvec_apic_timer_interrupt", "f"},
                                 true),
              ElementsAre("try_to_wake_up", "tcp_rcv", "handle_softirqs", "irq_exit_rcu",
                          "asm_sysvec_apic_timer_interrupt"));
  EXPECT_THAT(
      without_tracepoint({"try_to_wake_up", "tcp_rcv", "__do_softirq", "ip_output", "f"}, true),
      ElementsAre("try_to_wake_up", "tcp_rcv", "__do_softirq"));
}

// A thread that wakes while an interrupt is on its stack is none.
TEST(WithoutTracepoint, CutsNothingOffAThread) {
  const Functions functions = {"try_to_wake_up", "handle_softirqs", "asm_common_interrupt", "f"};
  EXPECT_EQ(without_tracepoint(functions, false), functions);
}

TEST(WithoutTracepoint, KeepsAnInterruptedStackWithoutKnownEntry) {
  EXPECT_THAT(without_tracepoint({"bpf_trace_run1", "try_to_wake_up", "f"}, true),
              ElementsAre("try_to_wake_up", "f"));
  EXPECT_THAT(without_tracepoint({}, true), IsEmpty());
}

TEST(IsOfOwnTimer, KnowsTheTimerOfTheThreadItself) {
  const auto own = [](const Functions& functions) { return is_of_own_timer(stack_of(functions)); };
  EXPECT_TRUE(own({"bpf_prog_1_on_waking", "bpf_trace_run1", "try_to_wake_up", "hrtimer_wakeup",
                   "__hrtimer_run_queues", "asm_sysvec_apic_timer_interrupt"}));
  EXPECT_TRUE(own({"try_to_wake_up", "wake_up_process", "hrtimer_wakeup"}));
  EXPECT_TRUE(own({"try_to_wake_up", "process_timeout", "call_timer_fn"}));
  EXPECT_TRUE(own({"try_to_wake_up", "call_timer_fn", "expire_timers"}));
  EXPECT_FALSE(own({"try_to_wake_up", "ep_autoremove_wake_function", "__wake_up_common",
                    "timerfd_tmrproc", "__hrtimer_run_queues"}));
  EXPECT_FALSE(own({"try_to_wake_up", "futex_wake", "hrtimer_wakeup"}));
  EXPECT_FALSE(own({"try_to_wake_up", "__queue_work", "call_timer_fn"}));
  EXPECT_FALSE(own({"try_to_wake_up"}));
  EXPECT_FALSE(own({}));
}

}  // namespace
}  // namespace offcpud
