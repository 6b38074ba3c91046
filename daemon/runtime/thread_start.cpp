// SPDX-License-Identifier: Apache-2.0
#include "runtime/thread_start.h"

#include <pthread.h>

#include <csignal>
#include <utility>

namespace offcpud {

std::thread start_thread(const char* name, std::function<void()> body) {
  // Inherited, so there is no moment in which the thread could get one.
  sigset_t all{}, before{};
  (void)::sigfillset(&all);
  (void)::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(std::move(body));
  (void)::pthread_setname_np(thread.native_handle(), name);
  (void)::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace offcpud
