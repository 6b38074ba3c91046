// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace offcpud {

// Of project() in CMakeLists.txt, as in "0.1.0".
extern const char* const kVersion;

// The commit that was built, 12 digits; "unknown" where it is not known.
extern const char* const kRevision;

}  // namespace offcpud
