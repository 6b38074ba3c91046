// SPDX-License-Identifier: Apache-2.0
#include "base/duration_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace offcpud {
namespace {

struct Unit {
  std::int64_t ns;
  const char* name;
};

constexpr std::int64_t kSecond = 1'000'000'000, kMinute = 60 * kSecond, kHour = 60 * kMinute;
constexpr std::int64_t kWholeSeconds = 10 * kSecond;  // from here on
constexpr std::array<Unit, 7> kUnits = {{{24 * kHour, "d"},
                                         {kHour, "h"},
                                         {kMinute, "min"},
                                         {kSecond, "s"},
                                         {1'000'000, "ms"},
                                         {1'000, "\xc2\xb5s"},
                                         {1, "ns"}}};

// The largest unit that is not more than this; `ns` is positive.
std::size_t unit_of(std::int64_t ns) {
  std::size_t unit = 0;
  while (kUnits[unit].ns > ns) ++unit;
  return unit;
}

// What the text is a multiple of.
std::int64_t step_of(std::int64_t ns) {
  if (ns >= kMinute) return kUnits[unit_of(ns) + 1].ns;
  if (ns >= kWholeSeconds) return kSecond;
  std::int64_t step = 1;
  while (ns / step >= 1'000) step *= 10;
  return step;
}

std::string counted(std::int64_t count, const Unit& unit) {
  return std::to_string(count) + " " + unit.name;
}

}  // namespace

std::string duration_text(std::chrono::duration<double> duration) {
  constexpr double kLongest = 9e9;  // seconds; more nanoseconds do not fit
  if (!(duration.count() > 0)) return "0 s";
  const std::int64_t exact = std::llround(std::min(duration.count(), kLongest) * kSecond);
  const std::int64_t step = step_of(exact);
  const std::int64_t ns = (exact + step / 2) / step * step;  // perhaps of a larger unit
  if (ns == 0) return "0 s";
  const std::size_t at = unit_of(ns);
  const Unit& unit = kUnits[at];
  if (ns < kMinute) {
    std::array<char, 32> text{};
    (void)std::snprintf(text.data(), text.size(), "%.3g %s",
                        static_cast<double>(ns) / static_cast<double>(unit.ns), unit.name);
    return text.data();
  }
  const Unit& smaller = kUnits[at + 1];
  const std::int64_t rest = ns % unit.ns / smaller.ns;
  return counted(ns / unit.ns, unit) + (rest > 0 ? " " + counted(rest, smaller) : "");
}

std::string age_text(const WaitAge& age) {
  return (age.estimated ? "~" : "") +
         duration_text(std::chrono::duration<double, std::nano>(static_cast<double>(age.ns)));
}

}  // namespace offcpud
