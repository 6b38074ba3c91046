// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "golang/goroutine_report.h"

namespace offcpud {

// A report as JSON, or for people. `limit`: of the groups, the first so many; the others are
// counted.
std::string goroutines_json(const GoroutineReport& report, std::size_t limit);
std::string goroutines_text(const GoroutineReport& report, std::size_t limit);

}  // namespace offcpud
