// SPDX-License-Identifier: Apache-2.0
// A thread for each function of the C library in which threads wait, named after what for.
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <threads.h>

#include <chrono>
#include <ctime>
#include <thread>

namespace {

using namespace std::chrono_literals;

template <typename Function>
void start(const char* name, Function function) {
  std::thread([name, function] {
    pthread_setname_np(pthread_self(), name);
    function();
  }).detach();
}

void sleep_long() {
  std::this_thread::sleep_for(1h);
}

timespec in_an_hour() {
  timespec until{};
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 3'600;
  return until;
}

// Of those who come second.
void after_a_moment() {
  std::this_thread::sleep_for(300ms);
}

int slow_value() {
  sleep_long();
  return 1;
}

void initialise() {
  static const int kValue = slow_value();
  static_cast<void>(kValue);
}

void start_locks() {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  static mtx_t mutex;
  static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  mtx_init(&mutex, mtx_timed);
  start("timer-once", [] { pthread_once(&once, sleep_long); });
  start("timer-guard", initialise);
  start("timer-mutex", [] { mtx_lock(&mutex), sleep_long(); });
  start("timer-rwlock", [] { pthread_rwlock_rdlock(&lock), sleep_long(); });
  after_a_moment();
  start("lock-once", [] { pthread_once(&once, sleep_long); });
  start("lock-guard", initialise);
  start("lock-mutex", [] { mtx_lock(&mutex); });
  start("lock-timed", [] {
    const timespec until = in_an_hour();
    mtx_timedlock(&mutex, &until);
  });
  start("lock-rwlock", [] { pthread_rwlock_wrlock(&lock); });
}

void start_others() {
  static pthread_barrier_t barrier;
  static sem_t semaphore;
  static cnd_t condition;
  static mtx_t mutex;
  pthread_barrier_init(&barrier, nullptr, 2);
  sem_init(&semaphore, 0, 0);
  cnd_init(&condition);
  mtx_init(&mutex, mtx_plain);
  start("answer-barrier", [] {
    for (;;) pthread_barrier_wait(&barrier);
  });
  start("timer-barrier", [] {
    for (;;) std::this_thread::sleep_for(60ms), pthread_barrier_wait(&barrier);
  });
  start("work-semaphore", [] {
    const timespec until = in_an_hour();
    sem_timedwait(&semaphore, &until);
  });
  start("work-condition", [] { mtx_lock(&mutex), cnd_wait(&condition, &mutex); });
  start("answer-join", [] {
    std::thread joined(sleep_long);
    pthread_setname_np(joined.native_handle(), "timer-joined");
    const timespec until = in_an_hour();
    pthread_timedjoin_np(joined.native_handle(), nullptr, &until);
  });
}

}  // namespace

int main() {
  start_locks();
  start_others();
  pthread_setname_np(pthread_self(), "work-main");
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  sigwaitinfo(&signals, nullptr);
}
