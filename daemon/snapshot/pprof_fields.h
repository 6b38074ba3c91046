// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <protozero/types.hpp>

// Numbers of the fields of pprof's profile.proto that are used here. Those from 100 on are ours:
// they hold what the format has no place for, and its readers skip them as protobuf requires.
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
  Comment = 13,  // repeated int64; what was left out at capture
  DefaultSampleType = 14,
  Sequence = 100,          // uint64
  Partial = 101,           // bool
  EndNanos = 102,          // int64: time and duration do not give it when the clock was set
  SamplingInterval = 103,  // int64, nanoseconds; not there when it is not known
};

enum class ValueTypeField : protozero::pbf_tag_type { Type = 1, Unit = 2 };

enum class SampleField : protozero::pbf_tag_type {
  LocationId = 1,
  Value = 2,
  Label = 3,
  KernelFrames = 100,  // uint32: so many of the locations, from the leaf, are the kernel's
  WakerKernel = 101,   // packed uint64: location ids, leaf first
  WakerUser = 102,
  Episodes = 103,  // double: the value is a whole number
  Variance = 104,  // double: of the first value; not there when it is 0
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

enum class LineField : protozero::pbf_tag_type { FunctionId = 1 };

enum class FunctionField : protozero::pbf_tag_type {
  Id = 1,
  Name = 2,
  SystemName = 3,
  Filename = 4
};

// Keys of the labels of a sample.
inline constexpr const char* kComm = "comm";
inline constexpr const char* kThread = "thread";
inline constexpr const char* kCgroup = "cgroup";
inline constexpr const char* kReason = "reason";
inline constexpr const char* kPid = "pid";
inline constexpr const char* kState = "state";  // present, with this text, of a part only:
inline constexpr const char* kInProgress = "in progress";
inline constexpr const char* kWaker = "waker";
inline constexpr const char* kWakerPid = "waker_pid";

}  // namespace offcpud::pprof
