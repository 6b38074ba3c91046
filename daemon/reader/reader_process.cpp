// SPDX-License-Identifier: Apache-2.0
#include "reader/reader_process.h"

#include <array>
#include <span>

#include "reader/own_time.h"
#include "reader/reader_answers.h"

namespace offcpud {
void answer_requests(UniqueFd socket, SharedReaderPage page) {
  ReaderAnswers answers(*page);
  OwnTime time;
  for (;;) {
    auto request = receive_packet(socket.get(), std::chrono::milliseconds(-1));
    if (!request) return;
    if (!*request) continue;
    time.begin();
    const ReaderAnswers::Answer answer = answers.answer(std::move(**request));
    page->blocked_ns = static_cast<std::uint64_t>(time.blocked().count());
    page->cpu_ns = static_cast<std::uint64_t>(OwnTime::cpu().count());
    const std::array fd{answer.fd.get()};
    const auto fds = std::span(fd).first(answer.fd ? 1 : 0);
    if (!send_packet(socket.get(), answer.bytes, fds)) return;
  }
}

}  // namespace offcpud
