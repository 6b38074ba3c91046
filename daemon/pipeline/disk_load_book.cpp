// SPDX-License-Identifier: Apache-2.0
#include "pipeline/disk_load_book.h"

#include <cmath>

#include "pipeline/recent_past.h"

namespace offcpud {
namespace {

// Bytes, and what a request costs a disk beside them, roughly.
double amount(const DiskLoad& load) {
  constexpr double kOfRequest = 16 * 1024;
  double sum = 0;
  for (std::size_t i = 0; i < load.bytes.size(); ++i) {
    sum += static_cast<double>(load.bytes[i]) + kOfRequest * static_cast<double>(load.requests[i]);
  }
  return sum;
}

}  // namespace

DiskLoadBook::Pair DiskLoadBook::place_for(const std::string& disk, const std::string& by,
                                           const DiskLoad& load) {
  const bool has_disk = disks_.contains(disk) || disks_.size() < kMostDisks;
  if (has_disk) disks_.insert(disk);
  Pair pair(has_disk ? disk : std::string(kOtherCgroup), by);
  if (is_no_name(by) || sums_.contains(pair)) return pair;
  if (named_ >= kMostNamed) make_room(load);
  if (named_ >= kMostNamed) return {pair.first, std::string(kOtherCgroup)};
  ++named_;
  return pair;
}

void DiskLoadBook::make_room(const DiskLoad& load) {
  auto least = sums_.end();
  for (auto each = sums_.begin(); each != sums_.end(); ++each) {
    if (is_no_name(each->first.second)) continue;
    if (least == sums_.end() || each->second.recent < least->second.recent) least = each;
  }
  if (least != sums_.end() && amount(load) > 2 * least->second.recent) retire(least);
}

void DiskLoadBook::retire(std::map<Pair, Sum>::iterator pair) {
  const auto gone = sums_.extract(pair);
  --named_;
  Sum& removed = sums_[{gone.key().first, std::string(kRemovedCgroup)}];
  removed.load += gone.mapped().load;
  removed.of_step += gone.mapped().of_step;
  removed.has_step |= gone.mapped().has_step;
}

void DiskLoadBook::add(const std::string& disk, const std::string& by, const DiskLoad& load) {
  Sum& sum = sums_[place_for(disk, by, load)];
  sum.load += load;
  sum.of_step += load;
  sum.has_step = true;
  sum.recent += amount(load);
}

void DiskLoadBook::forget(const std::set<std::string>& paths) {
  if (paths.empty()) return;
  for (auto pair = sums_.begin(); pair != sums_.end();) {
    const auto each = pair++;
    if (paths.contains(each->first.second)) retire(each);
  }
}

void DiskLoadBook::end_pass(MonotonicTime now) {
  if (step_began_ == MonotonicTime{}) step_began_ = now;  // nobody knows since when it was done
  const double left =
      std::exp2(-std::chrono::duration<double>(now - last_pass_) / kHalfLifeOfDeeds);
  for (auto& [pair, sum] : sums_) sum.recent *= left;
  last_pass_ = now;
  if (now - step_began_ < kStepOfPast) return;
  closed_.push_back(open_step());
  for (auto& [pair, sum] : sums_) {
    sum.of_step = {};
    sum.has_step = false;
  }
  step_began_ = now;
  std::erase_if(closed_, [&](const auto& step) { return now - step->begin > kAge + kStepOfPast; });
}

std::vector<DiskLoadRow> DiskLoadBook::sums() const {
  std::vector<DiskLoadRow> rows;
  rows.reserve(sums_.size());
  for (const auto& [pair, sum] : sums_) {
    rows.push_back({pair.first, labels_of_(pair.second), sum.load});
  }
  return rows;
}

std::shared_ptr<const DiskLoadStep> DiskLoadBook::open_step() const {
  auto step = std::make_shared<DiskLoadStep>();
  step->begin = step_began_;
  step->end = last_pass_;
  for (const auto& [pair, sum] : sums_) {
    if (sum.has_step) step->rows.push_back({pair.first, labels_of_(pair.second), sum.of_step});
  }
  return step;
}

std::vector<std::shared_ptr<const DiskLoadStep>> DiskLoadBook::steps() const {
  auto steps = closed_;
  if (last_pass_ > step_began_) steps.push_back(open_step());
  return steps;
}

}  // namespace offcpud
