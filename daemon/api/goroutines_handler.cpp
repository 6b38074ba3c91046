// SPDX-License-Identifier: Apache-2.0
#include "api/goroutines_handler.h"

#include <cstdint>
#include <string>

#include "api/error_response.h"
#include "api/goroutines_answer.h"
#include "api/goroutines_query.h"

namespace offcpud {
namespace {

// 404 where there is nothing to answer: the process is gone or runs no Go program, or its version
// is unknown.
unsigned status_of_unread_process(const Error& refused) {
  const bool is_nothing =
      refused.kind() == ErrorKind::NotFound || refused.kind() == ErrorKind::Unsupported;
  return is_nothing ? 404 : 503;
}

// The message about a process. The daemon may read those of all users; one that it may not read is
// guarded by the host.
std::string sentence_of(const Error& refused, std::uint32_t pid) {
  if (refused.kind() != ErrorKind::Permission) return refused.message();
  return "process " + std::to_string(pid) + " cannot be read, because this host guards it (" +
         refused.message() + ")";
}

}  // namespace

Response GoroutinesHandler::goroutines(const Request& request) const {
  const auto query = GoroutinesQuery::parse(request.query);
  if (!query) return error(400, query.error().message());
  return worker_.respond([this, query = *query](const std::stop_token& stop) -> Response {
    const auto report = source_.goroutines_of(query.pid, query.limit, stop);
    if (!report) {
      return error(status_of_unread_process(report.error()),
                   sentence_of(report.error(), query.pid));
    }
    if (query.as_text) {
      return {.content_type = kPlainText, .body = goroutines_text(*report)};
    }
    return {.content_type = kJson, .body = goroutines_json(*report)};
  });
}

}  // namespace offcpud
