// SPDX-License-Identifier: Apache-2.0
#include "support/metric_families.h"

#include "base/checked_protozero.h"
// That stands before protozero.
#include <protozero/pbf_reader.hpp>
#include <stdexcept>

namespace offcpud::test {
namespace {

using protozero::pbf_reader;

double time_of(pbf_reader message, std::int64_t& seconds, std::int64_t& nanos) {
  while (message.next()) {
    switch (message.tag()) {
      case 1:
        seconds = message.get_int64();
        break;
      case 2:
        nanos = message.get_int32();
        break;
      default:
        message.skip();
    }
  }
  return static_cast<double>(seconds) + static_cast<double>(nanos) / 1e9;
}

void add_label(Labels& labels, pbf_reader message) {
  std::string name, value;
  while (message.next()) {
    const bool is_name = message.tag() == 1;  // no more after a value is read, in debug builds
    (is_name ? name : value) = message.get_string();
  }
  if (!labels.emplace(name, value).second) throw std::runtime_error("label twice: " + name);
}

DecodedExemplar exemplar_of(pbf_reader message) {
  DecodedExemplar out;
  while (message.next()) {
    switch (message.tag()) {
      case 1:
        add_label(out.labels, message.get_message());
        break;
      case 2:
        out.value = message.get_double();
        break;
      default:
        (void)time_of(message.get_message(), out.seconds, out.nanos);
    }
  }
  return out;
}

DecodedBucket bucket_of(pbf_reader message) {
  DecodedBucket out;
  while (message.next()) {
    switch (message.tag()) {
      case 1:
        out.cumulative_count = message.get_uint64();
        break;
      case 2:
        out.upper_bound = message.get_double();
        break;
      default:
        out.exemplar = exemplar_of(message.get_message());
    }
  }
  return out;
}

std::pair<std::int32_t, std::uint32_t> span_of(pbf_reader message) {
  std::pair<std::int32_t, std::uint32_t> out;
  while (message.next()) {
    if (message.tag() == 1) {
      out.first = message.get_sint32();
    } else {
      out.second = message.get_uint32();
    }
  }
  return out;
}

void read_native(DecodedHistogram& out, pbf_reader& message) {
  std::int64_t seconds = 0, nanos = 0;
  switch (message.tag()) {
    case 5:
      out.schema = message.get_sint32();
      return;
    case 6:
      out.zero_threshold = message.get_double();
      return;
    case 7:
      out.zero_count = message.get_uint64();
      return;
    case 12:
      out.spans.push_back(span_of(message.get_message()));
      return;
    case 13:
      for (const std::int64_t delta : message.get_packed_sint64()) out.deltas.push_back(delta);
      return;
    case 15:
      out.created = time_of(message.get_message(), seconds, nanos);
      return;
    case 16:
      out.exemplars.push_back(exemplar_of(message.get_message()));
      return;
    default:
      throw std::runtime_error("unknown field of a histogram");
  }
}

DecodedHistogram histogram_of(pbf_reader message) {
  DecodedHistogram out;
  while (message.next()) {
    switch (message.tag()) {
      case 1:
        out.count = message.get_uint64();
        break;
      case 2:
        out.sum = message.get_double();
        break;
      case 3:
        out.buckets.push_back(bucket_of(message.get_message()));
        break;
      default:
        read_native(out, message);
    }
  }
  return out;
}

DecodedMetric metric_of(pbf_reader message) {
  DecodedMetric out;
  while (message.next()) {
    switch (message.tag()) {
      case 1:
        add_label(out.labels, message.get_message());
        break;
      case 7:
        out.histogram = histogram_of(message.get_message());
        break;
      default: {
        pbf_reader value = message.get_message();
        while (value.next()) out.value = value.get_double();
      }
    }
  }
  return out;
}

DecodedFamily family_of(pbf_reader message) {
  DecodedFamily out;
  while (message.next()) {
    switch (message.tag()) {
      case 1:
        out.name = message.get_string();
        break;
      case 2:
        out.help = message.get_string();
        break;
      case 3:
        out.type = message.get_enum();
        break;
      default:
        out.metrics.push_back(metric_of(message.get_message()));
    }
  }
  return out;
}

}  // namespace

std::map<std::int32_t, std::uint64_t> DecodedHistogram::populations() const {
  std::map<std::int32_t, std::uint64_t> found;
  std::int32_t index = 0;
  std::int64_t population = 0;
  auto delta = deltas.begin();
  for (const auto& [offset, length] : spans) {
    index += offset;
    for (std::uint32_t i = 0; i < length; ++i, ++index) {
      if (delta == deltas.end()) throw std::runtime_error("more buckets than counts");
      population += *delta++;
      if (population != 0) found[index] = static_cast<std::uint64_t>(population);
    }
  }
  if (delta != deltas.end()) throw std::runtime_error("more counts than buckets");
  return found;
}

std::vector<DecodedFamily> decode_families(std::string_view bytes) {
  std::vector<DecodedFamily> families;
  const char* begin = bytes.data();
  const char* const end = begin + bytes.size();
  while (begin != end) {
    const std::uint64_t size = protozero::decode_varint(&begin, end);
    if (size > static_cast<std::uint64_t>(end - begin)) throw std::runtime_error("cut off");
    families.push_back(family_of(pbf_reader(begin, size)));
    begin += size;
  }
  return families;
}

}  // namespace offcpud::test
