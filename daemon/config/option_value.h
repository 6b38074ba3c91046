// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "config/config_schema.h"

namespace offcpud {

// Reads `text` into the option's member of `config`, which is untouched on error. A list is read as
// it stands on one line of a file: "[1s, 10s]". The error is a fragment without the key: `"10" has
// no unit (...); use a duration such as ...`.
Status set_option(Config& config, const Option& option, std::string_view text);

// The value as set_option reads it back.
std::string option_text(const Config& config, const Option& option);

// Those of the options that do not have their default: "snapshots.reasons=[disk]; linger=10s".
std::string settings_text(const Config& config, std::span<const std::string_view> keys);

// What is allowed, to follow "use": "a whole number from 16 to 65536".
std::string allowed_values(const Option& option);

}  // namespace offcpud
