// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace offcpud {

// The lexical elements of the Prometheus text format 0.0.4
// (https://prometheus.io/docs/instrumenting/exposition_formats/). Each appends to `out`.

void append_number(std::string& out, std::uint64_t value);

// The shortest decimal that reads back as the same double.
void append_number(std::string& out, double value);

// Nanoseconds as seconds, exactly: "1.500000001". A double would round above 2^53 ns (104 days).
void append_seconds(std::string& out, std::uint64_t nanoseconds);

// Appends name="value" with the value escaped, after a comma unless `out` is empty or ends with
// '{'.
void append_label(std::string& out, std::string_view name, std::string_view value);

}  // namespace offcpud
