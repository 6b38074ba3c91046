// SPDX-License-Identifier: Apache-2.0
#include "ctl/top_fetcher.h"

#include <sys/eventfd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "ctl/http_get.h"
#include "ctl/status_text.h"

namespace offcpud {

Result<TopReply> fetch_reply(const Server& server, const std::string& server_text,
                             const std::string& path, const std::stop_token& stop) {
  TRY(const auto answer, http_get(server, path, stop));
  if (answer.status != 200) return refused(server_text, answer);
  if (path.starts_with("/api/v1/snapshots/")) {
    auto stacks = stack_lines(answer.body);
    if (!stacks) return std::move(stacks).error().with(server_text);
    return TopReply(*std::move(stacks));
  }
  auto top = parse_top_answer(answer.body);
  if (!top) return std::move(top).error().with(server_text);
  return TopReply(*std::move(top));
}

Result<std::unique_ptr<TopFetcher>> TopFetcher::start(Server server,
                                                      const std::string& server_text) {
  UniqueFd ready(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!ready) return Error::from_errno(errno, "create an eventfd");
  return std::unique_ptr<TopFetcher>(
      new TopFetcher(std::move(server), server_text, std::move(ready)));
}

TopFetcher::TopFetcher(Server server, const std::string& server_text, UniqueFd ready)
    : ready_(std::move(ready)),
      worker_("offcpuctl-fetch", [this, server = std::move(server), server_text](
                                     const std::string& path, const std::stop_token& stop) {
        auto answer = fetch_reply(server, server_text, path, stop);
        const std::lock_guard lock(mutex_);
        answer_.emplace(std::move(answer));
        (void)::eventfd_write(ready_.get(), 1);  // fails only if it is readable already
      }) {}

void TopFetcher::ask(std::string path) {
  worker_.change([&](auto& waiting) { waiting.assign(1, std::move(path)); });
}

std::optional<Result<TopReply>> TopFetcher::take() {
  const std::lock_guard lock(mutex_);
  eventfd_t count = 0;
  (void)::eventfd_read(ready_.get(), &count);  // fails if there was no answer
  return std::exchange(answer_, std::nullopt);
}

}  // namespace offcpud
