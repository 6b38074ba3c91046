// SPDX-License-Identifier: Apache-2.0
#include "stacks/interval_chains.h"

#include <algorithm>
#include <array>
#include <utility>

namespace offcpud {

IntervalChains::IntervalChains(std::vector<ChainedBlock> blocks, std::uint64_t begin_ns)
    : blocks_(std::move(blocks)), habits_(blocks_), answers_(blocks_), begin_ns_(begin_ns) {
  std::ranges::sort(blocks_, {},
                    [](const ChainedBlock& block) { return std::pair(block.tid, block.ended_ns); });
}

IntervalChains::Place IntervalChains::first_after(std::uint32_t tid, std::uint64_t ns) const {
  return std::upper_bound(
      blocks_.begin(), blocks_.end(), std::pair(tid, ns),
      [](const std::pair<std::uint32_t, std::uint64_t>& place, const ChainedBlock& block) {
        return place < std::pair(block.tid, block.ended_ns);
      });
}

// The division of one wait.
class IntervalChains::Walk {
 public:
  Walk(const IntervalChains& chains, const ChainedBlock& wait, const Take& take)
      : chains_(chains), wait_(wait), take_(take) {}

  // Divides a part of a wait by what the thread did that ended the wait. Each nanosecond of the
  // part stands for `scale` ns of the wait that the walk divides.
  void divide(const ChainedBlock& wait, std::uint64_t from_ns, std::uint64_t to_ns, double scale) {
    const WaitPeer& whose = wait.peer;
    const auto past = wait_.past != nullptr
                          ? past_of_thread(*wait_.past, whose.tid, whose.process.tgid)
                          : std::span<const PastBlock>();
    const std::uint64_t for_us_from =
        wait.wait_for == WaitFor::Answer && !busy_after_
            ? std::max(from_ns, busy_until(wait, past, from_ns, to_ns))
            : from_ns;
    if (for_us_from > from_ns) {
      busy_after_ = depth_;
      divide_time(whose, past, from_ns, for_us_from, scale);
      busy_after_.reset();
    }
    divide_time(whose, past, for_us_from, to_ns, scale);
  }

 private:
  void divide_time(const WaitPeer& whose, std::span<const PastBlock> past, std::uint64_t from_ns,
                   std::uint64_t to_ns, double scale) {
    if (past.empty()) return divide_by_samples(whose, from_ns, to_ns, scale);
    const std::uint64_t told_from = std::clamp(past.front().since_ns, from_ns, to_ns);
    // The first block began up to a unit before that: it must not count as a sample as well.
    constexpr std::uint64_t kUnit = 1 << OFFCPUD_PAST_UNIT;
    const std::uint64_t sampled_until = told_from - std::min(told_from - from_ns, kUnit);
    if (sampled_until > from_ns) divide_by_samples(whose, from_ns, sampled_until, scale);
    end(End::Unknown, scale, static_cast<double>(told_from - sampled_until));
    divide_by_past(past, told_from, to_ns, scale);
  }

  // Until when the thread that ended the wait was busy with other requests: those that it had begun
  // before the wait, and those that it took before this one. 0: it is not known to have been.
  [[nodiscard]] std::uint64_t busy_until(const ChainedBlock& wait, std::span<const PastBlock> past,
                                         std::uint64_t from_ns, std::uint64_t to_ns) const {
    // A wait begins some time after its request has woken who serves it.
    const std::uint64_t asked_ns = wait.since_ns;
    const std::uint64_t before_ns = asked_ns - std::min(asked_ns, GivenAnswers::kTogetherNs);
    if (past.empty() || past.front().since_ns > before_ns) return 0;
    std::uint64_t idle_ns = to_ns, last_ended_ns = 0;
    for (const PastBlock& block : past) {
      // Blocks too short to be kept may have been for work, too.
      if (block.skipped_ns > 0 && block.since_ns > before_ns) {
        idle_ns = std::min(idle_ns, last_ended_ns);
      }
      if (block.ended_ns > before_ns && may_idle(block)) {
        idle_ns = std::min(idle_ns, block.since_ns);
      }
      last_ended_ns = block.ended_ns;
    }
    return chains_.answers_.last(wait, from_ns, idle_ns, to_ns);
  }

