// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace offcpud {

// From project() in CMakeLists.txt: "0.1.0".
extern const char* const kVersion;

// The commit that was built, 12 digits; "unknown" if the build could not tell.
extern const char* const kRevision;

}  // namespace offcpud
