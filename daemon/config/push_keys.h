// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "config/config_schema.h"

namespace offcpud {

// Check the values of options below `push`. Errors are fragments that quote the text.

// Accepts http:// or https:// with a host, optionally a port and a path, and nothing that could be
// a secret. The error does not quote the text.
Status check_push_url(std::string_view text);
Status check_push_tenant(std::string_view text);
Status check_push_application(std::string_view text);
Status check_push_username(std::string_view text);

// Accepts "name=value" as Pyroscope's parser of label sets reads it back, which knows neither
// quotes nor escapes (api/model/labelset in its source).
Status check_push_label(std::string_view text);

// Checks the options below `push` against each other and against snapshots.enabled.
std::optional<Conflict> find_push_conflict(const Config& config);

}  // namespace offcpud
