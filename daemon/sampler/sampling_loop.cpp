// SPDX-License-Identifier: Apache-2.0
#include "sampler/sampling_loop.h"

#include <algorithm>
#include <future>
#include <thread>
#include <unordered_set>

#include "runtime/privileges.h"
#include "sampling/kernel_frame.h"
#include "symbols/vdso.h"

namespace offcpud {
namespace {

// The files of all programs of a host are offered at the start.
constexpr SymbolWorker::Limits kSymbolLimits{.cache = {}, .waiting = 512};
constexpr std::chrono::milliseconds kFirstInterval{10};

// Of the thread that reads symbols: it was started by one that may do more.
constexpr Capability kOpenFiles[] = {Capability::SysPtrace, Capability::DacReadSearch,
                                     Capability::CheckpointRestore};

void keep_what_opens_files(
    const std::function<void(std::string_view topic, const std::string& sentence)>& warned) {
  if (const auto dropped = drop_capabilities(kOpenFiles); !dropped) {
    warned("symbols", dropped.error().message());
  }
}

std::uint64_t nanoseconds_of(MonotonicTime time) {
  return static_cast<std::uint64_t>(time.time_since_epoch().count());
}

void collect(std::unordered_set<std::uint64_t>& addresses, std::span<const __u64> frames) {
  addresses.insert(frames.begin(), frames.end());
}

}  // namespace

Result<std::unique_ptr<SamplingLoop>> SamplingLoop::open(const BpfSession& session,
                                                         const Clock& clock, EventLoop& loop,
                                                         const SamplerOptions& options,
                                                         SamplerReports reports) {
  TRY(auto samples, BlockSamples::open(session));
  std::unique_ptr<SamplingLoop> sampling(
      new SamplingLoop(session, clock, loop, options, std::move(reports), std::move(samples)));
  TRY_VOID(sampling->wire());
  return sampling;
}

SamplingLoop::SamplingLoop(const BpfSession& session, const Clock& clock, EventLoop& loop,
                           const SamplerOptions& options, SamplerReports reports,
                           std::unique_ptr<BlockSamples> samples)
    : session_(session),
      clock_(clock),
      loop_(loop),
      options_(options),
      reports_(std::move(reports)),
      samples_(std::move(samples)),
      symbols_(kSymbolLimits, [warned = reports_.warned] { keep_what_opens_files(warned); }),
      sources_(session, symbols_, clock, reports_.warned),
      blocked_(sources_.tables()),
      runtime_(std::make_shared<RuntimeNames>()),
      rate_(options.stacks_per_second, kFirstInterval),
      adapted_(clock.now()) {
  if (auto vdso = read_vdso_symbols()) runtime_->vdso = *std::move(vdso);
}

SamplingLoop::~SamplingLoop() {
  samples_->choose({});
}

Status SamplingLoop::wire() {
  if (!session_.takes_stacks()) {
    reports_.warned("hooks",
                    "there are none: this kernel tells neither who wakes threads nor when they run "
                    "again; see offcpuctl status");
  }
  begin_snapshot(moment());
  choose();
  if (sources_.fd() >= 0) {
    TRY_VOID(loop_.on_readable(sources_.fd(), [this] { follow(); }));
  }
  return loop_.every(kTick, [this] { tick(); }) ? Status() : Status(Error("start a timer"));
}

void SamplingLoop::begin_snapshot(const Moment& at) {
  windows_.emplace_front(options_.stacks, at, options_.interval);
  windows_.front().filter = options_.filter;
}

void SamplingLoop::choose() {
  if (!session_.takes_stacks()) return;
  samples_->choose({.kinds = options_.kinds,
                    .least = {},
                    .most = std::chrono::nanoseconds::max(),
                    .interval = rate_.interval()});
}

void SamplingLoop::set_options(const SamplerOptions& options) {
  if (stopped_) return;
  SampleWindow& snapshot = windows_.front();
  snapshot.due += options.interval - options_.interval;
  snapshot.filter = options.filter;
  options_ = options;
  rate_.set_budget(options.stacks_per_second);
  choose();
}

void SamplingLoop::tick() {
  if (stopped_) return;
  take_samples();
  adapt();
  const MonotonicTime now = clock_.now();
  if (std::ranges::any_of(windows_,
                          [&](const SampleWindow& window) { return window.due <= now; })) {
    turn(false);
  }
  sources_.forget_ended();
}

// A program that starts is followed soon, so that its first waits have their stacks. Many that
// start are followed together: nobody waits for this thread.
void SamplingLoop::follow() {
  sources_.follow();
  std::this_thread::sleep_for(kBetweenStarts);
}

// Samples first, then what was mapped until now: so everything that is on their stacks is known.
void SamplingLoop::take_samples() {
  std::vector<KeptSample> kept;
  const auto taken =
      samples_->drain([&kept](const SampledBlock& block) { kept.emplace_back(block); });
  sources_.follow();
  for (const KeptSample& sample : kept) take(sample.block());
  if (taken) {
    taken_ += *taken;
  } else {
    reports_.warned("samples", taken.error().message());
  }
  const std::uint64_t lost_ns = samples_->take_lost_ns();
  // Whose they were is not known.
  for (SampleWindow& window : windows_) {
    if (window.filter == BlockFilter{}) window.lost_ns += lost_ns;
  }
}

void SamplingLoop::take(const SampledBlock& block) {
  reports_.sampled(block.sample.user_end);
  for (SampleWindow& window : windows_) add(window, block);
}

void SamplingLoop::add(SampleWindow& window, const SampledBlock& block) {
  if (!window.filter.matches(block.sample)) return;
  if (&window != &windows_.front() && block.sample.ended_ns < nanoseconds_of(window.begin)) return;
  BlockSum* const sum = window.stacks.add(block);
  if (sum == nullptr) return;
  const offcpud_sample& sample = block.sample;
  sum->user = sources_.locate(sample.tgid, sample.ended_ns, block.user);
  sum->waker_user = sources_.locate(sample.waker_tgid, sample.ended_ns, block.waker_user);
  capture_runtime(*sum);
}

// The names of code that a program made are only to be had while it runs.
void SamplingLoop::capture_runtime(const BlockSum& sum) {
  const auto is_runtime = [](const LocatedFrame& frame) {
    return frame.file && frame.file->kind == MappedFile::Kind::Anonymous;
  };
  if (std::ranges::none_of(sum.user, is_runtime)) return;
  const PerfMaps::Process process{sum.sample.tgid, sum.sample.process_start_ns};
  if (naming_->load() > 1) return;  // the thread hangs
  if (!runtime_seen_.emplace(process.tgid, process.start_ns).second) return;
  symbols_.post([runtime = runtime_, process, now = clock_.now()](SymbolCache& /*objects*/) {
    runtime->perf_maps.capture(process, now);
  });
}

// What lasts is counted up to now, in every window that is open.
void SamplingLoop::credit_blocked() {
  const auto walked = samples_->walk_blocked(
      [this](const offcpud_blocked_record& record) { take_blocked(record); });
  blocked_.end_walk();
  if (!walked) reports_.warned("blocked", walked.error().message());
}

void SamplingLoop::take_blocked(const offcpud_blocked_record& record) {
  SampledBlock block = sampled_block(record.sample, record.kernel);
  std::vector<__u64> user;
  if ((record.sample.flags & OFFCPUD_SAMPLE_STACK_LATER) != 0) {
    const RemoteStack& stack = blocked_.stack_of(record);
    user.assign(stack.addresses.begin(), stack.addresses.end());
    block.user = user;
    block.sample.user_end = stack.end;
  }
  for (SampleWindow& window : windows_) {
    SampledBlock part = block;
    // A profile has nothing of the time before it. A snapshot has: that of blocks which were too
    // young to be credited to the one before.
    if (&window != &windows_.front()) {
      const std::uint64_t begin = nanoseconds_of(window.begin);
      const std::uint64_t most = part.sample.ended_ns > begin ? part.sample.ended_ns - begin : 0;
      part.sample.weight_ns = std::min<std::uint64_t>(part.sample.weight_ns, most);
    }
    if (part.sample.weight_ns != 0) add(window, part);
  }
}

void SamplingLoop::adapt() {
  const MonotonicTime now = clock_.now();
  if (now - adapted_ < kAdaptEvery) return;
  const auto before = rate_.interval();
  if (rate_.adapt(std::exchange(taken_, 0), now - adapted_) != before) choose();
  adapted_ = now;
  reports_.adapted(rate_.interval());
}

void SamplingLoop::take_next(std::chrono::milliseconds length, const BlockFilter& filter,
                             StackSampler::Done done) {
  if (stopped_) return done(Error("offcpud is stopping"));
  if (windows_.size() >= kMostWindows) {
    return done(Error("too many profiles are being taken at the same time; try again later"));
  }
  // What is under way belongs to the time before.
  take_samples();
  const Moment at = moment();
  credit_blocked();
  windows_.emplace_back(options_.stacks, at, length);
  windows_.back().filter = filter;
  windows_.back().done = std::move(done);
}

void SamplingLoop::stop() {
  if (stopped_) return;
  take_samples();
  stopped_ = true;
  turn(true);
  loop_.stop(0);
}

void SamplingLoop::finish(std::chrono::milliseconds patience) {
  auto named = std::make_shared<std::promise<void>>();
  auto all_named = named->get_future();
  if (symbols_.post([named](SymbolCache& /*objects*/) { named->set_value(); })) {
    (void)all_named.wait_for(patience);
  }
}

void SamplingLoop::turn(bool all) {
  const Moment at = moment();
  credit_blocked();
  take_samples();  // of what has ended meanwhile
  close_due(at, all);
}

void SamplingLoop::close_due(const Moment& at, bool all) {
  for (auto window = std::next(windows_.begin()); window != windows_.end();) {
    const auto next = std::next(window);
    if (all || window->due <= at.now) {
      close(*window, at);
      windows_.erase(window);
    }
    window = next;
  }
  SampleWindow& snapshot = windows_.front();
  if (!all && snapshot.due > at.now) return;
  snapshot.done = reports_.drafted;
  close(snapshot, at);
  windows_.pop_front();
  runtime_seen_.clear();  // programs make more code as they run
  if (!all) begin_snapshot(at);
}

void SamplingLoop::close(SampleWindow& window, const Moment& at) {
  auto interval = std::make_shared<SampledInterval>(window.close(at));
  if (naming_->load() >= kMostNaming) {
    // It hangs in a file system, or cannot keep up: what waits for it must not fill the memory.
    return window.done(Error("the names of functions take too long to look up"));
  }
  name_kernel(*interval);
  ++*naming_;
  symbols_.post([interval, runtime = runtime_, naming = naming_, done = std::move(window.done),
                 now = clock_.now()](SymbolCache& objects) {
    ProcessNames names(objects, *runtime, now);
    done(draft_of(*interval, names));
    --*naming;
  });
}

void SamplingLoop::name_kernel(SampledInterval& interval) {
  std::unordered_set<std::uint64_t> unique;
  for (const BlockSum& sum : interval.cut.sums) {
    const SampledBlock block = sum.block();
    collect(unique, block.kernel);
    collect(unique, block.waker_kernel);
  }
  const std::vector<std::uint64_t> addresses(unique.begin(), unique.end());
  const auto names = kernel_names(session_, addresses);
  if (!names) return reports_.warned("kernel_names", names.error().message());
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    interval.kernel_names.emplace(addresses[i], kernel_frame((*names)[i]));
  }
}

}  // namespace offcpud
