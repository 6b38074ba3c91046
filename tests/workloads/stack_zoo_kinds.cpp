// SPDX-License-Identifier: Apache-2.0
// Every wait is followed by something that uses its result, so that no call is a tail call.
#include <dlfcn.h>
#include <poll.h>
#include <semaphore.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <mutex>

#include "stack_zoo.h"

namespace stack_zoo {
namespace {

volatile int sink = 0;

#define KEEP_FRAME(expression) \
  do {                         \
    sink = (expression) + 1;   \
  } while (false)

timespec from_ns(std::int64_t ns) {
  return {ns / 1'000'000'000, ns % 1'000'000'000};
}
timespec deadline(std::int64_t ns) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return from_ns(now.tv_sec * 1'000'000'000 + now.tv_nsec + ns);
}

[[gnu::noinline]] int sleep_here(std::int64_t ns) {
  const timespec time = from_ns(ns);
  return ::nanosleep(&time, nullptr);
}

void wait_nanosleep(std::int64_t ns) {
  KEEP_FRAME(sleep_here(ns));
}

void wait_read(std::int64_t ns) {
  int ends[2];
  if (::pipe(ends) != 0) std::abort();
  timer_t timer{};
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGUSR1;
  event._sigev_un._tid = ::gettid();
  const itimerspec time{{0, 0}, from_ns(ns)};
  ::timer_create(CLOCK_MONOTONIC, &event, &timer);
  ::timer_settime(timer, 0, &time, nullptr);
  char byte = 0;
  KEEP_FRAME(static_cast<int>(::read(ends[0], &byte, 1)));  // ended by the signal
  ::timer_delete(timer);
  ::close(ends[0]);
  ::close(ends[1]);
}

void wait_poll(std::int64_t ns) {
  KEEP_FRAME(::poll(nullptr, 0, static_cast<int>(ns / 1'000'000)));
}

void wait_mutex(std::int64_t ns) {
  static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
  static const int locked = ::pthread_mutex_lock(&held);
  const timespec until = deadline(ns);
  KEEP_FRAME(::pthread_mutex_timedlock(&held, &until) + locked);
}

void wait_condition(std::int64_t ns) {
  std::mutex mutex;
  std::condition_variable condition;
  std::unique_lock lock(mutex);
  KEEP_FRAME(condition.wait_for(lock, std::chrono::nanoseconds(ns), [] { return sink < -1; }));
}

void wait_semaphore(std::int64_t ns) {
  sem_t semaphore;
  ::sem_init(&semaphore, 0, 0);
  const timespec until = deadline(ns);
  KEEP_FRAME(::sem_timedwait(&semaphore, &until));
}

thread_local std::int64_t to_sleep = 0;

void wait_qsort(std::int64_t ns) {
  to_sleep = ns;
  int numbers[] = {3, 1, 2};
  ::qsort(numbers, 3, sizeof numbers[0], [](const void* a, const void* b) {
    KEEP_FRAME(sleep_here(to_sleep / 3));
    return *static_cast<const int*>(a) - *static_cast<const int*>(b);
  });
  KEEP_FRAME(numbers[0]);
}

void sleep_in_handler(int) {
  KEEP_FRAME(sleep_here(to_sleep));
}

void wait_signal(std::int64_t ns) {
  struct sigaction action = {};
  action.sa_handler = sleep_in_handler;
  ::sigaction(SIGUSR2, &action, nullptr);
  to_sleep = ns;
  KEEP_FRAME(::pthread_kill(::pthread_self(), SIGUSR2));
}

void wait_altstack(std::int64_t ns) {
  static thread_local char memory[64 * 1024];
  const stack_t stack{memory, 0, sizeof memory};
  ::sigaltstack(&stack, nullptr);
  struct sigaction action = {};
  action.sa_handler = sleep_in_handler;
  action.sa_flags = SA_ONSTACK;
  ::sigaction(SIGRTMIN, &action, nullptr);
  to_sleep = ns;
  KEEP_FRAME(::pthread_kill(::pthread_self(), SIGRTMIN));
}

// The parent is off the CPU until the child has gone.
void wait_vfork(std::int64_t ns) {
  const timespec time = from_ns(ns);
  const pid_t child = ::vfork();
  if (child == 0) {
    ::nanosleep(&time, nullptr);
    ::_exit(0);
  }
  KEEP_FRAME(::waitpid(child, nullptr, 0));
}

void wait_spawn(std::int64_t ns) {
  (void)ns;
  char name[] = "true";
  char* arguments[] = {name, nullptr};
  pid_t child = 0;
  KEEP_FRAME(::posix_spawnp(&child, name, nullptr, nullptr, arguments, nullptr));
  KEEP_FRAME(::waitpid(child, nullptr, 0));
}

[[gnu::noinline]] int dive(int depth, std::int64_t ns) {
  const int below = depth == 0 ? sleep_here(ns) : dive(depth - 1, ns);
  sink = depth;
  return below + sink;
}

void wait_recursion(std::int64_t ns) {
  KEEP_FRAME(dive(100, ns));
}

// A library that the program knew nothing of when it started; it calls back.
void wait_dlopen(std::int64_t ns) {
#ifdef STACK_ZOO_STATIC
  KEEP_FRAME(sleep_here(ns));  // a static program cannot
#else
  using Visit = int (*)(int (*)(void*), void*);
  static void* library = ::dlopen(STACK_ZOO_LIBRARY, RTLD_NOW);
  if (!library) std::abort();
  const auto visit = reinterpret_cast<Visit>(::dlsym(library, "stack_zoo_visit"));
  KEEP_FRAME(visit([](void* time) { return sleep_here(*static_cast<std::int64_t*>(time)); }, &ns));
#endif
}

}  // namespace

const Kind kKinds[] = {
    {"nanosleep", wait_nanosleep}, {"read", wait_read},           {"poll", wait_poll},
    {"mutex", wait_mutex},         {"condition", wait_condition}, {"semaphore", wait_semaphore},
    {"qsort", wait_qsort},         {"signal", wait_signal},       {"altstack", wait_altstack},
    {"vfork", wait_vfork},         {"spawn", wait_spawn},         {"recursion", wait_recursion},
    {"dlopen", wait_dlopen},
};
const int kKindCount = sizeof kKinds / sizeof kKinds[0];

}  // namespace stack_zoo
