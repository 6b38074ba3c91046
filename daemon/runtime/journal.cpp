// SPDX-License-Identifier: Apache-2.0
#include "runtime/journal.h"

#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

// Left out: CODE_FILE, CODE_LINE and CODE_FUNC would always name this place.
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>

#include <cctype>

namespace offcpud {
namespace {

std::string field_name(std::string_view name) {
  if (name == kMessageId) return "MESSAGE_ID";
  std::string upper = "OFFCPUD_";
  for (const char c : name) {
    upper += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return upper;
}

}  // namespace

bool is_journal_stream(int fd, const char* journal_stream) {
  struct stat info {};
  if (journal_stream == nullptr || ::fstat(fd, &info) != 0) return false;
  return std::to_string(info.st_dev) + ":" + std::to_string(info.st_ino) == journal_stream;
}

std::vector<std::string> journal_entry(int priority, std::string_view message, LogFields fields) {
  std::vector<std::string> entry{
      "MESSAGE=" + std::string(message),
      "PRIORITY=" + std::to_string(priority),
      "SYSLOG_IDENTIFIER=offcpud",
  };
  for (const auto& [name, value] : fields) entry.push_back(field_name(name) + "=" + value);
  return entry;
}

void send_to_journal(int priority, std::string_view message, LogFields fields) {
  auto entry = journal_entry(priority, message, fields);
  std::vector<iovec> parts;
  parts.reserve(entry.size());
  for (auto& part : entry) parts.push_back({part.data(), part.size()});
  if (sd_journal_sendv(parts.data(), static_cast<int>(parts.size())) >= 0) return;

  std::string line("<");  // appended to: g++ 12 sees an overlap in "<" + string (GCC PR105651)
  line.append(std::to_string(priority)).append(">").append(message).append("\n");
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace offcpud
