// SPDX-License-Identifier: Apache-2.0
#include "mappings/cpu_list.h"

#include <charconv>

namespace offcpud {
namespace {

constexpr int kMaxCpu = 65536;

// Removes a number from the front of `text`; -1 if there is none.
int take_number(std::string_view& text) {
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0 || number > kMaxCpu) return -1;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

}  // namespace

Result<std::vector<int>> parse_cpu_list(std::string_view text) {
  const Error wrong("list of CPUs '" + std::string(text) + "': expected numbers and ranges");
  while (text.ends_with('\n')) text.remove_suffix(1);
  std::vector<int> cpus;
  for (;;) {
    const int first = take_number(text);
    int last = first;
    if (text.starts_with('-')) {
      text.remove_prefix(1);
      last = take_number(text);
    }
    if (first < 0 || last < first) return wrong;
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
    if (text.empty()) return cpus;
    if (!text.starts_with(',')) return wrong;
    text.remove_prefix(1);
  }
}

}  // namespace offcpud
