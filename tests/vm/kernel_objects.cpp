// SPDX-License-Identifier: Apache-2.0
#include "kernel_objects.h"

#include <string>

namespace offcpud::test {
namespace {

template <int (*Next)(std::uint32_t, std::uint32_t*)>
std::size_t count_ids() {
  std::size_t count = 0;
  for (std::uint32_t id = 0; Next(id, &id) == 0;) ++count;
  return count;
}

}  // namespace

BpfObjects bpf_objects() {
  return {count_ids<&bpf_prog_get_next_id>(), count_ids<&bpf_link_get_next_id>(),
          count_ids<&bpf_map_get_next_id>()};
}

bool check_all_accepted(const BpfSession& session) {
  std::string refused;
  for (const Feature& feature : session.features().features) {
    if (feature.refused) refused += " " + feature.name + ": " + feature.remedy + ";";
  }
  return check(refused.empty(), "load", refused.empty() ? "all programs are accepted" : refused);
}

}  // namespace offcpud::test
