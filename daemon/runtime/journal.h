// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/logging.h"

namespace offcpud {

// Whether `fd` is the stream named by JOURNAL_STREAM ("device:inode", systemd.exec(5)). A service
// whose standard error was redirected has the variable but not the stream.
bool is_journal_stream(int fd, const char* journal_stream);

// The entry in the form of sd_journal_sendv(3): a "NAME=value" for each field.
std::vector<std::string> journal_entry(int priority, std::string_view message, LogFields fields);

// Sends one entry. If the journal does not take it, the line goes to standard error with the
// "<priority>" prefix of sd-daemon(3). Reports no error, since there is nowhere to report it.
void send_to_journal(int priority, std::string_view message, LogFields fields);

}  // namespace offcpud
