// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace offcpud::test {

// Decoded from Prometheus' protobuf exposition, by the numbers of the fields alone.
using Labels = std::map<std::string, std::string>;

struct DecodedExemplar {
  Labels labels;
  double value = 0;
  std::int64_t seconds = 0, nanos = 0;
};

struct DecodedBucket {
  std::uint64_t cumulative_count = 0;
  double upper_bound = 0;
  std::optional<DecodedExemplar> exemplar;
};

struct DecodedHistogram {
  std::uint64_t count = 0;
  double sum = 0;
  std::vector<DecodedBucket> buckets;
  std::int32_t schema = 0;
  double zero_threshold = 0;
  std::uint64_t zero_count = 0;
  std::vector<std::pair<std::int32_t, std::uint32_t>> spans;
  std::vector<std::int64_t> deltas;
  std::optional<double> created;
  std::vector<DecodedExemplar> exemplars;

  // By index: how many are in (2^((i-1)/2^schema), 2^(i/2^schema)].
  [[nodiscard]] std::map<std::int32_t, std::uint64_t> populations() const;
};

struct DecodedMetric {
  Labels labels;
  std::optional<double> value;  // of a counter or gauge
  std::optional<DecodedHistogram> histogram;
};

struct DecodedFamily {
  std::string name, help;
  std::int32_t type = -1;
  std::vector<DecodedMetric> metrics;
};

// Throws std::exception when the bytes are no such messages.
std::vector<DecodedFamily> decode_families(std::string_view bytes);

}  // namespace offcpud::test
