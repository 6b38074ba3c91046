// SPDX-License-Identifier: Apache-2.0
#include "sampler/named_past.h"

#include <algorithm>
#include <iterator>

#include "sampler/site_place.h"

namespace offcpud {

WaitFor by_named_past(const PlaceClasses& places, const ThreadAtPlace& at, std::uint32_t generation,
                      WaitFor by_rule, MonotonicTime now) {
  constexpr double kNearlyAll = 0.9;
  if (by_rule != WaitFor::Unknown || at.place == 0) return by_rule;
  const ProcessPlace place{
      .tgid = at.tgid, .process_start_ns = at.process_start_ns, .place = at.place};
  const PlaceClasses::Times* const said =
      places.find(place_of_thread(place, at.tid, generation), now);
  if (said == nullptr) return by_rule;
  const auto most = std::ranges::max_element(*said);
  if (*most < kNearlyAll) return by_rule;
  return static_cast<WaitFor>(std::distance(said->begin(), most));
}

}  // namespace offcpud
