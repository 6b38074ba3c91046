// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "config/config_schema.h"

namespace offcpud {

// What the options below `push` may hold. Errors are fragments that quote the text.

// Does not quote it. http:// or https:// with a host, maybe a port and a path; nothing that could
// be a secret.
Status check_push_url(std::string_view text);
Status check_push_tenant(std::string_view text);
Status check_push_application(std::string_view text);
Status check_push_username(std::string_view text);

// "name=value": what Pyroscope's parser of label sets reads back, which knows neither quotes nor
// escapes (api/model/labelset in its source).
Status check_push_label(std::string_view text);

// Of the options below `push` with each other, and with snapshots.enabled.
std::optional<Conflict> find_push_conflict(const Config& config);

}  // namespace offcpud
