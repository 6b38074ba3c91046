// SPDX-License-Identifier: Apache-2.0
#include "stacks/kernel_stack.h"

#include <algorithm>
#include <array>

namespace offcpud {
namespace {

bool is_tracing(std::string_view function) {
  constexpr std::array<std::string_view, 5> kPrefixes = {
      "bpf_prog_", "bpf_trace_run", "bpf_trampoline_", "__bpf_trace_", "__traceiter_"};
  return std::ranges::any_of(kPrefixes,
                             [&](std::string_view prefix) { return function.starts_with(prefix); });
}

bool is_switch(std::string_view function) {
  constexpr std::array<std::string_view, 5> kNames = {
      "__schedule", "schedule", "schedule_preempt_disabled", "schedule_idle", "schedule_rtlock"};
  return std::ranges::find(kNames, function) != kNames.end();
}

// Every entry from hardware has such a name (arch/x86/include/asm/idtentry.h).
bool is_interrupt_entry(std::string_view function) {
  return function.starts_with("asm_sysvec_") || function == "asm_common_interrupt" ||
         function == "asm_exc_nmi" || function == "common_interrupt_return";
}

// A softirq may wake threads in the middle of another thread's kernel work; the caller of the
// softirq is the first frame of that work.
bool is_softirq(std::string_view function) {
  return function == "handle_softirqs" || function == "__do_softirq" || function == "do_softirq";
}

template <class Predicate>
std::span<const StackFrame> drop_inner(std::span<const StackFrame> frames, Predicate unwanted) {
  while (!frames.empty() && unwanted(frames.front().function)) frames = frames.subspan(1);
  return frames;
}

// Kernel: hrtimer_wakeup() wakes the thread of a hrtimer_sleeper (kernel/time/hrtimer.c), and
// process_timeout() that of schedule_timeout() (kernel/time/timer.c). The latter ends in a jump to
// wake_up_process(), so mostly only its caller is on the stack; any other timer function would be
// on it, too.
bool is_own_timer(std::string_view function) {
  return function == "hrtimer_wakeup" || function == "process_timeout" ||
         function == "call_timer_fn";
}

bool is_wakeup(std::string_view function) {
  return function == "try_to_wake_up" || function == "wake_up_process";
}

}  // namespace

bool is_of_own_timer(std::span<const StackFrame> frames) {
  frames = drop_inner(drop_inner(frames, is_tracing), is_wakeup);
  return !frames.empty() && is_own_timer(frames.front().function);
}

std::span<const StackFrame> without_switch(std::span<const StackFrame> frames) {
  if (!frames.empty() && is_tracing(frames.front().function)) {
    const auto switched = std::ranges::find_if(frames, [](const StackFrame& frame) {
      return frame.function.starts_with("finish_task_switch");
    });
    if (switched != frames.end()) {
      frames = frames.subspan(static_cast<std::size_t>(switched - frames.begin()) + 1);
    }
  }
  return drop_inner(drop_inner(frames, is_tracing), is_switch);
}

std::span<const StackFrame> without_tracepoint(std::span<const StackFrame> frames, bool interrupt) {
  frames = drop_inner(frames, is_tracing);
  if (!interrupt) return frames;
  const auto entry = std::ranges::find_if(
      frames, [](const StackFrame& frame) { return is_interrupt_entry(frame.function); });
  if (entry != frames.end())
    return frames.first(static_cast<std::size_t>(entry - frames.begin()) + 1);
  const auto softirq = std::ranges::find_if(
      frames, [](const StackFrame& frame) { return is_softirq(frame.function); });
  if (softirq == frames.end()) return frames;
  return frames.first(static_cast<std::size_t>(softirq - frames.begin()) + 1);
}

}  // namespace offcpud
