// SPDX-License-Identifier: Apache-2.0
#include "http/content_negotiation.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"

namespace offcpud {
namespace {

using Parameter = std::pair<std::string, std::string>;

constexpr unsigned kMostWeight = 1000;  // in thousandths: q has at most three digits

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Removes the text up to the separator, and the separator, from `rest`. Ignores separators in
// quotes.
std::string_view take_unquoted(std::string_view& rest, char separator) {
  bool quoted = false;
  std::size_t end = 0;
  for (; end < rest.size(); ++end) {
    if (rest[end] == '"') quoted = !quoted;
    if (quoted && rest[end] == '\\') ++end;
    if (!quoted && end < rest.size() && rest[end] == separator) break;
  }
  const std::string_view taken = trimmed(rest.substr(0, end));
  rest.remove_prefix(std::min(rest.size(), end + 1));
  return taken;
}

std::string unquoted_lower(std::string_view value) {
  std::string out;
  const bool quoted = value.size() > 1 && value.front() == '"' && value.back() == '"';
  if (quoted) value = value.substr(1, value.size() - 2);
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (quoted && value[i] == '\\' && i + 1 < value.size()) ++i;
    out += lower(value[i]);
  }
  return out;
}

// Reads "0", "1", "0.25" as thousandths. An invalid weight counts as 1, as if it were missing.
unsigned weight_of(std::string_view text) {
  if (text.empty() || (text[0] != '0' && text[0] != '1')) return kMostWeight;
  unsigned weight = text[0] == '1' ? kMostWeight : 0;
  if (text.size() == 1) return weight;
  if (text[1] != '.' || text.size() > 5) return kMostWeight;
  unsigned unit = 100;
  for (const char c : text.substr(2)) {
    if (c < '0' || c > '9') return kMostWeight;
    weight += static_cast<unsigned>(c - '0') * unit;
    unit /= 10;
  }
  return std::min(weight, kMostWeight);
}

// One element of the list: a media range or a coding, its parameters except q, and q.
struct Preference {
  std::string name;
  std::vector<Parameter> parameters;
  unsigned weight = kMostWeight;
};

std::vector<Preference> preferences_of(std::string_view field) {
  std::vector<Preference> list;
  while (!field.empty()) {
    std::string_view element = take_unquoted(field, ',');
    if (element.empty()) continue;
    Preference preference;
    preference.name = unquoted_lower(take_unquoted(element, ';'));
    while (!element.empty()) {
      std::string_view value = take_unquoted(element, ';');
      if (value.empty()) continue;
      std::string name = unquoted_lower(take_unquoted(value, '='));
      if (name == "q") {
        preference.weight = weight_of(value);
      } else {
        preference.parameters.emplace_back(std::move(name), unquoted_lower(value));
      }
    }
    list.push_back(std::move(preference));
  }
  return list;
}

struct Offer {
  ExpositionFormat format;
  std::string_view type, any_of_type;
  std::vector<Parameter> parameters;
};

const std::array<Offer, 2>& offers() {
  static const std::array<Offer, 2> kOffers = {
      {{ExpositionFormat::Text,
        "text/plain",
        "text/*",
        {{"version", "0.0.4"}, {"charset", "utf-8"}}},
       {ExpositionFormat::Protobuf,
        "application/vnd.google.protobuf",
        "application/*",
        {{"proto", "io.prometheus.client.metricfamily"}, {"encoding", "delimited"}}}}};
  return kOffers;
}

// How precisely the range names the offer; 0: it does not. Ignores `escaping`, with which
// Prometheus says how names that are not plain words should be written: we have none.
std::size_t precision_of(const Preference& range, const Offer& offer) {
  if (range.name == "*/*") return 1;
  if (range.name == offer.any_of_type) return 2;
  if (range.name != offer.type) return 0;
  std::size_t precision = 3;
  for (const Parameter& wanted : range.parameters) {
    if (wanted.first == "escaping") continue;
    if (std::ranges::find(offer.parameters, wanted) == offer.parameters.end()) return 0;
    ++precision;
  }
  return precision;
}

// The weight and precision of the range that names the offer most precisely.
std::pair<unsigned, std::size_t> weight_and_precision(std::span<const Preference> ranges,
                                                      const Offer& offer) {
  std::pair<unsigned, std::size_t> best{0, 0};
  for (const Preference& range : ranges) {
    const std::size_t precision = precision_of(range, offer);
    if (precision > best.second) best = {range.weight, precision};
  }
  return best;
}

struct CodingWeights {
  explicit CodingWeights(std::optional<std::string_view> accept_encoding) {
    for (const Preference& coding : preferences_of(accept_encoding.value_or(""))) {
      if (coding.name == "gzip" || coding.name == "x-gzip") gzip = coding.weight;
      if (coding.name == "identity") identity = coding.weight;
      if (coding.name == "*") others = coding.weight;
    }
  }
  [[nodiscard]] unsigned of_gzip() const { return gzip.value_or(others.value_or(0)); }
  [[nodiscard]] bool allow_identity() const { return identity.value_or(others.value_or(1)) > 0; }

  std::optional<unsigned> gzip, identity, others;
};

}  // namespace

ExpositionFormat preferred_format(std::string_view accept) {
  const std::vector<Preference> ranges = preferences_of(accept);
  const Offer* best = &offers()[0];
  auto most = weight_and_precision(ranges, *best);
  for (const Offer& offer : std::span(offers()).subspan(1)) {
    const auto wanted = weight_and_precision(ranges, offer);
    if (wanted.first == 0 || wanted <= most) continue;
    most = wanted;
    best = &offer;
  }
  return best->format;
}

std::optional<ContentCoding> preferred_coding(std::optional<std::string_view> accept_encoding) {
  const CodingWeights weights(accept_encoding);
  const unsigned gzip = weights.of_gzip();
  if (gzip > 0 && gzip >= weights.identity.value_or(0)) return ContentCoding::Gzip;
  if (weights.allow_identity()) return ContentCoding::Identity;
  return gzip > 0 ? std::optional(ContentCoding::Gzip) : std::nullopt;
}

bool allows_identity(std::optional<std::string_view> accept_encoding) {
  return CodingWeights(accept_encoding).allow_identity();
}

}  // namespace offcpud
