// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "golang/goroutine_report.h"

namespace offcpud {

// A report as JSON, or for people.
std::string goroutines_json(const GoroutineReport& report);
std::string goroutines_text(const GoroutineReport& report);

}  // namespace offcpud
