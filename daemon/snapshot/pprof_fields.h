// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <protozero/types.hpp>

// The field numbers of pprof's profile.proto that are used here. Those from 100 on are our own, for
// what the format lacks; protobuf readers must skip unknown fields.
namespace offcpud::pprof {

enum class ProfileField : protozero::pbf_tag_type {
  SampleType = 1,
  Sample = 2,
  Mapping = 3,
  Location = 4,
  Function = 5,
  StringTable = 6,
  TimeNanos = 9,
  DurationNanos = 10,
  Comment = 13,  // repeated int64; what was excluded at capture
  DefaultSampleType = 14,
  Sequence = 100,          // uint64
  Partial = 101,           // bool
  EndNanos = 102,          // int64; not time + duration if the clock was set
  SamplingInterval = 103,  // int64, nanoseconds; absent if unknown
  // Packed int64, in pairs: a reason (number of a string) and its longest interval, in nanoseconds.
  ReasonIntervals = 104,
};

enum class ValueTypeField : protozero::pbf_tag_type { Type = 1, Unit = 2 };

enum class SampleField : protozero::pbf_tag_type {
  LocationId = 1,
  Value = 2,
  Label = 3,
  KernelFrames = 100,  // uint32; how many locations, from the leaf on, are kernel frames
  WakerKernel = 101,   // packed uint64; location ids, leaf first
  WakerUser = 102,
  Episodes = 103,  // double; the value is a whole number
  Variance = 104,  // double; of the first value; absent if 0
};

enum class LabelField : protozero::pbf_tag_type { Key = 1, Text = 2, Number = 3 };

enum class MappingField : protozero::pbf_tag_type {
  Id = 1,
  MemoryLimit = 3,
  Filename = 5,
  BuildId = 6,
  HasFunctions = 7,
  Kernel = 100,  // bool
};

enum class LocationField : protozero::pbf_tag_type { Id = 1, MappingId = 2, Address = 3, Line = 4 };

enum class LineField : protozero::pbf_tag_type { FunctionId = 1, Line = 2 };

enum class FunctionField : protozero::pbf_tag_type {
  Id = 1,
  Name = 2,
  SystemName = 3,
  Filename = 4
};

// Keys of a sample's labels.
inline constexpr const char* kComm = "comm";
inline constexpr const char* kThread = "thread";
inline constexpr const char* kCgroup = "cgroup";
inline constexpr const char* kReason = "reason";
inline constexpr const char* kFor = "for";    // absent in files of earlier daemons
inline constexpr const char* kSite = "site";  // absent if no rule took the wait
inline constexpr const char* kPid = "pid";
// Only for blocks in progress, with the text kInProgress.
inline constexpr const char* kState = "state";
inline constexpr const char* kInProgress = "in progress";
inline constexpr const char* kWaker = "waker";
inline constexpr const char* kWakerPid = "waker_pid";

}  // namespace offcpud::pprof
