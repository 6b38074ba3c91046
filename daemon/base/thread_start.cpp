// SPDX-License-Identifier: Apache-2.0
#include "base/thread_start.h"

#include <pthread.h>

#include <csignal>
#include <utility>

namespace offcpud {
namespace {

template <class Thread, class Body>
Thread start(const char* name, Body body) {
  // The thread inherits the mask, so there is no moment in which it could get a signal.
  sigset_t all{}, before{};
  (void)::sigfillset(&all);
  (void)::pthread_sigmask(SIG_SETMASK, &all, &before);
  Thread thread(std::move(body));
  (void)::pthread_setname_np(thread.native_handle(), name);
  (void)::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace

std::thread start_thread(const char* name, std::function<void()> body) {
  return start<std::thread>(name, std::move(body));
}

std::jthread start_thread(const char* name, std::function<void(const std::stop_token& stop)> body) {
  return start<std::jthread>(name, std::move(body));
}

}  // namespace offcpud
