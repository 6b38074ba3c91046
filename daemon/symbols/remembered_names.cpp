// SPDX-License-Identifier: Apache-2.0
#include "symbols/remembered_names.h"

namespace offcpud {
namespace {

using Names = TwoGenerations<std::array<std::uint64_t, 2>, FrameName, WordsHash>;

std::size_t bytes_of(const std::array<std::uint64_t, 2>&, const FrameName& name) {
  return Names::kNode + name.name.size();
}

}  // namespace

void RememberedNames::put(ObjectId object, std::uint64_t file_offset, const FrameName& name) {
  const Place place{object, file_offset};
  if (names_.find(place, bytes_of) == nullptr) names_.put(place, name, bytes_of(place, name));
}

const FrameName* RememberedNames::find(ObjectId object, std::uint64_t file_offset) {
  return names_.find(Place{object, file_offset}, bytes_of);
}

}  // namespace offcpud
