// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/heartbeat.h"
#include "base/object_refusal.h"
#include "base/result.h"
#include "base/stack_losses.h"
#include "mappings/fair_share.h"
#include "pipeline/wait_window.h"
#include "reader/reader_client.h"
#include "stacks/capture_rules.h"
#include "stacks/sampled_snapshot.h"

namespace offcpud {

struct SamplerOptions {
  std::chrono::seconds interval{60};         // length of a snapshot
  double stacks_per_second = 200;            // sampling intervals adapt to this rate
  std::size_t stacks = 16'384;               // different stacks that a snapshot keeps apart
  std::chrono::milliseconds window{10'000};  // how often it says what threads waited for
  std::chrono::seconds long_block{10};       // ended blocks of this length are examined one by one
  std::shared_ptr<const CaptureRules> capture = std::make_shared<const CaptureRules>();
};

// Callbacks of the sampler, called on its threads.
struct SamplerReports {
  // A snapshot is finished, or could not be made. Called on the symbols thread, which may outlive
  // the sampler, or on the sampler's.
  std::function<void(Result<SampledSnapshot> sampled)> finished;
  // What threads waited for in each SamplerOptions::window, at most some seconds later. Called on
  // the symbols thread. Empty: nothing is examined.
  std::function<void(std::shared_ptr<const WaitWindow> window)> examined;
  std::function<void(std::uint32_t user_end)> sampled;  // one stack; enum offcpud_unwind_end
  // A new stack has functions outside of all known mappings, because its window had to end before
  // all mappings were read. Called on the sampler's thread.
  std::function<void()> located_early;
  std::function<void(std::chrono::nanoseconds longest)> adapted;  // sampling intervals
  // Part of a program, a library or a process's map of names was left out, because it exceeded the
  // limits. Called on the sampler's thread or the symbols thread.
  std::function<void(const std::string& path, const ObjectRefusals& causes)> refused;
  // Every second: the processes with too many mappings, which are not all kept, the largest first;
  // and how many mappings were left out since the start.
  std::function<void(const std::vector<OverShare>& processes, std::uint64_t left_out)> over_share;
  // Every second: what was left out since the start.
  std::function<void(const StackLosses& losses)> losses;
  ReaderReports readers;
  // Something is missing from the stacks. `topic` identifies the cause.
  std::function<void(std::string_view topic, const std::string& sentence)> warned;
  // The heartbeats of its two threads; may be null.
  std::shared_ptr<Heartbeat> stacks, symbols;

  // Tells the heartbeat that the sampler's thread begins another piece of work. A piece is small,
  // such as one object or one thread, so that many of them on a busy host are no hang. `subject`:
  // the path or process on which it works.
  void at(const char* work, std::string_view subject = {}) const {
    if (stacks) stacks->begin(work, subject);
  }
};

}  // namespace offcpud
