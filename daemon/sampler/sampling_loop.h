// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "jit/jit_codes.h"
#include "kernel/block_samples.h"
#include "runtime/event_loop.h"
#include "sampler/block_accounting.h"
#include "sampler/gil_looks.h"
#include "sampler/python_processes.h"
#include "sampler/python_stacks.h"
#include "sampler/stack_sampler.h"
#include "sampler/stack_sources.h"

namespace offcpud {

// What the symbols thread needs to read other processes' files. Another thread creates it; only the
// symbols thread uses it.
struct SymbolReads {
  explicit SymbolReads(std::shared_ptr<ReaderShare> readers) : client(std::move(readers)) {}
  ReaderClient client;
  DeadlineFilesBelow debug_files{client};
};

// The sampler's thread: creates its parts and lets the event loop call them. Used by one thread.
class SamplingLoop {
 public:
  static Result<std::unique_ptr<SamplingLoop>> open(const SamplerInputs& inputs, EventLoop& loop,
                                                    const SamplerOptions& options,
                                                    SamplerReports reports,
                                                    const std::shared_ptr<ReaderShare>& readers);

  void set_options(const SamplerOptions& options);
  void take_next(std::chrono::milliseconds length, const BlockFilter& filter,
                 StackSampler::Done done);
  // Ends the open snapshot and the loop.
  void stop();
  // Call it after the loop ended. Waits until all samples have names, but no longer than
  // `patience`.
  void finish(std::chrono::milliseconds patience);

 private:
  SamplingLoop(const SamplerInputs& inputs, EventLoop& loop, const SamplerOptions& options,
               SamplerReports reports, const std::shared_ptr<ReaderShare>& readers,
               std::unique_ptr<BlockSamples> samples);
  // `no_stacks`: as FeatureReport::why_no_stacks().
  Status wire(const std::string& no_stacks);
  void follow();
  void tell_losses();
  void set_tick_interval();

  EventLoop& loop_;
  const SamplerReports reports_;
  std::unique_ptr<BlockSamples> samples_;
  ReaderClient client_;
  DeadlineProcessMemory memory_{client_};
  std::shared_ptr<SymbolReads> symbol_reads_;  // used by the worker's thread
  SymbolWorker symbols_;
  StackSources sources_;
  SleeperStacks sleepers_;
  HolderFinder holders_{memory_};
  std::shared_ptr<JitCodeBoard> jit_board_ = std::make_shared<JitCodeBoard>();
  JitCodes jit_;
  PythonProcesses python_processes_;
  PythonStacks python_;
  GilLooks gils_;
  NamingQueue naming_;
  BlockAccounting accounting_;  // last: it uses the parts above
  EventLoop::Timer* timer_ = nullptr;
  std::chrono::milliseconds tick_interval_{0};
};

}  // namespace offcpud
