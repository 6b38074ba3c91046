// SPDX-License-Identifier: Apache-2.0
// A thread "stuck-waiter" that waits for one thing and does not get it: `kind` = mutex,
// robust_mutex or pi_mutex (another thread, "stuck-owner", sleeps `ms` with it), vfork (the child
// sleeps `ms`), pipe (nobody writes for `ms`), or write (to `path`, opened before the gate, as long
// as its file system is frozen). Truth: the program's own clock around the wait.
#include <fcntl.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <ctime>

#include "workload.h"

using namespace workload;

namespace {

pthread_mutex_t mutex;
int held[2], never[2];
std::atomic<int> owner_tid{0};

void make_mutex(const std::string& kind) {
  pthread_mutexattr_t attributes;
  ::pthread_mutexattr_init(&attributes);
  if (kind == "robust_mutex") ::pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  if (kind == "pi_mutex") ::pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
  ::pthread_mutex_init(&mutex, &attributes);
}

void own(int ms) {
  ::prctl(PR_SET_NAME, "stuck-owner");
  owner_tid = static_cast<int>(::syscall(SYS_gettid));
  ::pthread_mutex_lock(&mutex);
  (void)!::write(held[1], "", 1);
  sleep_ns(ms * 1'000'000LL);
  ::pthread_mutex_unlock(&mutex);
}

[[gnu::noinline]] pid_t vfork_sleeper(const timespec& nap) {
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  const pid_t child = ::vfork();
  if (child != 0) return child;
  ::syscall(SYS_nanosleep, &nap, nullptr);
  ::_exit(0);
}

// The one wait of the test.
int wait_for_it(const std::string& kind, int ms, int file) {
  char byte = 0;
  if (kind == "write") return static_cast<int>(::write(file, "x", 1));
  if (kind == "pipe") return static_cast<int>(::read(never[0], &byte, 1));
  if (kind == "vfork") return vfork_sleeper({ms / 1000, ms % 1000 * 1'000'000L});
  const int error = ::pthread_mutex_lock(&mutex);
  ::pthread_mutex_unlock(&mutex);
  return error;
}

}  // namespace

int main(int argc, char** argv) {
  Options options(argc, argv);
  const std::string kind = options.text("kind", "mutex"), path = options.text("path", "");
  const int ms = options.number("ms", 5'000);
  options.done();
  const int file = path.empty() ? -1 : ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (!path.empty() && file < 0) fail(path);
  if (::pipe(held) != 0 || ::pipe(never) != 0) fail("pipe");
  // Where the daemon does not look for the other end of a pipe.
  const int writing = never[1];
  never[1] = ::fcntl(writing, F_DUPFD_CLOEXEC, 100);
  ::close(writing);
  make_mutex(kind);

  static Waits waits;
  const bool of_owner = kind.ends_with("mutex") || kind == "pipe";
  Crew crew(Crew::Of::Threads, 2, [&](int member) {
    if (member == 0) {
      if (kind.ends_with("mutex")) own(ms);
      if (kind == "pipe") {
        sleep_ns(ms * 1'000'000LL);
        (void)!::write(never[1], "", 1);
      }
      return;
    }
    ::prctl(PR_SET_NAME, "stuck-waiter");
    char byte = 0;
    if (kind.ends_with("mutex")) (void)!::read(held[0], &byte, 1);
    const int result = timed(waits, [&] { return wait_for_it(kind, ms, file); });
    if (kind == "vfork") ::waitpid(result, nullptr, 0);
  });
  first_gate();
  crew.go();
  crew.finished();

  Report report;
  report.add("stuck", waits);
  if (of_owner) report.add("owner", owner_tid.load());
  report.add("futex", static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(&mutex)));
  report.second_gate();
}
