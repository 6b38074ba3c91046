// SPDX-License-Identifier: Apache-2.0
#include "pipeline/exemplar_book.h"

#include <algorithm>
#include <iterator>

#include "latency_slot.h"

namespace offcpud {
namespace {

std::size_t group_of(const Exemplar& exemplar) {
  return offcpud_slot(exemplar.duration_ns) / ExemplarBook::kSlotsTogether;
}

// Replaces the exemplar of the same group.
void put(std::vector<Exemplar>& kept, const Exemplar& exemplar) {
  const std::size_t group = group_of(exemplar);
  const auto place = std::ranges::lower_bound(kept, group, {}, group_of);
  if (place != kept.end() && group_of(*place) == group) {
    *place = exemplar;
  } else {
    kept.insert(place, exemplar);
  }
}

// Copies what changes: published Views share the exemplars kept so far.
template <typename Map, typename Fresh>
void merge(Map& kept, const Fresh& fresh) {
  for (const auto& [key, by_kind] : fresh) {
    const auto found = kept.find(key);
    if (found == kept.end() && kept.size() >= ExemplarBook::kMostSubjects) continue;
    auto merged = found == kept.end() ? std::make_shared<KindExemplars>()
                                      : std::make_shared<KindExemplars>(*found->second);
    for (std::size_t kind = 0; kind < by_kind.size(); ++kind) {
      for (const Exemplar& exemplar : by_kind[kind]) put((*merged)[kind], exemplar);
    }
    kept[key] = std::move(merged);
  }
}

template <typename Map>
void forget_before(Map& kept, WallTime oldest) {
  const auto is_old = [oldest](const Exemplar& exemplar) { return exemplar.ended < oldest; };
  for (auto item = kept.begin(); item != kept.end();) {
    const bool stays = std::ranges::none_of(
        *item->second, [&](const auto& list) { return std::ranges::any_of(list, is_old); });
    if (stays) {
      ++item;
      continue;
    }
    auto left = std::make_shared<KindExemplars>(*item->second);
    std::size_t count = 0;
    for (auto& list : *left) {
      std::erase_if(list, is_old);
      count += list.size();
    }
    item->second = std::move(left);
    item = count == 0 ? kept.erase(item) : std::next(item);
  }
}

template <typename Map, typename Key>
std::shared_ptr<const KindExemplars> look_up(const Map& kept, const Key& key) {
  const auto found = kept.find(key);
  return found == kept.end() ? nullptr : found->second;
}

}  // namespace

void ExemplarBook::forget_old(WallTime now) {
  forget_before(cgroups_, now - kKeptFor);
  forget_before(processes_, now - kKeptFor);
}

void ExemplarBook::add(std::vector<FoundExemplar> found, WallTime now) {
  forget_old(now);
  // By rising duration, so that the longest of a group is put last and stays.
  std::ranges::sort(found, {}, [](const FoundExemplar& one) { return one.exemplar.duration_ns; });
  std::map<std::string, KindExemplars> by_cgroup;
  std::map<Process, KindExemplars> by_process;
  ++round_;
  for (FoundExemplar& one : found) {
    one.exemplar.round = round_;
    if (one.kind >= OFFCPUD_BLOCKED_KINDS || one.exemplar.ended < now - kKeptFor) continue;
    put(by_cgroup[one.cgroup][one.kind], one.exemplar);
    if (one.wait_for) put(by_cgroup[one.cgroup][place_of(*one.wait_for)], one.exemplar);
    if (one.exemplar.pid == 0) continue;
    put(by_process[{one.exemplar.pid, one.process_start_ns}][one.kind], one.exemplar);
  }
  merge(cgroups_, by_cgroup);
  merge(processes_, by_process);
}

std::shared_ptr<const KindExemplars> ExemplarBook::of_cgroup(const std::string& path) const {
  return look_up(cgroups_, path);
}

std::shared_ptr<const KindExemplars> ExemplarBook::of_process(std::uint32_t pid,
                                                              std::uint64_t start_ns) const {
  return look_up(processes_, Process{pid, start_ns});
}

}  // namespace offcpud
