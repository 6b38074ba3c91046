// SPDX-License-Identifier: Apache-2.0
// Durations and sizes.
#include "config/byte_size.h"
#include "config/duration.h"
#include "fuzz.h"
#include "text.h"

namespace offcpud::fuzz {

void test(std::string_view input) {
  if (const auto duration = parse_duration(input)) {
    require(duration->count() >= 0, "a duration is no less than nothing");
    const auto again = parse_duration(format_duration(*duration));
    require(again && *again == *duration, "it is read as it is written");
    require(format_duration(*duration).size() <= std::max<std::size_t>(input.size() + 8, 16),
            "in the shortest way");
    const auto fine = parse_fine_duration(input);
    require(!fine || *fine == *duration, "both readers agree");
  } else {
    require(is_printable(duration.error().message()), "an error is one line");
  }
  if (const auto fine = parse_fine_duration(input)) {
    const auto again = parse_fine_duration(format_fine_duration(*fine));
    require(fine->count() >= 0 && again && *again == *fine, "so are fine ones");
  }
  if (const auto size = parse_byte_size(input)) {
    const auto again = parse_byte_size(format_byte_size(*size));
    require(again && *again == *size, "so are sizes");
  } else {
    require(is_printable(size.error().message()), "and their errors");
  }
}

std::vector<std::string> seeds() {
  return {"10s",
          "1h30min",
          "7d",
          "500ms",
          "100us",
          "10m5s",
          "106751991167d",
          "9223372036854775807ms",
          "512KiB",
          "16TiB",
          "18446744073709551615B",
          "0B",
          "1.5s",
          "10",
          "1s1s",
          "-1s",
          " 1s"};
}

}  // namespace offcpud::fuzz
