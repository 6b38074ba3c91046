// SPDX-License-Identifier: Apache-2.0
#include "mappings/mapping_set.h"

#include <algorithm>
#include <iterator>

namespace offcpud {
namespace {

// The first of `mappings` that ends after `address`.
template <class Mappings>
auto first_behind(Mappings& mappings, std::uint64_t address) {
  return std::partition_point(mappings.begin(), mappings.end(),
                              [address](const Mapping& m) { return m.end <= address; });
}

}  // namespace

MappingSet::Change MappingSet::put(const Mapping& mapping) {
  Change change;
  if (mapping.begin >= mapping.end || contains(mapping)) return change;
  const auto first = first_behind(mappings_, mapping.begin);
  auto last = first;
  while (last != mappings_.end() && last->begin < mapping.end) ++last;

  if (first != last && first->begin < mapping.begin) {
    Mapping left = *first;
    left.end = mapping.begin;
    change.added.push_back(std::move(left));
  }
  change.added.push_back(mapping);
  if (first != last && std::prev(last)->end > mapping.end) {
    Mapping right = *std::prev(last);
    right.offset += mapping.end - right.begin;
    right.begin = mapping.end;
    change.added.push_back(std::move(right));
  }
  change.removed.assign(std::make_move_iterator(first), std::make_move_iterator(last));
  mappings_.insert(mappings_.erase(first, last), change.added.begin(), change.added.end());
  *total_ = *total_ + change.added.size() - change.removed.size();
  return change;
}

bool MappingSet::contains(const Mapping& mapping) const {
  const auto found = first_behind(mappings_, mapping.begin);
  return found != mappings_.end() && *found == mapping;
}

const Mapping* MappingSet::at(std::uint64_t address) const {
  const auto found = first_behind(mappings_, address);
  return found != mappings_.end() && found->begin <= address ? &*found : nullptr;
}

}  // namespace offcpud
