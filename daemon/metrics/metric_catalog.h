// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace offcpud {

enum class MetricType { Counter, Gauge, Histogram };

// Every metric that the daemon exports, in the order of docs/metrics.md.
enum class Metric : std::size_t {
  BlockedSeconds,
  WaitSeconds,
  WaitVariance,
  WaitedOnSeconds,
  GoroutineWaitSeconds,
  RunqueueWaitSeconds,
  KeptOffSeconds,
  RunningSeconds,
  Preemptions,
  Wakeups,
  BlockedThreads,
  OldestBlocked,
  StalledThreads,
  StallsInProgress,
  OldestStall,
  StallsWaitingOn,
  DeadlockedThreads,
  OldestRunnable,
  UnaccountedRatio,
  ProcessBlockedSeconds,
  ProcessRunqueueWaitSeconds,
  ProcessOldestBlocked,
  DiskBytes,
  DiskRequests,
  DiskRequestSeconds,
  LostEvents,
  WaitLostSeconds,
  UnusualWaits,
  ThreadsLeftCensored,
  RunningDeviationRatio,
  ThreadWalkPasses,
  MapEntries,
  MapCapacity,
  Series,
  SeriesFolded,
  ProcessesRefused,
  FamilySeries,
  ScrapesNotCompressed,
  PassDuration,
  PassFailures,
  LastPassTimestamp,
  ThreadBusy,
  ThreadStuck,
  Stalls,
  StallsTakenBack,
  StallsBeyondLimit,
  StackSamples,
  StackSamplesIncomplete,
  StacksLocatedEarly,
  ObjectsRefused,
  ProcessesOverShare,
  MappingsLeftOut,
  StackSourcesLeftOut,
  SamplingInterval,
  ReaderHangs,
  ReaderRefused,
  ReadersStuck,
  ReaderCpuSeconds,
  GoPrograms,
  GoroutineLooks,
  GoroutineLooksSkipped,
  GoroutinesLookedAt,
  GoroutinesLeftOut,
  GoroutineFailures,
  GoroutineCpuSeconds,
  SnapshotsWritten,
  SnapshotFailures,
  SnapshotBytes,
  LastSnapshotTimestamp,
  PushSnapshots,
  PushFailures,
  PushQueueBytes,
  PushLastSuccessTimestamp,
  BuildInfo,
  FeatureEnabled,
  BpfRunSeconds,
  BpfRuns,
  OverheadRatio,
  ConfigLastReloadSuccessful,
  ConfigLastReloadSuccessTimestamp,
  WebCertificateExpiry,
  ProcessCpuSeconds,
  ProcessOpenFds,
  ProcessMaxFds,
  ProcessVirtualMemory,
  ProcessResidentMemory,
  ProcessStartTime,
};

struct MetricDef {
  Metric id;
  std::string_view name;
  MetricType type;
  std::string_view labels;  // separated by one space; those of a subject may be missing
  std::string_view help;    // one sentence; no characters that need escaping
};

// The one table; docs/metrics.md is generated from it by a test.
std::span<const MetricDef> metric_catalog();

const MetricDef& metric_def(Metric metric);

// The type as in a "# TYPE" line.
std::string_view metric_type_name(MetricType type);

}  // namespace offcpud
