// SPDX-License-Identifier: Apache-2.0
#include "symbols/remembered_names.h"

#include <utility>

namespace offcpud {

FrameName& RememberedNames::add(const Place& place, FrameName name) {
  constexpr std::size_t kNode = sizeof(Names::value_type) + 2 * sizeof(void*);
  const std::size_t size = kNode + name.name.size();
  if (young_bytes_ + size > half_) {
    old_ = std::exchange(young_, {});
    old_bytes_ = std::exchange(young_bytes_, 0);
  }
  young_bytes_ += size;
  return young_.insert_or_assign(place, std::move(name)).first->second;
}

void RememberedNames::put(ObjectId object, std::uint64_t file_offset, const FrameName& name) {
  const Place place{object, file_offset};
  if (!young_.contains(place)) add(place, name);
}

const FrameName* RememberedNames::find(ObjectId object, std::uint64_t file_offset) {
  const Place place{object, file_offset};
  if (const auto young = young_.find(place); young != young_.end()) return &young->second;
  const auto old = old_.find(place);
  if (old == old_.end()) return nullptr;
  FrameName name = std::move(old->second);
  old_.erase(old);  // its bytes count until its generation is dropped
  return &add(place, std::move(name));
}

}  // namespace offcpud