  // Whether the block may be a break between two requests. A thread that polls several files may
  // take a request from one of them and pass it on, whatever else it waits for.
  [[nodiscard]] bool may_idle(const PastBlock& block) const {
    if (block.since_ns == block.ended_ns) return false;
    if (block.kind == OFFCPUD_BLOCKED_POLL) return true;
    const WaitFor wait_for = chains_.block_of(block).wait_for;
    return wait_for == WaitFor::Work || wait_for == WaitFor::Unknown;
  }

  // What a thread did between its blocks, by its own account.
  struct Between {
    double runs = 0, queued = 0, skipped = 0;
    double variance_ns2 = 0;  // of `queued`, and so of `runs`
  };

  // Adds `part` ns of the time between two blocks, which is `between` ns. `next` says how long the
  // thread waited for a CPU in all that time. How much of that lies in the part is known within
  // bounds; it is taken in proportion.
  static void add_between(Between& sum, double part, const PastBlock& next, double between) {
    const double skipped = std::min(part, part * static_cast<double>(next.skipped_ns) / between);
    const double queued = std::min(static_cast<double>(next.queued_ns), between);
    const double least = std::max(0.0, queued - (between - part)), most = std::min(queued, part);
    const double of_part = std::min(part * queued / between, part - skipped);
    sum.skipped += skipped;
    sum.queued += of_part;
    sum.runs += part - skipped - of_part;
    sum.variance_ns2 += (most - least) * (most - least) / 12;  // each value is as likely
  }

  // What is left of a time once blocks are taken off, and how sure that is.
  struct Rest {
    double ns = 0, variance_ns2 = 0;
  };

  // Between its blocks the thread ran or waited for a CPU, except for blocks that were too short to
  // be told.
  void divide_by_past(std::span<const PastBlock> past, std::uint64_t from_ns, std::uint64_t to_ns,
                      double scale) {
    std::uint64_t at = from_ns, before = 0;
    Between sum;
    const auto run_until = [&](std::uint64_t until, const PastBlock& next) {
      if (until <= at) return;
      const auto part = static_cast<double>(until - at);
      if (before != 0 && next.since_ns > before) {
        add_between(sum, part, next, static_cast<double>(next.since_ns - before));
      } else {
        sum.runs += part;
      }
      at = until;
    };
    for (const PastBlock& block : past) {
      run_until(std::min(block.since_ns, to_ns), block);
      const std::uint64_t until = std::min(block.ended_ns, to_ns);
      before = block.ended_ns;
      if (until <= at) continue;
      if (pieces_ >= kMostPieces) break;
      const ChainedBlock step = chains_.block_of(block);
      steps_.at(depth_++) = &step;
      follow(step, at, until, scale);
      --depth_;
      at = until;
    }
    (pieces_ >= kMostPieces ? sum.skipped : sum.runs) += static_cast<double>(to_ns - at);
    end(End::Unknown, scale, sum.skipped);
    end(End::OnCpu, scale, sum.runs, sum.variance_ns2);
    end(End::Queued, scale, sum.queued, sum.variance_ns2);
  }

  // A thread has one block at a time, so its blocks follow one another in the order of their ends.
  void divide_by_samples(const WaitPeer& whose, std::uint64_t from_ns, std::uint64_t to_ns,
                         double scale) {
    const std::uint64_t known_from = std::clamp(chains_.begin_ns_, from_ns, to_ns);
    end(End::Unknown, scale, static_cast<double>(known_from - from_ns));
    Rest rest{.ns = static_cast<double>(to_ns - known_from)};
    auto block = chains_.first_after(whose.tid, known_from);
    for (; block != chains_.blocks_.end() && block->tid == whose.tid; ++block) {
      if (block->since_ns >= to_ns) break;
      // A number that was given out again is another thread's.
      if (block->tgid != whose.process.tgid) continue;
      const std::uint64_t begin = std::max(block->since_ns, known_from);
      if (pieces_ >= kMostPieces) {
        end(End::Unknown, scale, static_cast<double>(to_ns - begin));
        rest.ns -= static_cast<double>(to_ns - begin);
        break;
      }
      step(*block, begin, std::min(block->ended_ns, to_ns), scale, rest);
    }
    end_running(whose, scale, rest, static_cast<double>(to_ns - known_from));
  }

