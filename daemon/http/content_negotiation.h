// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace offcpud {

// Formats of /metrics.
enum class ExpositionFormat { Text, Protobuf };

// The format that the field `Accept` prefers (RFC 9110, 12.5.1). Among equals, the one that is
// named more precisely wins, then text. A field that allows neither, for example only OpenMetrics,
// gets text, which every scraper reads.
ExpositionFormat preferred_format(std::string_view accept);

enum class ContentCoding { Identity, Gzip };

// The coding that `Accept-Encoding` prefers (RFC 9110, 12.5.3): gzip if it is named and identity is
// not preferred. Null `accept_encoding`: the field is missing. nullopt: it allows neither coding.
std::optional<ContentCoding> preferred_coding(std::optional<std::string_view> accept_encoding);
// Whether it allows identity, preferred or not.
bool allows_identity(std::optional<std::string_view> accept_encoding);

}  // namespace offcpud
