// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace offcpud::test {

// Compares with a file of the source tree; OFFCPUD_UPDATE_GOLDEN=1 in the environment writes it.
void expect_same_as_file(const std::string& path_in_source, const std::string& actual);

}  // namespace offcpud::test
