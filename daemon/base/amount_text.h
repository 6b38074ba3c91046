// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace offcpud {

// Numbers as people read them, in UTF-8: offcpuctl, the log and answers as text all show this form.

// A mean number of threads as people read it: "8.1" and "0.45" with two digits below 10, "31"
// above, "< 0.01" if it would round to nothing, "0".
std::string threads_text(double threads);

// The same with a sign, for a change: "+7.9", "−0.45".
std::string change_text(double threads);

// A part of a whole, from 0 to 1, as people read it: "98 %", "1.0 %", "< 0.1 %", "0 %".
std::string share_text(double share);

// Bytes within a second as people read them: "85 MB/s", "2.4 kB/s", "0 B/s".
std::string byte_rate_text(double bytes_per_second);

// `after` / `before`: "22×", "2.2×", "> 100×", "< 0.1×". `before` must be positive.
std::string factor_text(double before, double after);

// "9,958".
std::string count_text(std::uint64_t count);

// "1 cgroup", "9,958 cgroups". `one`: the singular; `many`: the plural, unless it is `one` + "s".
std::string counted(std::uint64_t count, std::string_view one, std::string_view many = {});

// "512 B", "96.0 MB", "1.25 GB": powers of a thousand, with three digits.
std::string bytes_text(double bytes);

// The text with spaces added, so that it takes at least `columns` columns: left_aligned() is for
// texts, right_aligned() for numbers. Each character of UTF-8 counts as one column.
std::string left_aligned(std::string_view text, std::size_t columns);
std::string right_aligned(std::string_view text, std::size_t columns);

// The text itself, or its beginning and "...", in at most `columns` columns.
std::string cut(std::string_view text, std::size_t columns);

// The same with "..." and the end, which tells paths apart.
std::string cut_front(std::string_view text, std::size_t columns);

}  // namespace offcpud
