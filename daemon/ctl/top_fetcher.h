// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>

#include "base/result.h"
#include "base/unique_handle.h"
#include "base/worker.h"
#include "config/server.h"
#include "ctl/stack_lines.h"
#include "ctl/top_answer.h"

namespace offcpud {

// The rows of the table, or the stacks of one row.
using TopReply = std::variant<TopAnswer, StackLines>;

// Asks for a path of /api/v1/top or of stacks, and returns the rows or stacks of the answer. Error:
// no answer came, or it was an error.
Result<TopReply> fetch_reply(const Server& server, const std::string& server_text,
                             const std::string& path, const std::stop_token& stop = {});

// Asks the daemon on its own thread, so that the terminal reacts while the daemon does not answer.
// One request is in progress at a time; a newer one replaces a waiting one. The destructor cancels
// the request in progress, which takes a second at most.
class TopFetcher {
 public:
  static Result<std::unique_ptr<TopFetcher>> start(Server server, const std::string& server_text);

  void ask(std::string path);

  // Readable when an answer can be taken.
  [[nodiscard]] int fd() const { return ready_.get(); }
  std::optional<Result<TopReply>> take();

 private:
  TopFetcher(Server server, const std::string& server_text, UniqueFd ready);

  const UniqueFd ready_;  // an eventfd
  std::mutex mutex_;      // of the answer
  std::optional<Result<TopReply>> answer_;
  Worker<std::string> worker_;  // of paths; last: its thread uses the members above
};

}  // namespace offcpud
