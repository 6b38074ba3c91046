// SPDX-License-Identifier: Apache-2.0
#include "sampler/wait_examiner.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "base/gil_site.h"
#include "sampler/chain_sums.h"
#include "sampler/ended_sums.h"
#include "sampler/named_past.h"
#include "sampler/named_stack.h"
#include "sampler/peer_sums.h"
#include "sampler/release_sums.h"
#include "sampler/site_place.h"
#include "sampler/site_sums.h"
#include "sampler/told_places.h"
#include "sampler/window_blocks.h"
#include "sampler/window_disks.h"
#include "sites/file_evidence.h"
#include "stacks/sampling_intervals.h"
#include "waited.h"

namespace offcpud {
namespace {

// The part of all time that may be lost before silence means nothing. PlacePasts::kSurelySilent
// allows for it.
constexpr double kDeaf = 0.5;

// The same for waits of one cgroup without room. These are no random part: all stacks of one place
// may be missing.
constexpr double kDeafOfCgroup = 0.1;

}  // namespace

struct WaitExaminer::WindowSums {
  WindowPaths& paths;
  PeerNames& names;
  EndedSums ended;
  SiteSums sites;
  PeerSums peers;
  ReleaseSums releases;
};

namespace {

WaitPeer own_process(const offcpud_sample& sample) {
  WaitPeer own{.kind = WaitPeer::Kind::Process,
               .process = {.tgid = sample.tgid,
                           .local_tgid = sample.local_tgid,
                           .start_ns = sample.process_start_ns,
                           .cgroup_id = sample.cgroup_id}};
  std::ranges::copy(sample.process_comm, own.process.comm.begin());
  return own;
}

using Shares = PlaceClasses::Times;

Shares all_for(WaitFor wait_for) {
  Shares shares{};
  shares[static_cast<std::size_t>(wait_for)] = 1;
  return shares;
}

// Whether a rule knows what waits with these interpreted functions are for. Evidence of wakers is
// of the interpreter's place, where the thread may have waited for other things.
bool is_told_by_name(const ExaminedStack& stack) {
  return stack.named() && asks_for_wakers(stack.ask()) &&
         stack.wait()->wait_for != WaitFor::Unknown;
}

// What evidence says of the waits with a stack; null: nothing.
const Shares* shares_of(const ExaminedStack& stack, const WaitExaminer::Means& means) {
  const bool is_open = stack.ask() != SiteQuestion::None && !is_told_by_name(stack);
  return is_open ? means.places.find(stack.at(), means.now) : nullptr;
}

// The same for metrics. They have waits for children among all others, so what no chain could
// follow is unknown there: a shell's wait for a command that computes is no news, and the longest
// of a host that builds.
Shares counted_shares_of(const WaitSum& sum, const ExaminedStack& stack,
                         const WaitExaminer::Means& means) {
  const ExaminedWait& wait = *stack.wait();
  const bool is_for_child =
      stack.ask() == SiteQuestion::Child || sum.sample.kind == OFFCPUD_BLOCKED_CHILD;
  const bool is_guess = is_for_child && wait.wait_for == WaitFor::Answer && !wait.certain;
  const auto* const shares = is_guess ? means.places.find(place_of_followed(stack.at()), means.now)
                                      : shares_of(stack, means);
  if (shares != nullptr) return *shares;
  return all_for(is_guess ? WaitFor::Unknown : wait.wait_for);
}

// The sum has all threads of its stack. If evidence of snapshots distinguishes them, each class
// gets its share, and the shares add up to the whole.
void add_ended(WaitExaminer::WindowSums& window, const WaitSum& sum, ExaminedStack& stack,
               const WaitExaminer::Means& means) {
  const Shares counted = counted_shares_of(sum, stack, means);
  const bool is_for_gil = stack.wait()->site == kGilSite;
  const WaitPeer own = is_for_gil ? own_process(sum.sample) : WaitPeer();
  for (std::size_t i = 0; i < counted.size(); ++i) {
    if (counted[i] == 0) continue;
    const auto wait_for = static_cast<WaitFor>(i);
    window.ended.add(sum.sample.cgroup_id, wait_for, sum.ended.part(counted[i]));
    window.peers.add(sum, wait_for, counted[i], is_for_gil ? &own : nullptr);
  }
  KnownWaits& known = means.strata[stratum_of(sum.sample)];
  const Shares* const shares = shares_of(stack, means);
  if (shares == nullptr) {
    known.add(stack.wait()->wait_for, sum.ended.sum_ns);
    return window.sites.add(sum, *stack.wait(), 1);
  }
  for (std::size_t i = 0; i < shares->size(); ++i) {
    const double share = (*shares)[i];
    if (share == 0) continue;
    const auto wait_for = static_cast<WaitFor>(i);
    known.add(wait_for, share * sum.ended.sum_ns);
    window.sites.add(sum, *stack.as({.wait_for = wait_for}), share);
  }
}

PlaceNumber place_of(const offcpud_sample& sample, std::span<const StackFrame> user) {
  PlaceNumber place(sample.kind);
  for (auto frame = user.rbegin(); frame != user.rend(); ++frame) place.add(*frame);
  return place;
}

// What evidence of wakers says of a block; chains are followed later.
EvidenceVerdict verdict_of(const ExaminedStack& stack, std::uint32_t tid,
                           const WaitExaminer::Means& means) {
  const EvidenceVerdict by_rule = stack.verdict();
  if (!asks_for_wakers(stack.ask())) return by_rule;
  const ProcessPlace& at = stack.at();
  const ThreadAtPlace thread{.tgid = at.tgid,
                             .tid = tid,
                             .process_start_ns = at.process_start_ns,
                             .place = at.place,
                             .caller = stack.caller()};
  const WaitFor before = stack.named()
                             ? by_rule.wait_for
                             : by_named_past(means.places, thread, means.classifier.generation(),
                                             by_rule.wait_for, means.now);
  const EvidenceVerdict by_wakers =
      means.evidence.judge(thread, before, means.now, stack.ask() == SiteQuestion::Handover);
  EvidenceVerdict verdict = as_asked(stack.ask(), by_wakers, before);
  verdict.certain = verdict.certain && !is_told_by_name(stack);
  return verdict;
}

LastingBlock lasting_block(const SeenBlock& block, const ExaminedStack& stack,
                           const WaitExaminer::Means& means) {
  using Awaits = LastingBlock::Awaits;
  const bool reads = stack.ask() == SiteQuestion::Pipe || stack.ask() == SiteQuestion::Fds;
  const bool is_pipe = reads && (block.waited_on & OFFCPUD_ON_PIPE) != 0;
  const Awaits other = is_pipe ? Awaits::Pipe : Awaits::Nothing;
  return {.tid = block.tid,
          .tgid = block.tgid,
          .parent_tgid = block.parent_tgid,
          .awaits = stack.ask() == SiteQuestion::Child ? Awaits::Child : other,
          .holder_tgid = block.holder_tgid,
          .is_own_pipe = (block.waited_on & OFFCPUD_ON_OWN) != 0,
          .verdict = verdict_of(stack, block.tid, means)};
}

// Whether the block may have been seen before the process that it waits for began to wait.
bool is_early(const SeenBlock& block, const LastingBlock& lasting) {
  const std::chrono::nanoseconds age(block.seen_ns - block.since_ns);
  return !lasting.is_followed && age < WaitExaminer::kEarly;
}

// What a chain makes of a block with this stack, and what of it the chain could follow.
void add_chained(ToldPlaces& places, const ExaminedStack& stack, const LastingBlock& lasting,
                 std::uint64_t ns) {
  const WaitFor wait_for = lasting.verdict.wait_for;
  places.add(stack.at(), stack, wait_for, ns);
  places.add(place_of_followed(stack.at()), stack,
             lasting.is_followed ? wait_for : WaitFor::Unknown, ns);
}

// What waits with this stack are for; unknown, if evidence says several things of threads with it.
WaitFor surely_for(const ExaminedStack& stack, const WaitExaminer::Means& means) {
  constexpr double kNearlyAll = 0.9;
  const Shares* const shares = shares_of(stack, means);
  if (shares == nullptr) return stack.wait()->wait_for;
  const auto most = std::ranges::max_element(*shares);
  if (*most < kNearlyAll) return WaitFor::Unknown;
  return static_cast<WaitFor>(std::distance(shares->begin(), most));
}

// How much of a cgroup's waits that ended within a window is known by their stacks.
struct HeardCgroup {
  std::uint64_t unit = 0;  // PlacePasts::unit_of()
  double named_ns = 0, unnamed_ns = 0;
};

std::set<std::uint64_t> deaf_units(const std::map<std::uint64_t, HeardCgroup>& cgroups) {
  std::set<std::uint64_t> deaf;
  for (const auto& [cgroup_id, heard] : cgroups) {
    const double all_ns = heard.named_ns + heard.unnamed_ns;
    if (heard.unnamed_ns > kDeafOfCgroup * all_ns) deaf.insert(heard.unit);
  }
  return deaf;
}

}  // namespace

std::shared_ptr<const WaitWindow> WaitExaminer::examine(const WaitInterval& interval,
                                                        const Means& means) {
  use(means);
  auto window = std::make_shared<WaitWindow>();
  window->begin = interval.begin;
  window->begin_at = interval.begin_at;
  window->end_at = interval.end_at;
  window->lost_ns = interval.lost_ns;
  window->lost_within_ns = interval.lost_within_ns;
  WindowPaths paths(interval.cgroups);
  devices_.forget_mounts();
  PeerNames names(paths, devices_);
  WindowSums sums{paths,
                  names,
                  EndedSums(paths),
                  SiteSums(paths),
                  PeerSums(paths, names),
                  ReleaseSums(paths, names)};
  std::vector<Examined> examined;
  examined.reserve(interval.waits.sums.size());
  for (const WaitSum& sum : interval.waits.sums) {
    examined.push_back(examine(sum, interval, means));
    add_ended(sums, sum, *examined.back(), means);
  }
  for (const auto& [cgroup_id, waits] : interval.waits.overflow) {
    sums.ended.add(cgroup_id, WaitFor::Unknown, waits);
    sums.peers.add_unknown_ended(cgroup_id,
                                 {.ns = waits.sum_ns, .variance_ns2 = waits.variance_ns2});
  }
  window->ended = std::move(sums.ended).take();
  for (const auto& [cgroup_id, time] : interval.waits.overflow_times) {
    sums.sites.add_unknown(cgroup_id, time);
    sums.peers.add_unknown(cgroup_id, time);
  }
  learn(interval, examined);
  add_chains(*window, sums, interval, examined, means);
  add_blocks(*window, sums, interval, examined, means);
  window->sites = std::move(sums.sites).take();
  window->peers = std::move(sums.peers).take();
  window->disks = disks_of(*window);
  return window;
}

// A chain may reach back into the window before, but no further.
void WaitExaminer::add_chains(WaitWindow& window, WindowSums& sums, const WaitInterval& interval,
                              const std::vector<Examined>& examined, const Means& means) {
  std::vector<ChainedBlock> now;
  now.reserve(interval.waits.ended.size());
  for (const EndedBlock& block : interval.waits.ended) {
    const offcpud_sample& sample = interval.waits.sums[block.sum].sample;
    const WaitFor wait_for = surely_for(*examined[block.sum], means);
    now.push_back(chained(block, sample, wait_for));
    if (wait_for != WaitFor::Lock) continue;
    sums.releases.add(block, sample.cgroup_id, examined[block.sum]->wait()->site);
  }
  window.released = std::move(sums.releases).take();
  const bool goes_on = chained_all_ && chained_until_ == interval.begin_at;
  const MonotonicTime begin = goes_on ? chained_from_ : interval.begin_at;
  std::vector<ChainedBlock> all = goes_on ? std::move(chained_) : std::vector<ChainedBlock>();
  all.insert(all.end(), now.begin(), now.end());
  const IntervalChains chains(std::move(all), ns_of(begin));
  ChainSums divided(sums.paths, sums.names, interval.intervals);
  divided.add(now, ns_of(interval.begin_at), chains, interval.waits.ended_are_all);
  ChainSums::Chains rows = std::move(divided).take();
  window.chains = std::move(rows.of_cgroups);
  window.process_chains = std::move(rows.of_processes);
  window.unchained = rows.processes_left_out;
  for (ChainedBlock& block : now) block.past = nullptr;  // of them, only the blocks are needed
  chained_ = std::move(now);
  chained_from_ = interval.begin_at;
  chained_until_ = interval.end_at;
  chained_all_ = interval.waits.ended_are_all;
}

// Learns how long waits took at places where nobody can tell what they are for. Call it before
// blocks are compared with that.
void WaitExaminer::learn(const WaitInterval& interval, const std::vector<Examined>& examined) {
  std::map<std::uint64_t, HeardCgroup> cgroups;
  double ended_ns = 0;
  for (const WaitSum& sum : interval.waits.sums) {
    cgroups[sum.sample.cgroup_id].named_ns += sum.ended.sum_ns;
    ended_ns += sum.ended.sum_ns;
  }
  for (const auto& [cgroup_id, waits] : interval.waits.overflow) {
    cgroups[cgroup_id].unnamed_ns += waits.sum_ns;
    ended_ns += waits.sum_ns;
  }
  for (auto& [cgroup_id, heard] : cgroups) {
    heard.unit = pasts_.unit_of(interval.cgroups.path_of(cgroup_id));
  }
  const auto lost_ns = static_cast<double>(interval.lost_ns);
  pasts_.begin_window(ns_of(interval.end_at), lost_ns > kDeaf * (ended_ns + lost_ns));
  for (std::size_t i = 0; i < examined.size(); ++i) {
    const ExaminedStack& stack = *examined[i];
    if (stack.past() == 0) continue;
    const WaitSum& sum = interval.waits.sums[i];
    const std::uint64_t unit = cgroups.at(sum.sample.cgroup_id).unit;
    pasts_.learn(stack.past(), {.owner = stack.owner(), .unit = unit}, sum);
  }
  for (const EndedBlock& block : interval.waits.ended) {
    constexpr std::uint32_t kAnswered = OFFCPUD_ON_ASKED | OFFCPUD_ON_CAME | OFFCPUD_ON_ALONE;
    const std::uint32_t waited_on = interval.waits.sums[block.sum].sample.waited_on;
    if ((waited_on & kAnswered) != kAnswered || block.since_ns == 0) continue;
    pasts_.learn_answer(examined[block.sum]->past(), block.ended_ns - block.since_ns,
                        block.stands_for, (waited_on & OFFCPUD_ON_FIRST) != 0);
  }
  pasts_.deafen(deaf_units(cgroups));
}

void WaitExaminer::use(const Means& means) {
  means.classifier.use(means.rules);
  if (std::exchange(rules_, means.rules) != means.rules) {
    known_.clear();
    blocks_.clear();
  }
  std::erase_if(known_, [&](const auto& item) {
    const Known& known = item.second;
    return known.until <= means.now || means.now - known.used > kKeptUnused;
  });
}

// The user who holds most loses the stacks that nothing needs now. If that is not enough, his other
// stacks lose their functions, a quarter of the room at once, so that this happens seldom.
void WaitExaminer::make_room() {
  while (room_.bytes() > kMostBytes) {
    const std::size_t before = room_.bytes();
    const ShareOwner loses = *room_.largest();
    const auto is_his = [&](const auto& item) { return item.second.stack->owner() == loses; };
    std::erase_if(known_, [&](const auto& item) {
      return is_his(item) && item.second.stack.use_count() == 1;
    });
    if (room_.bytes() > kMostBytes) room_.shrink(loses, kMostBytes / 4 * 3);
    if (room_.bytes() > kMostBytes) std::erase_if(known_, is_his);
    if (room_.bytes() == before) return;  // lasting blocks need this much at least
  }
}

WaitExaminer::Examined WaitExaminer::examine(const WaitSum& sum, const WaitInterval& interval,
                                             const Means& means) {
  const auto known = known_.find(sum.key);
  if (known != known_.end()) {
    known->second.used = means.now;
    return known->second.stack;
  }

  const NamedStack stack = name_stack(sum, interval, means.names);
  const WaitClass found = classify(means.classifier, sum, stack);
  // Rules and places see the interpreter's own functions, too.
  StackTexts texts = texts_of(with_interpreted(stack.user, sum.interpreted.get()), stack.kernel);
  if (texts.shortened && !is_idle(found.wait_for)) ++shortened_;
  ExaminedWait wait{.wait_for = found.wait_for,
                    .site = std::string(found.site),
                    .certain = found.certain,
                    .user = std::move(texts.user),
                    .kernel = std::move(texts.kernel)};
  const auto by = by_files(found.ask, sum.sample.waited_on);
  const PlaceNumber place = place_of(sum.sample, stack.user);
  ExaminedStack::Of of{.ask = by ? SiteQuestion::None : found.ask,
                       .named = sum.interpreted != nullptr,
                       .at = {.tgid = sum.sample.tgid,
                              .process_start_ns = sum.sample.process_start_ns,
                              .place = place.number(is_place(sum.sample.user_end))},
                       .caller = place.caller(),
                       .owner = means.owners.of(sum.sample)};
  if ((by ? by->wait_for : found.wait_for) == WaitFor::Unknown || is_sole_answer(by)) {
    of.past = pasts_.place_of(interval.cgroups.path_of(sum.sample.cgroup_id), sum.sample,
                              stack.user, stack.kernel);
  }
  if (by) {
    const EvidenceVerdict verdict = is_sole_answer(by) ? by_past(of, means) : *by;
    wait.wait_for = verdict.wait_for;
    wait.certain = verdict.certain;
  }
  return remember(sum.key, std::make_shared<ExaminedStack>(std::move(wait), of, room_), means.now);
}

// What the past of its place makes of an answer that files speak of: see is_sole_answer().
// Snapshots, which have no past, hear of it by the classes of places.
EvidenceVerdict WaitExaminer::by_past(const ExaminedStack::Of& of, const Means& means) const {
  using Habit = AnswerPast::Habit;
  const Habit habit = pasts_.habit_at(of.past);
  const WaitFor wait_for = habit == Habit::Work ? WaitFor::Work : WaitFor::Answer;
  const ProcessPlace at = place_of_answers(of.at);
  if (of.at.place != 0 && (wait_for == WaitFor::Work || means.places.find(at, means.now))) {
    const bool fits = means.places.put(at, of.owner, all_for(wait_for), means.now);
    if (!fits) means.evidence.add_left_out(1);
  }
  if (wait_for == WaitFor::Work) return {.wait_for = WaitFor::Work, .certain = true};
  return {.wait_for = WaitFor::Answer, .certain = habit == Habit::Soon};
}

WaitExaminer::Examined WaitExaminer::remember(const Key& key, Examined stack, MonotonicTime now) {
  const auto good_for = stack->wait()->certain ? kGoodFor : kUnsureFor;
  known_.try_emplace(key, stack, now, now + good_for, room_, key);
  make_room();
  return stack;
}

// Its stack is null: no window had it.
WaitExaminer::Lasting WaitExaminer::known_of(const SeenBlock& block,
                                             const std::vector<Examined>& examined) const {
  const auto known = blocks_.find({block.tid, block.since_ns});
  Lasting lasting = known == blocks_.end() ? Lasting() : known->second;
  if (block.sum != SeenBlock::kKnown) lasting.stack = examined[block.sum];
  return lasting;
}

// What was usual at a block's place, if that is silent for much longer. Only where no rule knows
// the place: there wakers may say that it is for work, but they say so of waits that ended, and of
// such a silence nobody can tell.
std::shared_ptr<const UsualWaits> WaitExaminer::usual_of(const SeenBlock& block,
                                                         const ExaminedStack& stack,
                                                         const ExaminedWait& wait,
                                                         bool is_followed) const {
  const bool by_wakers = wait.wait_for == WaitFor::Work && !is_followed;
  const bool is_open = stack.verdict().wait_for == WaitFor::Unknown &&
                       (wait.wait_for == WaitFor::Unknown || by_wakers);
  if (!is_open || block.censored) return nullptr;
  return pasts_.usual_of(stack.past(), block.since_ns);
}

// Blocks that ended are in no later window, so only those that are seen again are kept.
void WaitExaminer::add_blocks(WaitWindow& window, WindowSums& sums, const WaitInterval& interval,
                              const std::vector<Examined>& examined, const Means& means) {
  decltype(blocks_) seen;
  std::vector<LastingBlock> lasting;
  std::vector<std::pair<const SeenBlock*, Lasting*>> found;  // in `seen`
  window.unexamined = interval.waits.blocks_left_out;
  for (const SeenBlock& block : interval.waits.blocks) {
    Lasting known = known_of(block, examined);
    if (!known.stack) {
      sums.sites.add(block, nullptr, {});
      sums.peers.add(block, WaitFor::Unknown, nullptr);
      ++window.unexamined;
      continue;
    }
    lasting.push_back(lasting_block(block, *known.stack, means));
    if (means.now < known.holds_until) lasting.back().earlier = known.followed;
    const std::pair key(block.tid, block.since_ns);
    found.emplace_back(&block, &seen.insert_or_assign(key, std::move(known)).first->second);
  }
  follow_chains(lasting);
  ToldPlaces places;
  WindowBlocks told(interval, sums.paths, sums.sites, sums.peers);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto [block, known] = found[i];
    const EvidenceVerdict& verdict = lasting[i].verdict;
    if (lasting[i].is_followed) {
      known->followed = verdict;
      known->holds_until = means.now + kChainHolds;
    }
    ExaminedStack* const stack = known->stack.get();
    if (asks_for_chains(stack->ask()) && !is_early(*block, lasting[i])) {
      add_chained(places, *stack, lasting[i], block->going_on_ns);
    }
    auto wait = told.add(*block, *stack, verdict);
    auto usual = usual_of(*block, *stack, *wait, lasting[i].is_followed);
    if (usual) wait = stack->as({.wait_for = WaitFor::Unknown});
    window.blocks.push_back({.tid = block->tid,
                             .since_ns = block->since_ns,
                             .censored = block->censored,
                             .lasts = block->lasts,
                             .wait = std::move(wait),
                             .usual = std::move(usual)});
  }
  std::move(told).take(window);
  means.evidence.add_left_out(places.tell(means.places, means.now));
  blocks_ = std::move(seen);
}

}  // namespace offcpud
