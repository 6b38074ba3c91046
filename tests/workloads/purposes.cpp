// SPDX-License-Identifier: Apache-2.0
// For `ms`, threads that wait for things which their stacks tell: four "convoy" want one mutex,
// which each keeps for a millisecond of computing; "napper" sleeps 3 ms again and again; "acceptor"
// waits for connections, which "caller" makes every 10 ms; "pooled" waits on a condition that
// nobody signals; and with `hold`, "holder" keeps another mutex for all that time, which "stuck"
// wants. Truth: by the kernel's reasons, each of which has one purpose here but condvar.
#include <netinet/in.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>

#include "workload.h"

using namespace workload;

namespace {

pthread_mutex_t convoy_mutex = PTHREAD_MUTEX_INITIALIZER, held_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t pool_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t pool_condition = PTHREAD_COND_INITIALIZER;
std::atomic<bool> over{false}, is_held{false};
sockaddr_in address{};

void convoy() {
  ::prctl(PR_SET_NAME, "convoy");
  while (!over) {
    ::pthread_mutex_lock(&convoy_mutex);
    burn(1'000'000);
    ::pthread_mutex_unlock(&convoy_mutex);
  }
}

void nap() {
  ::prctl(PR_SET_NAME, "napper");
  while (!over) sleep_ns(3'000'000);
}

void accept_all(int listener) {
  ::prctl(PR_SET_NAME, "acceptor");
  while (!over) ::close(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
}

void call() {
  ::prctl(PR_SET_NAME, "caller");
  bool last = false;
  while (!last) {
    last = over;  // one more call, or accept_all() would wait for ever
    const int caller = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (::connect(caller, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      fail("connect");
    }
    ::close(caller);
    sleep_ns(10'000'000);
  }
}

void wait_in_pool() {
  ::prctl(PR_SET_NAME, "pooled");
  ::pthread_mutex_lock(&pool_mutex);
  while (!over) ::pthread_cond_wait(&pool_condition, &pool_mutex);
  ::pthread_mutex_unlock(&pool_mutex);
}

void hold() {
  ::prctl(PR_SET_NAME, "holder");
  ::pthread_mutex_lock(&held_mutex);
  is_held = true;
  while (!over) sleep_ns(10'000'000);
  ::pthread_mutex_unlock(&held_mutex);
}

void want() {
  ::prctl(PR_SET_NAME, "stuck");
  while (!is_held) sleep_ns(1'000'000);
  ::pthread_mutex_lock(&held_mutex);
  ::pthread_mutex_unlock(&held_mutex);
}

int listen_here() {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener, any, size) != 0 || ::listen(listener, 8) != 0 ||
      ::getsockname(listener, any, &size) != 0) {
    fail("listen");
  }
  return listener;
}

}  // namespace

int main(int argc, char** argv) {
  Options options(argc, argv);
  const int ms = options.number("ms", 10'000);
  const bool with_holder = options.number("hold", 0) != 0;
  options.done();
  const int listener = listen_here();
  Crew crew(Crew::Of::Threads, with_holder ? 10 : 8, [&](int member) {
    if (member == 0) nap();
    if (member == 1) accept_all(listener);
    if (member == 2) call();
    if (member == 3) wait_in_pool();
    if (member >= 4 && member < 8) convoy();
    if (member == 8) hold();
    if (member == 9) want();
  });
  first_gate();
  crew.go();
  sleep_ns(ms * 1'000'000LL);
  over = true;
  ::pthread_mutex_lock(&pool_mutex);
  ::pthread_cond_broadcast(&pool_condition);
  ::pthread_mutex_unlock(&pool_mutex);
  crew.finished();
  Report report;
  report.second_gate();
}
