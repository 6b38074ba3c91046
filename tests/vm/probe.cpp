// SPDX-License-Identifier: Apache-2.0
// Runs in a guest (see run): does what the daemon does to a kernel, with loads whose waits are
// known, and prints one line per check, "@@ PASS name: detail" or "@@ FAIL name: detail". run knows
// which names must appear. Exits with 0 if nothing failed.
#include <memory>

#include "checks.h"
#include "kernel_objects.h"
#include "report.h"

namespace offcpud::test {
namespace {

void check_supported(const FeatureReport& features) {
  const BpfObjects before = bpf_objects();
  {
    BpfSession session = must(BpfSession::load({.cgroups = 64}, features), "load");
    check_all_accepted(session);
    check_instructions(session);
    const auto attached = session.attach();
    if (!check(bool{attached}, "attach", attached ? "all programs" : attached.error().message())) {
      return;
    }
    std::unique_ptr<CgroupEvents> events;
    if (features.has("cgroup_events")) events = must(CgroupEvents::open(session), "ring");
    const std::unique_ptr<BpfReadingSource> opened = must(BpfReadingSource::open(session), "maps");
    BpfReadingSource& source = *opened;

    const Cgroup known("probe-known.slice"), crowd("probe-crowd.scope");
    const Cgroup restarted("probe-restarted.scope");
    check_known_waits(source, known, features);
    check_restarted_calls(source, restarted);
    check_forks(source, crowd);
    check_throttled(source, features);
    known.remove();
    crowd.remove();
    restarted.remove();
    check_cgroup_events(events.get(), known);
    check_stacks(session, features);
    check_losses(session, source, features);
  }
  check_nothing_left(before);
  check_attach_cycles(features);
}

}  // namespace
}  // namespace offcpud::test

int main() {
  using namespace offcpud;
  const FeatureReport features = probe_features();
  test::check_features(features);
  if (const auto supported = features.require(); supported) {
    test::check_supported(features);
  } else {
    test::check_refused(supported.error());
  }
  return test::failed_checks() == 0 ? 0 : 1;
}
