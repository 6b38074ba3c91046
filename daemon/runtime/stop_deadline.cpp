// SPDX-License-Identifier: Apache-2.0
#include "runtime/stop_deadline.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <thread>

#include "base/exit_code.h"
#include "base/thread_start.h"
#include "base/unique_handle.h"
#include "runtime/logging.h"

namespace offcpud {

struct StopDeadline::Shared {
  UniqueFd pending;  // signalfd(2), never read: another thread consumes the signal
  UniqueFd taken;    // eventfd(2): the signal may be consumed before this thread sees it
  std::atomic<MonotonicTime::duration::rep> came{0};  // steady clock; 0: not yet

  MonotonicTime note() {
    auto expected = MonotonicTime::duration::rep{0};
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    return MonotonicTime(
        MonotonicTime::duration(came.compare_exchange_strong(expected, now) ? now : expected));
  }
};

Result<std::unique_ptr<StopDeadline>> StopDeadline::start(std::chrono::milliseconds patience) {
  sigset_t signals{};
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  auto shared = std::make_shared<Shared>();
  shared->pending.reset(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  shared->taken.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!shared->pending || !shared->taken) return Error::from_errno(errno, "watch for signals");
  start_thread("offcpud-end", [shared, patience] { watch(*shared, patience); }).detach();
  return std::unique_ptr<StopDeadline>(new StopDeadline(std::move(shared)));
}

void StopDeadline::watch(Shared& shared, std::chrono::milliseconds patience) {
  std::array<pollfd, 2> wanted{{{.fd = shared.pending.get(), .events = POLLIN, .revents = 0},
                                {.fd = shared.taken.get(), .events = POLLIN, .revents = 0}}};
  while (::poll(wanted.data(), wanted.size(), -1) <= 0) continue;
  std::this_thread::sleep_until(shared.note() + patience);
  log_warning("stopping takes too long: ending without waiting for it");
  std::_Exit(static_cast<int>(ExitCode::Ok));
}

MonotonicTime StopDeadline::taken() {
  const MonotonicTime came = shared_->note();
  (void)::eventfd_write(shared_->taken.get(), 1);  // fails only after 2^64 writes
  return came;
}

}  // namespace offcpud
