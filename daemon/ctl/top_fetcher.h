// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/result.h"
#include "base/unique_handle.h"
#include "config/server.h"
#include "ctl/top_answer.h"

namespace offcpud {

// The rows of an answer, or why there are none: no answer came, or it was an error.
Result<TopAnswer> fetch_top(const Server& server, const std::string& server_text,
                            const std::string& path, const std::stop_token& stop = {});

// Asks the daemon on its own thread, so that the terminal reacts while the daemon does not answer.
// One request is in progress at a time; a newer one replaces a waiting one. The destructor cancels
// the request in progress, which takes a second at most.
class TopFetcher {
 public:
  static Result<std::unique_ptr<TopFetcher>> start(Server server, std::string server_text);
  ~TopFetcher();
  TopFetcher(const TopFetcher&) = delete;
  TopFetcher& operator=(const TopFetcher&) = delete;

  void ask(std::string path);

  // Readable when an answer can be taken.
  [[nodiscard]] int fd() const { return ready_.get(); }
  std::optional<Result<TopAnswer>> take();

 private:
  TopFetcher(Server server, std::string server_text, UniqueFd ready);
  void run(const std::stop_token& stop);

  const Server server_;
  const std::string server_text_;
  const UniqueFd ready_;  // an eventfd

  std::mutex mutex_;  // guards the next two
  std::optional<std::string> question_;
  std::optional<Result<TopAnswer>> answer_;
  std::condition_variable_any asked_;
  std::jthread thread_;  // last: it uses the members above
};

}  // namespace offcpud
