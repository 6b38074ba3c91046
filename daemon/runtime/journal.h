// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/logging.h"

namespace offcpud {

// Whether `fd` is the stream that JOURNAL_STREAM ("device:inode", systemd.exec(5)) speaks of. A
// service whose standard error was redirected has the variable but not the stream.
bool is_journal_stream(int fd, const char* journal_stream);

// The entry as sd_journal_sendv(3) wants it: one "NAME=value" each.
std::vector<std::string> journal_entry(int priority, std::string_view message, LogFields fields);

// Sends one entry. When the journal does not take it, the line goes to standard error with the
// "<priority>" prefix of sd-daemon(3). No error is reported: there is nobody to report it to.
void send_to_journal(int priority, std::string_view message, LogFields fields);

}  // namespace offcpud
