// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace offcpud::test {
namespace {

unsigned failures = 0;

}  // namespace

std::string text(const char* format, ...) {
  std::array<char, 1024> line{};
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line.data(), line.size(), format, arguments);
  va_end(arguments);
  return line.data();
}

void say(const std::string& line) {
  std::printf("@@ %s\n", line.c_str());
  std::fflush(stdout);
}

bool check(bool passed, const char* name, const std::string& detail) {
  if (!passed) ++failures;
  say(std::string(passed ? "PASS " : "FAIL ") + name + ": " + detail);
  return passed;
}

unsigned failed_checks() {
  return failures;
}

void give_up(const std::string& what) {
  say("FAIL probe: " + what);
  std::exit(1);
}

void must(bool done, const char* what) {
  if (!done) give_up(std::string(what) + ": " + std::strerror(errno));
}

}  // namespace offcpud::test
