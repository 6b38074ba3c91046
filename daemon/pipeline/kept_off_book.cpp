// SPDX-License-Identifier: Apache-2.0
#include "pipeline/kept_off_book.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "pipeline/recent_past.h"

namespace offcpud {
namespace {

// A cgroup that did less of late is not worth a series.
constexpr double kWorthNamingNs = 1e6;
// Candidates of one cgroup. More than the kernel has places for.
constexpr std::size_t kMostOthers = 256;

constexpr std::chrono::minutes kAge{10};
constexpr std::size_t kMostRows = 100'000;  // of all steps: some 3 MB, and what they refer to

}  // namespace

void KeptOffBook::add(std::string_view path, const std::string& taker, std::uint64_t ns) {
  if (ns == 0) return;
  auto found = accounts_.find(path);
  if (found == accounts_.end()) found = accounts_.emplace(path, Account{}).first;
  Account& account = found->second;
  account.shown.reset();
  Pair* pair = find_room(account, path, taker, ns);
  if (!pair) pair = &account.pairs[std::string(kOtherCgroup)];
  pair->ns += ns;
  pair->recent_ns += static_cast<double>(ns);
}

// Null: it is one of the others.
KeptOffBook::Pair* KeptOffBook::find_room(Account& account, std::string_view path,
                                          const std::string& taker, std::uint64_t ns) {
  const auto known = account.pairs.find(taker);
  if (known != account.pairs.end()) return &known->second;
  if (is_no_name(taker) || taker == path) return &account.pairs[taker];
  const auto other = account.others.find(taker);
  const double before_ns = other == account.others.end() ? 0 : other->second;
  const double recent_ns = before_ns + static_cast<double>(ns);
  bool worthy = recent_ns >= kWorthNamingNs && most_named_ > 0;
  if (worthy && account.named >= most_named_) {
    auto least = account.pairs.end();
    for (auto each = account.pairs.begin(); each != account.pairs.end(); ++each) {
      if (is_no_name(each->first) || each->first == path) continue;
      if (least == account.pairs.end() || each->second.recent_ns < least->second.recent_ns) {
        least = each;
      }
    }
    // Twice as much, so that two that are alike do not take turns.
    worthy = least != account.pairs.end() && recent_ns > 2 * least->second.recent_ns;
    if (worthy) retire(account, least);
  }
  if (!worthy) {
    if (other != account.others.end()) {
      other->second = recent_ns;
    } else if (account.others.size() < kMostOthers) {
      account.others.emplace(taker, recent_ns);
    }
    return nullptr;
  }
  if (other != account.others.end()) account.others.erase(other);
  ++account.named;
  Pair& pair = account.pairs[taker];
  pair.recent_ns = before_ns;
  return &pair;
}

void KeptOffBook::retire(Account& account,
                         std::map<std::string, Pair, std::less<>>::iterator pair) {
  const std::uint64_t ns = pair->second.ns;
  account.pairs.erase(pair);
  --account.named;
  account.pairs[std::string(kRemovedCgroup)].ns += ns;
  account.shown.reset();
}

void KeptOffBook::fold(std::string_view path, std::string_view into) {
  const auto found = accounts_.find(path);
  if (found == accounts_.end() || path == into) return;
  const Account old = std::move(found->second);
  accounts_.erase(found);
  Account& account = accounts_[std::string(into)];
  account.shown.reset();
  for (const auto& [taker, pair] : old.pairs) {
    // Its own threads are those of `into` now.
    const std::string_view name = is_no_name(taker) ? std::string_view(taker)
                                  : taker == path   ? into
                                                    : kRemovedCgroup;
    account.pairs[std::string(name)].ns += pair.ns;
  }
}

void KeptOffBook::forget_takers(const std::set<std::string>& paths) {
  if (paths.empty()) return;
  for (auto& [path, account] : accounts_) {
    for (auto pair = account.pairs.begin(); pair != account.pairs.end();) {
      const auto each = pair++;
      if (each->first != path && paths.contains(each->first)) retire(account, each);
    }
    std::erase_if(account.others, [&](const auto& other) { return paths.contains(other.first); });
  }
}

std::shared_ptr<const SubjectLabels> KeptOffBook::labels_of(const std::string& taker) {
  if (!is_no_name(taker)) return labels_of_(taker);
  return std::make_shared<const SubjectLabels>(SubjectLabels{.cgroup = taker});
}

std::shared_ptr<const KeptOff> KeptOffBook::of(std::string_view path) {
  const auto found = accounts_.find(path);
  if (found == accounts_.end()) return nullptr;
  Account& account = found->second;
  if (!account.shown) {
    auto shown = std::make_shared<KeptOff>();
    shown->takers.reserve(account.pairs.size());
    for (const auto& [taker, pair] : account.pairs) {
      shown->takers.push_back({labels_of(taker), pair.ns});
    }
    account.shown = std::move(shown);
  }
  return account.shown;
}

void KeptOffBook::age(std::chrono::duration<double> elapsed) {
  const double left = std::exp2(-elapsed / kHalfLifeOfDeeds);
  for (auto& [path, account] : accounts_) {
    for (auto& [taker, pair] : account.pairs) pair.recent_ns *= left;
    for (auto& [taker, recent_ns] : account.others) recent_ns *= left;
    std::erase_if(account.others, [](const auto& other) { return other.second < 1e3; });
  }
}

std::vector<std::shared_ptr<const KeptOffStep>> KeptOffBook::record(const View& view) {
  auto before = steps_;
  age(view.taken - std::exchange(aged_, view.taken));
  if (!steps_.empty() && view.taken - steps_.back()->taken < kStepOfPast) return before;
  auto step = std::make_shared<KeptOffStep>();
  step->taken = view.taken;
  for (const SubjectSeries& series : view.subjects) {
    if (series.kept_off) step->rows.push_back({series.labels, series.kept_off});
  }
  steps_.push_back(std::move(step));
  std::size_t rows = 0;
  for (const auto& one : steps_) rows += one->rows.size();
  // One step older than kAge is kept, to begin the longest window at.
  while (steps_.size() > 2 && (rows > kMostRows || view.taken - steps_[1]->taken > kAge)) {
    rows -= steps_.front()->rows.size();
    steps_.erase(steps_.begin());
  }
  return before;
}

}  // namespace offcpud