  void step(const ChainedBlock& block, std::uint64_t from_ns, std::uint64_t to_ns, double scale,
            Rest& rest) {
    const auto ns = static_cast<double>(to_ns - from_ns);
    rest.ns -= ns * block.stands_for;
    rest.variance_ns2 += block.stands_for * (block.stands_for - 1) * ns * ns;
    steps_.at(depth_++) = &block;
    follow(block, from_ns, to_ns, scale * block.stands_for);
    --depth_;
  }

  void follow(const ChainedBlock& block, std::uint64_t from_ns, std::uint64_t to_ns, double scale) {
    const WaitPeer& peer = block.peer;
    const bool leads_on = peer.kind == WaitPeer::Kind::Process && peer.tid != 0 &&
                          block.wait_for != WaitFor::Timer && !is_passed(peer.tid) &&
                          depth_ < kMostHops;
    if (block.wait_for == WaitFor::Work) {
      end(End::Idle, scale, static_cast<double>(to_ns - from_ns));
    } else if (leads_on) {
      divide(block, from_ns, to_ns, scale);
    } else {
      end(End::Waits, scale, static_cast<double>(to_ns - from_ns));
    }
  }

  [[nodiscard]] bool is_passed(std::uint32_t tid) const {
    const auto passed = std::span(steps_).first(depth_);
    if (tid == wait_.tid) return true;
    return std::ranges::any_of(passed,
                               [tid](const ChainedBlock* step) { return step->tid == tid; });
  }

  void end(End how, double scale, double ns, double variance_ns2 = 0) {
    if (ns == 0) return;
    ++pieces_;
    take_({.steps = std::span(steps_).first(depth_),
           .end = how,
           .busy_after = busy_after_,
           .ns = scale * ns,
           .variance_ns2 = scale * (scale - 1) * ns * ns + scale * scale * variance_ns2});
  }

  void end_running(const WaitPeer& whose, double scale, const Rest& rest, double watched_ns) {
    if (rest.ns == 0) return;
    ++pieces_;
    take_({.steps = std::span(steps_).first(depth_),
           .end = End::Runs,
           .busy_after = busy_after_,
           .ns = scale * rest.ns,
           .variance_ns2 =
               scale * (scale - 1) * rest.ns * rest.ns + scale * scale * rest.variance_ns2,
           .watched_ns = watched_ns,
           .tgid = whose.process.tgid});
  }

  const IntervalChains& chains_;
  const ChainedBlock& wait_;
  const Take& take_;
  std::array<const ChainedBlock*, kMostHops> steps_{};
  std::size_t depth_ = 0, pieces_ = 0;
  BusyAfter busy_after_;
};

// A sample of this very block knows more than its thread.
ChainedBlock IntervalChains::block_of(const PastBlock& past) const {
  const Place sampled = first_after(past.tid, past.ended_ns - 1);
  if (sampled != blocks_.end() && sampled->tid == past.tid && sampled->tgid == past.tgid &&
      sampled->ended_ns == past.ended_ns) {
    ChainedBlock block = *sampled;
    block.stands_for = 1;
    return block;
  }
  const WaitHabits::Habit habit = habits_.of(past.tgid, past.kind, past.ender);
  return {.tid = past.tid,
          .tgid = past.tgid,
          .since_ns = past.since_ns,
          .ended_ns = past.ended_ns,
          .wait_for = habit.wait_for,
          .kind = past.kind,
          .cgroup_id = 0,
          .peer = habit.peer,
          .ender = past.ender,
          .past = nullptr};
}

void IntervalChains::divide(const ChainedBlock& wait, std::uint64_t from_ns,
                            const Take& take) const {
  Walk(*this, wait, take).divide(wait, from_ns, wait.ended_ns, 1);
}

}  // namespace offcpud
