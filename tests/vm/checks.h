// SPDX-License-Identifier: Apache-2.0
// The checks of the probe. Each says one or more results; run knows their names.
#pragma once

#include "base/result.h"
#include "cgroup.h"
#include "kernel/bpf_reading_source.h"
#include "kernel/bpf_session.h"
#include "kernel/cgroup_events.h"
#include "kernel/feature_probe.h"
#include "kernel_objects.h"

namespace offcpud::test {

// kernel_checks.cpp
void check_features(const FeatureReport& features);
void check_refused(const Error& error);
void check_instructions(const BpfSession& session);
void check_nothing_left(const BpfObjects& before);
void check_attach_cycles(const FeatureReport& features);

// known_waits_check.cpp
void check_known_waits(BpfReadingSource& source, const Cgroup& cgroup,
                       const FeatureReport& features);

// load_checks.cpp
void check_forks(BpfReadingSource& source, const Cgroup& cgroup);
void check_throttled(BpfReadingSource& source, const FeatureReport& features);
void check_cgroup_events(CgroupEvents* events, const Cgroup& cgroup);  // after its removal
void check_losses(const BpfSession& session, BpfReadingSource& source,
                  const FeatureReport& features);

// restarted_calls_check.cpp
void check_restarted_calls(BpfReadingSource& source, const Cgroup& cgroup);

// stack_checks.cpp
void check_stacks(const BpfSession& session, const FeatureReport& features);

}  // namespace offcpud::test
