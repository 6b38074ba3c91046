// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace offcpud {

// Journal entries that programs may look for (`journalctl MESSAGE_ID=...`), and the fields that
// they have. An id never changes its meaning.

// The daemon measures and listens: OFFCPUD_LISTEN.
inline constexpr const char* kReadyId = "6a77fc167fdd460a9f3a7a622e072e4e";

// SIGTERM or SIGINT was received.
inline constexpr const char* kStoppingId = "ed84ffd6a8fb430991a16d17ca41afb8";

// A new configuration is in force.
inline constexpr const char* kReloadedId = "a351a7473ecf4b71904ad0835e8ca51d";

// A new configuration was refused, so the running one stays: OFFCPUD_ERROR.
inline constexpr const char* kReloadRefusedId = "8de9f98131b54782a65a8556b849f08a";

// A pass failed, so the last view stays: OFFCPUD_STAGE.
inline constexpr const char* kPassFailedId = "3b12b2fa3a734f11a899ddfb7a19effd";

// A thread has been blocked for longer than its threshold: OFFCPUD_TID, OFFCPUD_PID,
// OFFCPUD_THREADS (how many, with those of the same cause), OFFCPUD_COMM, OFFCPUD_PROCESS,
// OFFCPUD_CGROUP, OFFCPUD_UNIT, OFFCPUD_REASON, OFFCPUD_DURATION_SECONDS, and if known
// OFFCPUD_SYSCALL, OFFCPUD_WAITS_FOR, OFFCPUD_FOR, OFFCPUD_SITE, OFFCPUD_USER_STACK and
// OFFCPUD_STACK (innermost function first).
inline constexpr const char* kStallBegunId = "239d1b96b6d64e62b5117cb7400fdc38";

// A block as of kStallBegunId ended, perhaps before it was first seen, or turned out to be idle:
// the same fields, and OFFCPUD_WOKEN_BY.
inline constexpr const char* kStallEndedId = "ffd4de3f5e3c401facf4706c3daf3a83";

// Entries of kStallBegunId and kStallEndedId were left out: OFFCPUD_LEFT_OUT.
inline constexpr const char* kStallsLeftOutId = "f9b4c601e7a64c54b4d98f7e5694675a";

// Threads wait for each other's locks in a circle: OFFCPUD_THREADS (how many), OFFCPUD_CGROUP,
// OFFCPUD_PID.
inline constexpr const char* kDeadlockId = "c1a9c26b0f2d4d6f8a5b93be7d60e1f4";

// More events of one cause were lost (offcpud_lost_events_total): OFFCPUD_CAUSE, and OFFCPUD_COUNT
// since the start. At most once a minute for each cause.
inline constexpr const char* kEventsLostId = "20f90a4185534826b8f08a769d9fcf76";

// A thread of the daemon itself is stuck: OFFCPUD_THREAD, OFFCPUD_WORK, OFFCPUD_SUBJECT.
inline constexpr const char* kThreadStuckId = "5f0c7cbd61c24b4a8d2f0f2c58f1b0de";

// A thread of the daemon that was stuck works again: OFFCPUD_THREAD, OFFCPUD_DURATION_SECONDS.
inline constexpr const char* kThreadGoesOnId = "a7e1de2b1f5f4ad0a4f3b6a9f1c74e35";

// A process or its file system did not answer in time: OFFCPUD_PID, OFFCPUD_WHAT, OFFCPUD_PATH.
inline constexpr const char* kReaderHungId = "b0f1c8f05c6e4e6c9f1d6a0a5d3b7c42";

// This kernel lacks an optional feature: OFFCPUD_FEATURE.
inline constexpr const char* kFeatureMissingId = "282b79965bfb4261bbedb1387e602688";

}  // namespace offcpud
