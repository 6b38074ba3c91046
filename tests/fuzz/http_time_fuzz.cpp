// SPDX-License-Identifier: Apache-2.0
// Points in time as requests name them.
#include "api/time_parameter.h"
#include "base/utc.h"
#include "fuzz.h"

namespace offcpud::fuzz {

void test(std::string_view input) {
  const WallTime now(std::chrono::milliseconds(1'795'176'000'250));
  const auto time = parse_time(input, now);
  if (!time) return;
  if (input.starts_with('-')) return require(*time <= now, "a time before now is before now");
  const std::string text = rfc3339(*time);
  const auto again = parse_time(text, now);
  // Offsets lead beyond the years that are read.
  if (*time < WallTime() || *time > WallTime(std::chrono::seconds(7'258'118'400))) return;
  require(again && *again == std::chrono::floor<std::chrono::milliseconds>(*time),
          "what the daemon writes it reads");
}

std::vector<std::string> seeds() {
  return {"2026-11-20T12:00:00Z",
          "2026-11-20t12:00:00.123456789+05:30",
          "2200-12-31 23:59:60-2359",
          "1970-01-01T00:00:00+23:59",
          "1795176000.5",
          "7258118400.999999999",
          "now",
          "-10min",
          "-1h30min",
          "-106751991167300d",
          "2026-02-30T00:00:00Z",
          "1795176000.0000000001"};
}

}  // namespace offcpud::fuzz
