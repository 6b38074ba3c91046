// SPDX-License-Identifier: Apache-2.0
#include "kernel/bpf_log.h"

#include <bpf/libbpf.h>

#include <array>
#include <cstdarg>
#include <cstdio>

namespace offcpud {
namespace {

constexpr std::size_t kKeep = 1 << 20;
constexpr std::size_t kTail = 4096;

std::string& collected() {
  static std::string text;
  return text;
}

int collect(libbpf_print_level level, const char* format, va_list arguments) {
  if (level == LIBBPF_DEBUG) return 0;
  va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, arguments);
  if (length > 0) {
    std::string line(static_cast<std::size_t>(length) + 1, '\0');
    std::vsnprintf(line.data(), line.size(), format, again);
    line.pop_back();
    std::string& text = collected();
    text += line;
    if (text.size() > kKeep) text.erase(0, text.size() - kKeep);
  }
  va_end(again);
  return 0;
}

}  // namespace

BpfLog::BpfLog() {
  collected().clear();
  libbpf_set_print(&collect);
}

BpfLog::~BpfLog() {
  libbpf_set_print(nullptr);
}

// NOLINTNEXTLINE(readability-convert-member-functions-to-static): one log while an object lives
bool BpfLog::has_verifier_log() const {
  return collected().find("END PROG LOAD LOG") != std::string::npos;
}

// The last line of the verifier's log before its statistics, "processed 12 insns (limit 1000000)
// ...".
// NOLINTNEXTLINE(readability-convert-member-functions-to-static): one log while an object lives
std::string BpfLog::verdict() const {
  const std::string& text = collected();
  const std::size_t figures = text.rfind("\nprocessed ");
  if (figures == std::string::npos) return {};
  const std::size_t begin = figures == 0 ? 0 : text.rfind('\n', figures - 1) + 1;
  return text.substr(begin, figures - begin);
}

std::string BpfLog::tail(
    unsigned lines) const {  // NOLINT(readability-convert-member-functions-to-static)
  const std::string& text = collected();
  std::size_t start = text.size();
  for (unsigned i = 0; i <= lines && start != 0 && start != std::string::npos; ++i) {
    start = text.rfind('\n', start - 1);
  }
  start = start == std::string::npos ? 0 : start;
  if (text.size() - start > kTail) start = text.size() - kTail;
  return text.substr(start);
}

}  // namespace offcpud
