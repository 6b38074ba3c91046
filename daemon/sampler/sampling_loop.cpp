// SPDX-License-Identifier: Apache-2.0
#include "sampler/sampling_loop.h"

#include <thread>

#include "runtime/privileges.h"

namespace offcpud {
namespace {

// At the start, the files of all programs of the host are offered.
constexpr SymbolWorker::Limits kSymbolLimits{.cache = {}, .loads = {.waiting = 512}};
constexpr std::chrono::milliseconds kBetweenStarts{10};
constexpr std::chrono::seconds kTellLosses{1};

// Run by the thread that reads symbols, because the thread that started it has capabilities.
void keep_nothing(
    const std::function<void(std::string_view topic, const std::string& sentence)>& warned) {
  if (const auto dropped = drop_capabilities({}); !dropped) {
    warned("symbols", dropped.error().message());
  }
}

std::shared_ptr<RuntimeNames> runtime_names(SymbolReads& reads,
                                            std::shared_ptr<const JitCodeBoard> jit,
                                            PerfMaps::Refused refused) {
  auto names = std::make_shared<RuntimeNames>(RuntimeNames{
      .perf_maps =
          PerfMaps(std::make_unique<DeadlinePerfMapFinder>(reads.client), {}, std::move(refused)),
      .vdso = {},
      .jit = std::move(jit)});
  if (auto vdso = ElfSymbols::read_vdso()) names->vdso = *std::move(vdso);
  return names;
}

}  // namespace

Result<std::unique_ptr<SamplingLoop>> SamplingLoop::open(
    const SamplerInputs& inputs, EventLoop& loop, const SamplerOptions& options,
    SamplerReports reports, const std::shared_ptr<ReaderShare>& readers) {
  TRY(auto samples, BlockSamples::open(inputs.session));
  std::unique_ptr<SamplingLoop> sampling(
      new SamplingLoop(inputs, loop, options, std::move(reports), readers, std::move(samples)));
  TRY_VOID(sampling->wire(inputs.session.features().why_no_stacks()));
  return sampling;
}

SamplingLoop::SamplingLoop(const SamplerInputs& inputs, EventLoop& loop,
                           const SamplerOptions& options, SamplerReports reports,
                           const std::shared_ptr<ReaderShare>& readers,
                           std::unique_ptr<BlockSamples> samples)
    : loop_(loop),
      reports_(std::move(reports)),
      samples_(std::move(samples)),
      client_(readers),
      symbol_reads_(std::make_shared<SymbolReads>(readers)),
      symbols_(kSymbolLimits, {.started = [warned = reports_.warned,
                                           kept = symbol_reads_] { keep_nothing(warned); },
                               .refused = reports_.refused,
                               .heartbeat = reports_.symbols}),
      sources_(inputs.session, symbols_, client_, &symbol_reads_->debug_files, inputs.clock,
               {.warned = reports_.warned, .refused = reports_.refused}),
      sleepers_(sources_.tables(), memory_),
      jit_(memory_, inputs.clock, jit_board_,
           [this](std::uint32_t tgid, const JitCode& code) { sources_.put_code(tgid, code); }),
      python_processes_(
          sources_.tables(), memory_, inputs.clock,
          [this](const std::string& sentence) { reports_.warned("python", sentence); }),
      python_(sources_, memory_, python_processes_),
      gils_(memory_, python_processes_, inputs.clock),
      naming_(symbols_, runtime_names(*symbol_reads_, jit_board_, reports_.refused), inputs.sites,
              inputs.clock),
      accounting_({.kernel = *samples_,
                   .addresses = sources_,
                   .sleepers = sleepers_,
                   .holders = holders_,
                   .naming = naming_,
                   .jit = &jit_,
                   .python = &python_,
                   .gils = &gils_,
                   .cgroups = inputs.cgroups,
                   .clock = inputs.clock},
                  options, reports_) {}

Status SamplingLoop::wire(const std::string& no_stacks) {
  if (!samples_->has_hooks()) {
    reports_.warned("hooks", "there are none, so snapshots and profiles stay empty; " + no_stacks);
  }
  sources_.set_between([this] { accounting_.keep_time(); });
  if (sources_.fd() >= 0) {
    TRY_VOID(loop_.on_readable(sources_.fd(), [this] { follow(); }));
  }
  TRY(timer_, loop_.every(accounting_.tick_interval(), [this] {
    accounting_.tick();
    set_tick_interval();
  }));
  tick_interval_ = accounting_.tick_interval();
  TRY_VOID(loop_.every(kTellLosses, [this] { tell_losses(); }));
  return {};
}

void SamplingLoop::set_tick_interval() {
  const auto interval = accounting_.tick_interval();
  if (std::exchange(tick_interval_, interval) != interval) timer_->set_interval(interval);
}

// Follows a starting program soon, so that its first waits have stacks; the pause then lets many be
// followed together. Nobody waits for this thread.
void SamplingLoop::follow() {
  reports_.at("following mappings of processes");
  sources_.follow();
  set_tick_interval();
  std::this_thread::sleep_for(kBetweenStarts);
}

void SamplingLoop::tell_losses() {
  reports_.over_share(sources_.over_share(), sources_.left_out());
  StackLosses losses = sources_.losses();
  const SymbolWorker::Counts names = symbols_.counts();
  losses[static_cast<std::size_t>(StackLoss::Symbols)] = names.refused;
  losses[static_cast<std::size_t>(StackLoss::SymbolsForgotten)] = names.forgotten;
  losses[static_cast<std::size_t>(StackLoss::SymbolsUnreadable)] = names.failed;
  losses[static_cast<std::size_t>(StackLoss::WakerEvidence)] = naming_.evidence_dropped();
  losses[static_cast<std::size_t>(StackLoss::StackNames)] = naming_.names_left_out();
  losses[static_cast<std::size_t>(StackLoss::Sockets)] = accounting_.sockets_left_out();
  losses[static_cast<std::size_t>(StackLoss::Locks)] = holders_.left_out() + gils_.left_out();
  const auto& refused = python_processes_.refusals();
  for (const auto& [loss, cause] : {std::pair(StackLoss::PythonVersion, PythonRefusal::Version),
                                    std::pair(StackLoss::PythonBuild, PythonRefusal::Build),
                                    std::pair(StackLoss::PythonMemory, PythonRefusal::Memory)}) {
    losses[static_cast<std::size_t>(loss)] = refused[static_cast<std::size_t>(cause)];
  }
  losses[static_cast<std::size_t>(StackLoss::PythonStacks)] = python_.left_out();
  reports_.losses(losses);
}

void SamplingLoop::set_options(const SamplerOptions& options) {
  accounting_.set_options(options);
  set_tick_interval();
}

void SamplingLoop::take_next(std::chrono::milliseconds length, const BlockFilter& filter,
                             StackSampler::Done done) {
  accounting_.take_next(length, filter, std::move(done));
  set_tick_interval();
}

void SamplingLoop::stop() {
  accounting_.stop();
  loop_.stop(0);
}

void SamplingLoop::finish(std::chrono::milliseconds patience) {
  naming_.finish(patience);
}

}  // namespace offcpud
