// SPDX-License-Identifier: Apache-2.0
// What the probe says and when it gives up: one line per check on the console, which run reads.
#pragma once

#include <cstdlib>
#include <string>
#include <utility>

#include "base/result.h"

namespace offcpud::test {

[[gnu::format(printf, 1, 2)]] std::string text(const char* format, ...);

// One line "@@ ..." on standard output.
void say(const std::string& line);

// Says "PASS name: detail" or "FAIL name: detail", and returns whether it passed.
bool check(bool passed, const char* name, const std::string& detail);
[[nodiscard]] unsigned failed_checks();

// For what the probe itself needs: without it nothing can be said about the kernel.
[[noreturn]] void give_up(const std::string& what);
void must(bool done, const char* what);  // the reason is errno

// For what later checks rest on: an error fails the check of that name and ends the probe.
template <class T>
T must(Result<T> result, const char* name) {
  if (!result) {
    check(false, name, result.error().message());
    std::exit(1);
  }
  return *std::move(result);
}

}  // namespace offcpud::test
