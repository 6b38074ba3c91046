// SPDX-License-Identifier: Apache-2.0
#include "base/amount_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

#include "base/text.h"

namespace offcpud {
namespace {

std::string formatted(const char* format, double value) {
  std::array<char, 64> text{};
  (void)std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

constexpr std::array<const char*, 5> kByteUnits = {"B", "kB", "MB", "GB", "TB"};

// The amount in the unit in which it is printed, 999.6 kB as 1.0 MB, and the place of that unit,
// which is one of the first `units`.
std::pair<double, std::size_t> in_units(double bytes, std::size_t units) {
  double amount = bytes > 0 ? bytes : 0;
  std::size_t unit = 0;
  for (; amount >= 999.5 && unit + 1 < units; ++unit) amount /= 1000;
  return {amount, unit};
}

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    text.remove_prefix(first_utf8_sequence(text).length);
    ++columns;
  }
  return columns;
}

std::string blanks(std::string_view text, std::size_t columns) {
  const std::size_t has = columns_of(text);
  return std::string(columns - std::min(columns, has), ' ');
}

}  // namespace

std::string threads_text(double threads) {
  if (!(threads > 0)) return "0";
  if (threads < 0.005) return "< 0.01";
  if (threads < 0.995) return formatted("%.2f", threads);
  return formatted(threads < 9.95 ? "%.1f" : "%.0f", threads);
}

std::string change_text(double threads) {
  std::string size = threads_text(std::abs(threads));
  if (size == "0" || size == "< 0.01") return size;
  return (threads < 0 ? "\xe2\x88\x92" : "+") + size;
}

std::string share_text(double share) {
  const double percent = share * 100;
  if (!(percent > 0)) return "0 %";
  if (percent < 0.1) return "< 0.1 %";
  return formatted(percent < 9.95 ? "%.1f %%" : "%.0f %%", percent);
}

std::string byte_rate_text(double bytes_per_second) {
  const auto [amount, unit] = in_units(bytes_per_second, kByteUnits.size() - 1);
  return formatted(unit > 0 && amount < 9.95 ? "%.1f " : "%.0f ", amount) + kByteUnits.at(unit) +
         "/s";
}

std::string factor_text(double before, double after) {
  const double factor = after / before;
  if (factor > 100) return "> 100\xc3\x97";
  if (factor < 0.05) return "< 0.1\xc3\x97";
  return formatted(factor < 9.95 ? "%.1f\xc3\x97" : "%.0f\xc3\x97", factor);
}

std::string count_text(std::uint64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
  return text;
}

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  const std::string plural = many.empty() ? std::string(one) + "s" : std::string(many);
  return count_text(count) + " " + (count == 1 ? std::string(one) : plural);
}

std::string bytes_text(double bytes) {
  const auto [amount, unit] = in_units(bytes, kByteUnits.size());
  const char* digits = amount < 9.995 ? "%.2f " : amount < 99.95 ? "%.1f " : "%.0f ";
  if (unit == 0) digits = "%.0f ";
  return formatted(digits, amount) + kByteUnits.at(unit);
}

std::string left_aligned(std::string_view text, std::size_t columns) {
  return std::string(text) + blanks(text, columns);
}

std::string right_aligned(std::string_view text, std::size_t columns) {
  return blanks(text, columns) + std::string(text);
}

std::string cut(std::string_view text, std::size_t columns) {
  if (columns_of(text) <= columns) return std::string(text);
  std::string shorter;
  for (std::size_t used = 0; used + 3 < columns; ++used) {
    const std::size_t length = first_utf8_sequence(text).length;
    shorter += text.substr(0, length);
    text.remove_prefix(length);
  }
  return shorter + "...";
}

std::string cut_front(std::string_view text, std::size_t columns) {
  std::size_t used = columns_of(text);
  if (used <= columns) return std::string(text);
  for (; !text.empty() && used + 3 > columns; --used) {
    text.remove_prefix(first_utf8_sequence(text).length);
  }
  return "..." + std::string(text);
}

}  // namespace offcpud
