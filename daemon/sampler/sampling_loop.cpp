// SPDX-License-Identifier: Apache-2.0
#include "sampler/sampling_loop.h"

#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill() is POSIX's

#include <algorithm>
#include <cerrno>
#include <future>
#include <limits>
#include <thread>
#include <unordered_set>

#include "runtime/privileges.h"
#include "stacks/kernel_frame.h"
#include "symbols/vdso.h"

namespace offcpud {
namespace {

// The files of all programs of a host are offered at the start.
constexpr SymbolWorker::Limits kSymbolLimits{.cache = {}, .loads = {.waiting = 512}};
constexpr std::chrono::milliseconds kFirstInterval{10};

// For which the naming of a profile, for which somebody waits, and of a snapshot waits for objects
// that have not been read. It names what there is then.
constexpr std::chrono::milliseconds kPatience{1'500};
constexpr std::chrono::milliseconds kMostPatience{10'000};

// Of the thread that reads symbols: it was started by one that may do more.
void keep_nothing(
    const std::function<void(std::string_view topic, const std::string& sentence)>& warned) {
  if (const auto dropped = drop_capabilities({}); !dropped) {
    warned("symbols", dropped.error().message());
  }
}

// Of a process or thread. 0 and what is no positive pid_t would mean something else to kill().
bool exists(std::uint32_t number) {
  constexpr std::uint32_t kMost = std::numeric_limits<pid_t>::max();
  return number > 0 && number <= kMost &&
         (::kill(static_cast<pid_t>(number), 0) == 0 || errno != ESRCH);
}

// Without one after it that a block could be counted in when it has ended.
bool ends_for_good(const SampleWindow& window) {
  return window.ends && !window.is_snapshot();
}

void collect(std::unordered_set<std::uint64_t>& addresses, std::span<const __u64> frames) {
  addresses.insert(frames.begin(), frames.end());
}

}  // namespace

Result<std::unique_ptr<SamplingLoop>> SamplingLoop::open(
    const SamplerInputs& inputs, EventLoop& loop, const SamplerOptions& options,
    SamplerReports reports, const std::shared_ptr<ReaderShare>& readers) {
  TRY(auto samples, BlockSamples::open(inputs.session));
  std::unique_ptr<SamplingLoop> sampling(
      new SamplingLoop(inputs, loop, options, std::move(reports), readers, std::move(samples)));
  TRY_VOID(sampling->wire());
  return sampling;
}

SamplingLoop::SamplingLoop(const SamplerInputs& inputs, EventLoop& loop,
                           const SamplerOptions& options, SamplerReports reports,
                           const std::shared_ptr<ReaderShare>& readers,
                           std::unique_ptr<BlockSamples> samples)
    : session_(inputs.session),
      clock_(inputs.clock),
      cgroups_(inputs.cgroups),
      loop_(loop),
      options_(options),
      reports_(std::move(reports)),
      samples_(std::move(samples)),
      readers_(readers),
      client_(readers),
      symbol_reads_(std::make_shared<SymbolReads>(readers)),
      symbols_(kSymbolLimits, {.started = [warned = reports_.warned,
                                           kept = symbol_reads_] { keep_nothing(warned); },
                               .refused = reports_.refused,
                               .heartbeat = reports_.symbols}),
      sources_(session_, symbols_, client_, &symbol_reads_->debug_files, clock_,
               {.warned = reports_.warned, .refused = reports_.refused}),
      blocked_(sources_.tables(), memory_),
      runtime_(std::make_shared<RuntimeNames>(RuntimeNames{
          .perf_maps = PerfMaps(std::make_unique<DeadlinePerfMapFinder>(symbol_reads_->client), {},
                                reports_.refused),
          .vdso = {}})),
      rate_(options.stacks_per_second, kFirstInterval),
      adapted_(clock_.now()),
      focus_rate_(kFocusStacksPerSecond, kFirstInterval) {
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
  sources_.set_between([this] { keep_time(); });
  if (sources_.fd() >= 0) {
    TRY_VOID(loop_.on_readable(sources_.fd(), [this] { follow(); }));
  }
  TRY(timer_, loop_.every(kTick, [this] { tick(); }));
  return {};
}

void SamplingLoop::begin_snapshot(const Moment& at) {
  SampleWindow& window =
      windows_.emplace_front(BlockStacks(options_.stacks, room_),
                                                no_paths_yet(), at, options_.interval);
  window.capture = options_.capture;
  window.filter = options_.capture->blocks;
  window.filter_since = capture_since_;
}

void SamplingLoop::choose() {
  if (!session_.takes_stacks()) return;
  SampleChoice choice = choice_for(windows_);
  choice.interval = rate_.interval();
  set_pace();
  set_focus(choice.focuses);
  choice.focus_interval = std::min(focus_rate_.interval(), rate_.interval());
  samples_->choose(choice);
}

void SamplingLoop::set_pace() {
  const auto pace = windows_.size() > 1 ? kProfileTick : kTick;
  if (std::exchange(pace_, pace) != pace) timer_->set_interval(pace);
}

// Another one begins anew, so that a busy process does not fill the ring before it is known how
// busy it is.
void SamplingLoop::set_focus(const std::vector<std::uint32_t>& focuses) {
  const auto before = std::exchange(focuses_, focuses);
  const auto is_known = [&](std::uint32_t focus) { return std::ranges::count(before, focus) > 0; };
  if (std::ranges::all_of(focuses, is_known)) return;
  focus_rate_ = SamplingRate(kFocusStacksPerSecond, kFirstInterval);
  focus_taken_ = 0;
  focus_adapted_ = clock_.now();
}

// A snapshot is of one set of rules: that under way ends with the rules that it began with.
void SamplingLoop::set_options(const SamplerOptions& options) {
  if (stopped_) return;
  const bool other_rules = options.capture->text != options_.capture->text;
  windows_.front().due += options.interval - options_.interval;
  options_ = options;
  rate_.set_budget(options.stacks_per_second);
  if (!other_rules) return choose();
  capture_since_ = clock_.now();
  windows_.front().due = capture_since_;
  turn(false);
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
  for (SampleWindow& window : windows_) window.cgroups.retry();
  sources_.forget_ended();
}

// A program that starts is followed soon, so that its first waits have their stacks. Many that
// start are followed together: nobody waits for this thread.
void SamplingLoop::follow() {
  at("following what programs map");
  sources_.follow();
  std::this_thread::sleep_for(kBetweenStarts);
}

// Samples first, then what was mapped until now: so everything that is on their stacks is known.
void SamplingLoop::take_samples() {
  at("taking samples over");
  const auto taken =
      samples_->drain([this](const SampledBlock& block) { kept_.emplace_back(block); });
  if (!keeps_time_) {
    at("following what programs map");
    sources_.follow();  // in the middle of which windows may end, with what was kept until then
  }
  for (const KeptSample& sample : std::exchange(kept_, {})) take(sample.block());
  if (!taken) reports_.warned("samples", taken.error().message());
  const std::uint64_t lost_ns = samples_->take_lost_ns();
  // Whose they were is not known, but that somebody wanted them.
  for (SampleWindow& window : windows_) {
    const bool wants_all = &window == &windows_.front() || window.filter == BlockFilter{};
    (wants_all ? window.lost_ns : window.lost_of_any_ns) += lost_ns;
  }
}

void SamplingLoop::take(const SampledBlock& block) {
  at("locating samples");
  reports_.sampled(block.sample.user_end);
  count(block.sample);
  const bool is_known = young_.contains({block.sample.tid, block.sample.since_ns});
  for (SampleWindow& window : windows_) {
    if (!is_known || !ends_for_good(window)) add(window, block);
  }
}

// A sample that was taken only because of its focus counts in the host's rate with the probability
// that it would have been taken anyway.
void SamplingLoop::count(const offcpud_sample& sample) {
  const double interval = static_cast<double>(rate_.interval().count());
  const double chance = focuses_.empty() ? 1 : static_cast<double>(sample.weight_ns) / interval;
  taken_ += std::min(chance, 1.0);
  if (chance < 1) ++focus_taken_;
}

void SamplingLoop::add(SampleWindow& window, const SampledBlock& block) {
  const std::uint64_t weight_ns = window.weight_of(block.sample);
  if (weight_ns == 0) return;
  BlockSum* const sum = window.add(block, weight_ns);
  if (sum == nullptr) return;
  const offcpud_sample& sample = block.sample;
  sum->user = sources_.locate(sample.local_tgid, sample.ended_ns, block.user);
  sum->waker_user = sources_.locate(sample.waker_local_tgid, sample.ended_ns, block.waker_user);
  if (keeps_time_ && !is_located(*sum)) reports_.located_early();
  capture_runtime(*sum);
}

// The names of code that a program made are only to be had while it runs.
void SamplingLoop::capture_runtime(const BlockSum& sum) {
  const auto is_runtime = [](const LocatedFrame& frame) {
    return frame.file && frame.file->kind == MappedFile::Kind::Anonymous;
  };
  if (std::ranges::none_of(sum.user, is_runtime)) return;
  const PerfMaps::Process process{sum.sample.local_tgid, sum.sample.process_start_ns};
  if (naming_->load() > 1) return;  // the thread hangs
  const auto [seen, is_new] = runtime_seen_.try_emplace({process.tgid, process.start_ns});
  if (!is_new) return;
  seen->second = symbols_.prepare(
      [runtime = runtime_, process, now = clock_.now()](SymbolCache& /*objects*/) {
        runtime->perf_maps.capture(process, now);
      },
      "reading what a process says of code that it made", real_uid_of(process.tgid));
}

// What lasts is counted up to now, in every window that is open.
void SamplingLoop::credit_blocked(bool young) {
  at("walking over the blocked threads");
  const auto walked = samples_->walk_blocked(young, [this](const offcpud_blocked_record& record) {
    blocked_records_.push_back(record);
    if (blocked_records_.size() == kBlockedAtOnce) take_blocked();
  });
  take_blocked();
  at("ending the walk over the blocked threads");
  blocked_.end_walk();
  if (!walked) reports_.warned("blocked", walked.error().message());
}

void SamplingLoop::take_blocked() {
  blocked_.read_ahead(blocked_records_);
  for (const offcpud_blocked_record& record : blocked_records_) take_blocked(record);
  blocked_records_.clear();
}

void SamplingLoop::take_blocked(const offcpud_blocked_record& record) {
  at("walking the stacks of blocked threads");
  SampledBlock block = sampled_block(record.sample, record.kernel);
  std::vector<__u64> user;
  if ((record.sample.flags & OFFCPUD_SAMPLE_STACK_LATER) != 0) {
    const RemoteStack& stack = blocked_.stack_of(record);
    user.assign(stack.addresses.begin(), stack.addresses.end());
    block.user = user;
    block.sample.user_end = stack.end;
  }
  const bool young = (record.sample.flags & OFFCPUD_SAMPLE_YOUNG) != 0;
  if (young) young_.emplace(record.sample.tid, record.sample.since_ns);
  for (SampleWindow& window : windows_) {
    if (!young || ends_for_good(window)) add(window, block);
  }
}

void SamplingLoop::adapt() {
  const MonotonicTime now = clock_.now();
  if (!focuses_.empty()) adapt_focus(now);
  if (now - adapted_ < kAdaptEvery) return;
  const auto before = rate_.interval();
  if (rate_.adapt(std::exchange(taken_, 0.0), now - adapted_) != before) choose();
  adapted_ = now;
  reports_.adapted(rate_.interval());
  reports_.over_share(sources_.over_share(), sources_.left_out());
  StackLosses losses = sources_.losses();
  losses[static_cast<std::size_t>(StackLoss::Symbols)] = symbols_.counts().refused;
  reports_.losses(losses);
}

void SamplingLoop::adapt_focus(MonotonicTime now) {
  const auto before = focus_rate_.interval();
  const auto elapsed = now - std::exchange(focus_adapted_, now);
  if (focus_rate_.adapt(std::exchange(focus_taken_, 0.0), elapsed) != before) choose();
}

void SamplingLoop::take_next(std::chrono::milliseconds length, const BlockFilter& filter,
                             StackSampler::Done done) {
  if (stopped_) return done(Error("offcpud is stopping"));
  if (windows_.size() >= kMostWindows) {
    return done(Error("too many profiles are being taken at the same time; try again later"));
  }
  for (const auto& [number, what] :
       {std::pair(filter.pid, "process"), std::pair(filter.tid, "thread")}) {
    if (number && !exists(*number)) {
      return done(Error("there is no " + std::string(what) + " " + std::to_string(*number) +
                            " in the PID namespace of offcpud",
                        ErrorKind::Usage));
    }
  }
  take_samples();  // of the time before
  SampleWindow& window =
      windows_.emplace_back(BlockStacks(options_.stacks, room_), no_paths_yet(), moment(), length);
  window.filter = filter;
  window.done = std::move(done);
  choose();
}

void SamplingLoop::at(const char* work) const {
  if (reports_.stacks) reports_.stacks->begin(work);
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
  const SymbolWorker::After after{
      .loads = std::vector<ObjectId>(),
      .patience = std::chrono::duration_cast<std::chrono::milliseconds>(patience / 2)};
  if (symbols_.post([named](SymbolCache& /*objects*/) { named->set_value(); },
                    "naming the functions of the last snapshot", after)) {
    (void)all_named.wait_for(patience);
  }
  readers_->stopping = true;
}

// What has been followed so far is what there is to walk and locate with. That a few of the last
// frames may have no name, which is counted, is better than snapshots of any length.
void SamplingLoop::keep_time() {
  at("following what programs map");
  if (stopped_ || turns_ || keeps_time_) return;
  const MonotonicTime overdue = clock_.now() - kOverdue;
  const auto is_overdue = [&](const SampleWindow& window) { return window.due <= overdue; };
  if (std::ranges::none_of(windows_, is_overdue)) return;
  keeps_time_ = true;
  turn(false);
  keeps_time_ = false;
  at("following what programs map");
}

void SamplingLoop::turn(bool all) {
  turns_ = true;
  const Moment at = moment();
  for (SampleWindow& window : windows_) window.ends = all || window.due <= at.now;
  credit_blocked(std::ranges::any_of(windows_, ends_for_good));
  take_samples();  // of what has ended meanwhile
  young_.clear();
  close_due(at, all);
  turns_ = false;
}

void SamplingLoop::close_due(const Moment& at, bool all) {
  for (auto window = std::next(windows_.begin()); window != windows_.end();) {
    const auto next = std::next(window);
    if (window->ends) {
      close(*window, at);
      windows_.erase(window);
    }
    window = next;
  }
  SampleWindow& snapshot = windows_.front();
  if (snapshot.ends) {
    snapshot.done = reports_.finished;
    close(snapshot, at);
    windows_.pop_front();
    runtime_seen_.clear();  // programs make more code as they run
    if (!all) begin_snapshot(at);
  }
  if (!all) choose();  // what a profile wanted may be wanted no more
}

void SamplingLoop::close(SampleWindow& window, const Moment& at) {
  auto interval = std::make_shared<SampledInterval>(window.close(at));
  if (naming_->load() >= kMostNaming) {
    // It hangs in a file system, or cannot keep up: what waits for it must not fill the memory.
    return window.done(Error("the names of functions take too long to look up"));
  }
  name_kernel(*interval);
  const SymbolWorker::After after{.loads = loads_of(*interval),
                                  .patience = window.is_snapshot() ? kMostPatience : kPatience};
  ++*naming_;
  symbols_.post(
      [interval, runtime = runtime_, naming = naming_, done = std::move(window.done),
       now = clock_.now()](SymbolCache& objects) {
        ProcessNames names(objects, *runtime, now);
        done(snapshot_of(*interval, names));
        --*naming;
      },
      "naming the functions of a snapshot", after);
}

// What has to be read before its functions can be named.
std::vector<ObjectId> SamplingLoop::loads_of(const SampledInterval& interval) const {
  std::unordered_set<ObjectId> found;
  for (const BlockSum& sum : interval.cut.sums) {
    for (const auto* frames : {&sum.user, &sum.waker_user}) {
      for (const LocatedFrame& frame : *frames) found.insert(frame.object);
    }
    const auto runtime = runtime_seen_.find({sum.sample.local_tgid, sum.sample.process_start_ns});
    if (runtime != runtime_seen_.end()) found.insert(runtime->second);
  }
  return {found.begin(), found.end()};
}

void SamplingLoop::name_kernel(SampledInterval& interval) {
  std::unordered_set<std::uint64_t> unique;
  for (const BlockSum& sum : interval.cut.sums) {
    const SampledBlock block = sum.block();
    collect(unique, block.kernel);
    collect(unique, block.waker_kernel);
  }
  at("naming functions of the kernel");
  const std::vector<std::uint64_t> addresses(unique.begin(), unique.end());
  const auto names = kernel_names(session_, addresses);
  if (!names) return reports_.warned("kernel_names", names.error().message());
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    interval.kernel_names.emplace(addresses[i], kernel_frame((*names)[i]));
  }
}

}  // namespace offcpud
