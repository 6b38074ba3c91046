// SPDX-License-Identifier: Apache-2.0
#include "sampler/block_accounting.h"

#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill() is POSIX's

#include <algorithm>
#include <cerrno>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

namespace offcpud {
namespace {

// Twice while a ring fills at the usual rate, and soon enough for processes that end quickly.
constexpr std::chrono::milliseconds kTick{250};
// While profiles are taken: so that they end on time, and a new target's interval adapts soon.
constexpr std::chrono::milliseconds kProfileTick{50};
constexpr std::chrono::nanoseconds kFirstInterval = std::chrono::milliseconds(10);
constexpr double kTargetStacksPerSecond = 4000;
constexpr std::chrono::seconds kAdaptEvery{1};
// Looks at Python programs: how often; at blocks of which age; and the least time between two, as a
// multiple of what the last one took.
constexpr std::chrono::seconds kLookEvery{1};
constexpr std::chrono::nanoseconds kLookAge(OFFCPUD_IN_PROGRESS_AGE_NS);
constexpr int kLookPause = 50;
// A window must end within 1 s of its time. Until this much is over, the next tick may still end
// it.
constexpr std::chrono::milliseconds kOverdue{500};

// How long naming waits for objects that are not read yet. Somebody waits for a profile, and looks
// at what threads wait for now, but nobody waits for a snapshot.
constexpr std::chrono::milliseconds kProfilePatience{1'500};
constexpr std::chrono::milliseconds kWaitsPatience{2'000};
constexpr std::chrono::milliseconds kSnapshotPatience{10'000};

// Whether there is such a process or thread. kill() gives 0 and numbers beyond pid_t other
// meanings.
bool exists(std::uint32_t number) {
  constexpr std::uint32_t kMost = std::numeric_limits<pid_t>::max();
  return number > 0 && number <= kMost &&
         (::kill(static_cast<pid_t>(number), 0) == 0 || errno != ESRCH);
}

// Whether a mapping is known for each frame.
bool is_located(const BlockSum& sum) {
  const auto is_known = [](const LocatedFrame& frame) { return frame.file != nullptr; };
  return std::ranges::all_of(sum.user, is_known) && std::ranges::all_of(sum.waker_user, is_known);
}

// Of a Java program whose stack has code that it compiled. libjvm.so is mapped as it is linked:
// each part as far behind the first as its offset in the file says.
void note_jit_code(JitCodes& jit, const BlockSum& sum) {
  constexpr std::string_view kLibrary = "/libjvm.so";
  std::optional<std::uint64_t> base;
  std::vector<std::uint64_t> in_code;
  for (const LocatedFrame& frame : sum.user) {
    if (!frame.file) continue;
    if (frame.file->kind == MappedFile::Kind::Anonymous) in_code.push_back(frame.address);
    if (frame.file->path.ends_with(kLibrary)) base = frame.address - frame.file_offset;
  }
  if (in_code.empty() || !base) return;
  jit.seen({sum.sample.local_tgid, sum.sample.process_start_ns}, *base, in_code);
}

}  // namespace

BlockAccounting::BlockAccounting(AccountingParts parts, const SamplerOptions& options,
                                 const SamplerReports& reports)
    : parts_(std::move(parts)),
      options_(options),
      reports_(reports),
      windows_(parts_.cgroups),
      kernel_frames_(parts_.kernel),
      allocation_(options.stacks_per_second, kFirstInterval),
      adapted_(parts_.clock.now()),
      target_rate_(kTargetStacksPerSecond, kFirstInterval, parts_.clock.now()) {
  if (reports_.examined) {
    waits_.emplace(parts_.addresses, parts_.cgroups, options_, moment());
    wait_rules_ = parts_.naming.rules();
  }
  open_snapshot(moment());
  choose();
}

BlockAccounting::~BlockAccounting() {
  parts_.kernel.choose({});
}

std::chrono::milliseconds BlockAccounting::tick_interval() const {
  return windows_.has_profiles() ? kProfileTick : kTick;
}

void BlockAccounting::open_snapshot(const Moment& at) {
  SampleWindow& window =
      windows_.open_snapshot(at, options_.interval, options_.stacks, options_.capture);
  window.filter_since = rules_since_;
  window.done = reports_.finished;
}

void BlockAccounting::choose() {
  if (!parts_.kernel.has_hooks()) return;
  SampleChoice choice = windows_.choice();
  if (waits_) choice.blocks.include(waits_->filter());
  set_targets(choice.targets);
  choice.intervals = allocation_.intervals();
  choice.target_interval = target_rate_.interval();
  parts_.kernel.choose(choice);
  for (SampleWindow& window : windows_) window.note_interval(choice);
}

// A new target starts with the first rate, so that a busy process does not fill the ring before
// its rate is known.
void BlockAccounting::set_targets(const std::vector<std::uint32_t>& targets) {
  const auto before = std::exchange(targets_, targets);
  const auto is_known = [&](std::uint32_t target) {
    return std::ranges::count(before, target) > 0;
  };
  if (std::ranges::all_of(targets, is_known)) return;
  target_rate_ = AdaptiveRate(kTargetStacksPerSecond, kFirstInterval, parts_.clock.now());
}

// A snapshot has one set of rules, so other rules end the open one.
void BlockAccounting::set_options(const SamplerOptions& options) {
  if (stopped_) return;
  const bool other_rules = options.capture->text != options_.capture->text;
  windows_.snapshot().due += options.interval - options_.interval;
  options_ = options;
  if (waits_) waits_->set_options(options);
  allocation_.set_budget(options.stacks_per_second);
  if (!other_rules) return choose();
  rules_since_ = parts_.clock.now();
  windows_.snapshot().due = rules_since_;
  end_due();
}

void BlockAccounting::tick() {
  if (stopped_) return;
  take_samples();
  adapt();
  if (is_any_due(parts_.clock.now())) end_due();
  for (SampleWindow& window : windows_) window.cgroups.retry();
  if (waits_) follow_sockets();
  parts_.addresses.forget_ended();
  look_at_python();
  if (parts_.jit == nullptr) return;
  reports_.at("reading code made at run time");
  parts_.jit->refresh();
}

void BlockAccounting::follow_sockets() {
  waits_->retry_cgroups();
  reports_.at("walking over the sockets of processes");
  const Status followed = waits_->follow_sockets(parts_.kernel, parts_.clock.now());
  if (!followed) reports_.warned("sockets", followed.error().message());
}

bool BlockAccounting::is_any_due(MonotonicTime now) const {
  return windows_.any_due(now) || (waits_ && waits_->is_due(now));
}

// Drains samples first and then follows mappings, so that all code on the samples' stacks is known.
void BlockAccounting::take_samples() {
  reports_.at("draining samples");
  const auto taken =
      parts_.kernel.drain([this](const SampledBlock& block) { kept_.emplace_back(block); });
  if (!following_) {
    reports_.at("following mappings of processes");
    parts_.addresses.follow();  // keep_time() may end windows with the samples kept so far
  }
  for (const KeptSample& sample : std::exchange(kept_, {})) account(sample.block());
  if (!taken) reports_.warned("samples", taken.error().message());
  const LostSamples lost = parts_.kernel.take_lost();
  if (waits_) waits_->add_lost(lost);
  // It is unknown which blocks these were, only that some window wanted them.
  for (SampleWindow& window : windows_) {
    const bool wants_all = window.is_snapshot() || window.filter == BlockFilter{};
    (wants_all ? window.lost_ns : window.lost_of_any_ns) += lost.ns;
  }
}

// A block that a walk has seen may have ended since; its thread has not moved meanwhile.
void BlockAccounting::account(SampledBlock block) {
  reports_.at("locating samples");
  if (parts_.python != nullptr) block.interpreted = parts_.python->find(block.sample);
  reports_.sampled(block.sample.user_end);
  count(block.sample);
  if (waits_) waits_->add_ended(block);
  const bool is_known = young_.contains({block.sample.tid, block.sample.since_ns});
  for (SampleWindow& window : windows_) {
    if (!is_known || !window.ends_for_good()) add(window, block);
  }
}

// A sample taken only because of its target takes from the host's budget with the probability with
// which it would have been taken anyway.
void BlockAccounting::count(const offcpud_sample& sample) {
  const auto interval = static_cast<double>(allocation_.intervals().of[stratum_of(sample)].count());
  const double chance = targets_.empty() ? 1 : static_cast<double>(sample.whole_ns) / interval;
  allocation_.count(sample, std::min(chance, 1.0));
  if (chance < 1) target_rate_.count(1);
}

void BlockAccounting::add(SampleWindow& window, const SampledBlock& block) {
  const std::uint64_t weight_ns = window.weight_of(block.sample);
  if (weight_ns == 0) return;
  BlockSum* const sum = window.add(block, weight_ns);
  if (sum == nullptr) return;
  const AddressLocator& addresses = parts_.addresses;
  const offcpud_sample& sample = block.sample;
  sum->user = addresses.locate(sample.local_tgid, sample.ended_ns, block.user);
  sum->waker_user = addresses.locate(sample.waker_local_tgid, sample.ended_ns, block.waker_user);
  if (following_ && !is_located(*sum)) reports_.located_early();
  parts_.naming.read_runtime_names(*sum);
  if (parts_.jit != nullptr) note_jit_code(*parts_.jit, *sum);
  note_python(sample, sum->user);
}

// This may read the memory of the process, which may take long.
void BlockAccounting::note_python(const offcpud_sample& sample,
                                  std::span<const LocatedFrame> user) {
  if (parts_.python == nullptr) return;
  reports_.at("finding the Python of a program", "process " + std::to_string(sample.local_tgid));
  parts_.python->note(sample, user);
  reports_.at("locating samples");
}

// Accounts blocks in progress up to now, in every open window. Recent blocks only go into profiles
// that end; all other windows account them when they end.
void BlockAccounting::account_blocked(bool finds_holders) {
  finds_holders_ = finds_holders;
  const bool young = std::ranges::any_of(
      windows_, [](const SampleWindow& window) { return window.ends_for_good(); });
  reports_.at("walking over the blocked threads");
  const auto walked = parts_.kernel.walk_blocked(young ? BlockAge::Any : BlockAge::Lasting,
                                                 [this](const offcpud_blocked_record& record) {
                                                   blocked_records_.push_back(record);
                                                   if (blocked_records_.size() == kBlockedAtOnce)
                                                     take_blocked();
                                                 });
  take_blocked();
  reports_.at("ending the walk over the blocked threads");
  parts_.sleepers.end_walk();
  if (parts_.python != nullptr) parts_.python->end_walk();
  if (!walked) reports_.warned("blocked", walked.error().message());
  if (finds_holders) find_holders();
}

void BlockAccounting::find_holders() {
  reports_.at("finding the holders of locks");
  auto found = parts_.holders.find(parts_.kernel);
  if (found) {
    waits_->set_holders(*std::move(found), parts_.holders.take_unheld());
  } else {
    reports_.warned("holders", found.error().message());
  }
  if (parts_.gils == nullptr) return;
  reports_.at("finding the holders of Python's GIL");
  auto waits = parts_.gils->take(parts_.kernel);
  if (!waits) return reports_.warned("holders", waits.error().message());
  waits_->set_gil_waits(*std::move(waits));
}

void BlockAccounting::take_blocked() {
  if (finds_holders_) {
    reports_.at("reading the locks of blocked threads");
    parts_.holders.add(blocked_records_);
  }
  const std::vector<RemoteStack> stacks = walk_stacks();
  for (std::size_t i = 0; i < stacks.size(); ++i) take_blocked(blocked_records_[i], stacks[i]);
  blocked_records_.clear();
}

// Of blocked_records_.
std::vector<RemoteStack> BlockAccounting::walk_stacks() {
  std::vector<RemoteStack> stacks(blocked_records_.size());
  parts_.sleepers.read_ahead(blocked_records_);
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    const offcpud_blocked_record& record = blocked_records_[i];
    if ((record.sample.flags & OFFCPUD_SAMPLE_STACK_LATER) == 0) continue;
    reports_.at("walking the stacks of blocked threads");
    stacks[i] = parts_.sleepers.stack_of(record);
  }
  if (parts_.python != nullptr) {
    reports_.at("reading the stacks of Python programs");
    parts_.python->read(blocked_records_, stacks, parts_.kernel);
  }
  return stacks;
}

// Walks come too seldom to see blocks of a few seconds, whose ends then have the names.
void BlockAccounting::look_at_python() {
  const MonotonicTime begin = parts_.clock.now();
  if (parts_.python == nullptr || begin < looks_at_) return;
  reports_.at("looking at Python programs");
  for (const std::uint32_t process : parts_.python->processes_to_look_at()) {
    const auto looked = parts_.kernel.look_at(process, [this](const auto& record) {
      if (parts_.gils != nullptr) parts_.gils->see(record);
      const std::chrono::nanoseconds age(record.sample.ended_ns - record.sample.since_ns);
      const bool is_new = age >= kLookAge && !parts_.python->knows(record.sample);
      if (is_new && blocked_records_.size() < kBlockedAtOnce) blocked_records_.push_back(record);
    });
    if (!looked) reports_.warned("python", looked.error().message());
    if (parts_.gils != nullptr) parts_.gils->end_look();
    (void)walk_stacks();
    blocked_records_.clear();
  }
  parts_.python->end_look();
  const MonotonicTime end = parts_.clock.now();
  looks_at_ = end + std::max<std::chrono::nanoseconds>(kLookEvery, kLookPause * (end - begin));
}

void BlockAccounting::take_blocked(const offcpud_blocked_record& record, const RemoteStack& stack) {
  SampledBlock block = sampled_block(record.sample, record.peer, record.kernel);
  const std::vector<__u64> user(stack.addresses.begin(), stack.addresses.end());
  if ((record.sample.flags & OFFCPUD_SAMPLE_STACK_LATER) != 0) {
    block.user = user;
    block.sample.user_end = stack.end;
    if (parts_.python != nullptr) block.interpreted = parts_.python->find(record.sample);
  }
  const bool young = (record.sample.flags & OFFCPUD_SAMPLE_YOUNG) != 0;
  if (young) young_.emplace(record.sample.tid, record.sample.since_ns);
  if (waits_ && !young) waits_->add_lasting(block);
  for (SampleWindow& window : windows_) {
    if (!young || window.ends_for_good()) add(window, block);
  }
}

void BlockAccounting::adapt() {
  const MonotonicTime now = parts_.clock.now();
  if (!targets_.empty() && target_rate_.adapt(now)) choose();
  if (now - adapted_ < kAdaptEvery) return;
  const auto elapsed = now - std::exchange(adapted_, now);
  weights_.add(parts_.naming.take_stratum_times(), elapsed);
  allocation_.use(weights_);
  allocation_.adapt(elapsed);
  choose();
  reports_.adapted(std::ranges::max(allocation_.intervals().longest()));
}

void BlockAccounting::take_next(std::chrono::milliseconds length, const BlockFilter& filter,
                                NamingQueue::Done done) {
  if (stopped_) return done(Error("offcpud is stopping"));
  if (windows_.is_full()) {
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
  take_samples();  // from before the profile
  SampleWindow& window = windows_.open_profile(moment(), length, options_.stacks);
  window.filter = filter;
  window.done = std::move(done);
  choose();
}

void BlockAccounting::stop() {
  if (stopped_) return;
  take_samples();
  stopped_ = true;
  windows_.end_all();
  close_ending(moment());
}

// Ends overdue windows with the mappings known so far. A few of the last frames may have no name,
// which is counted; that is better than snapshots of any length.
void BlockAccounting::keep_time() {
  reports_.at("following mappings of processes");
  if (stopped_ || closing_ || following_) return;
  if (!windows_.any_due(parts_.clock.now() - kOverdue)) return;
  following_ = true;
  end_due();
  following_ = false;
  reports_.at("following mappings of processes");
}

// New windows begin at the moment at which others end, so that no time is lost in between.
void BlockAccounting::end_due() {
  const Moment at = moment();
  windows_.end_due(at.now);
  close_ending(at);
  if (!windows_.has_snapshot()) open_snapshot(at);
  choose();  // a profile's blocks may no longer be wanted
}

void BlockAccounting::close_ending(const Moment& at) {
  closing_ = true;
  const bool ends_waits = waits_ && waits_->is_due(at.now);
  account_blocked(ends_waits);
  take_samples();  // blocks that ended meanwhile
  young_.clear();
  for (SampleWindow& window : windows_.take_ended()) {
    close(window, at);
    if (window.is_snapshot()) parts_.naming.forget_runtime_names();
  }
  if (ends_waits) close_waits(at);
  closing_ = false;
}

// While the symbols thread is behind, the window goes on; its bounds hold. Each attempt costs a
// walk over the blocked threads, so the next one comes after a window's length.
void BlockAccounting::close_waits(const Moment& at) {
  if (parts_.naming.is_full_of_waits()) return waits_->postpone(at.now);
  WaitInterval interval = waits_->close(at);
  interval.intervals = allocation_.intervals().longest_of_rows();
  auto rules = parts_.naming.rules();
  if (rules != wait_rules_) waits_->forget_told();
  wait_rules_ = std::move(rules);
  name_kernel(interval);
  parts_.naming.examine(std::move(interval), kWaitsPatience, reports_.examined);
}

void BlockAccounting::close(SampleWindow& window, const Moment& at) {
  SampledInterval interval = window.close(at);
  if (parts_.naming.is_full()) {
    return window.done(Error("the names of functions take too long to look up"));
  }
  name_kernel(interval);
  parts_.naming.name(std::move(interval),
                     window.is_snapshot() ? kSnapshotPatience : kProfilePatience,
                     std::move(window.done));
}

void BlockAccounting::name_kernel(SampledInterval& interval) {
  std::unordered_set<std::uint64_t> unique;
  for (const BlockSum& sum : interval.stacks.sums) {
    const SampledBlock block = sum.block();
    for (const auto& frames : {block.kernel, block.waker_kernel}) {
      unique.insert(frames.begin(), frames.end());
    }
  }
  name_kernel(unique, interval.kernel_names);
}

void BlockAccounting::name_kernel(WaitInterval& interval) {
  std::unordered_set<std::uint64_t> unique;
  for (const WaitSum& sum : interval.waits.sums) {
    const auto frames = sum.kernel();
    unique.insert(frames.begin(), frames.end());
  }
  name_kernel(unique, interval.kernel_names);
}

void BlockAccounting::name_kernel(const std::unordered_set<std::uint64_t>& addresses,
                                  KernelFrames::Names& names) {
  reports_.at("naming functions of the kernel");
  const auto named = kernel_frames_.name(addresses, parts_.clock.now(), names);
  if (!named) reports_.warned("kernel_names", named.error().message());
}

}  // namespace offcpud
