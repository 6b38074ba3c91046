// SPDX-License-Identifier: Apache-2.0
#include "kernel/optional_features.h"

namespace offcpud {

std::span<const OptionalFeature> optional_features() {
  // on_irq_work looks up tasks for "task_by_number", which is given up first if it is refused.
  // on_sched_waking has code of "stacks" because it walks the waker's stacks.
  static const std::vector<OptionalFeature> kFeatures = {
      {"task_by_number", {}, {"on_irq_work"}},
      {"stacks",
       {"on_irq_work", "walk_blocked", "look_blocked"},
       {"on_sched_waking", "on_sched_switch"}},
      {"wakers", {}, {"on_sched_waking"}},
      {"file_kind", {}, {"on_sched_switch", "walk_threads"}},
      {"cgroup_events", {"on_cgroup_mkdir", "on_cgroup_rmdir"}, {}},
      {"wait_details",
       {"describe_stacks", "describe_calls", "describe_file", "walk_sockets", "walk_owners"},
       {}},
      {"kernel_names", {"name_addresses"}, {}},
      {"disk_loads", {"on_block_getrq", "on_block_rq_complete"}, {}},
  };
  return kFeatures;
}

}  // namespace offcpud
