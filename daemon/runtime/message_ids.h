// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace offcpud {

// Entries of the journal that a program may look for (`journalctl MESSAGE_ID=...`), and the fields
// that come with them. An id never changes its meaning.

// It measures and listens: OFFCPUD_LISTEN.
inline constexpr const char* kReadyId = "6a77fc167fdd460a9f3a7a622e072e4e";

// SIGTERM or SIGINT came.
inline constexpr const char* kStoppingId = "ed84ffd6a8fb430991a16d17ca41afb8";

// A new configuration is in force.
inline constexpr const char* kReloadedId = "a351a7473ecf4b71904ad0835e8ca51d";

// The running configuration stays: OFFCPUD_ERROR.
inline constexpr const char* kReloadRefusedId = "8de9f98131b54782a65a8556b849f08a";

// The last view stays: OFFCPUD_STAGE.
inline constexpr const char* kPassFailedId = "3b12b2fa3a734f11a899ddfb7a19effd";

// This kernel lacks something that is optional: OFFCPUD_FEATURE.
inline constexpr const char* kFeatureMissingId = "282b79965bfb4261bbedb1387e602688";

}  // namespace offcpud
