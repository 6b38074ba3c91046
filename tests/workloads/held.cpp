// SPDX-License-Identifier: Apache-2.0
// A thread "lock-holder" takes a lock for `ms`, and `waiters` threads "lock-waiter" want it. `kind`
// = mutex, recursive, errorcheck, adaptive, robust, pi, std (std::mutex), rwlock (every other
// waiter wants to read), rwlock_readers (two threads read, the waiters want to write), flock,
// fcntl, ofd (of an open file) or lease (of a file that is opened) (the holder is a process),
// shared (two processes have a read lock), or a lock of the kernel with one waiter: pipe (the
// holder reads it into memory that does not come), pty (it waits for input), rwsem (it writes a
// file from memory that does not come), rwsem_readers (it lists the directory `path` into such
// memory). With `ring` threads, each "ring-N" holds a mutex and wants that of the next one, for
// `ms`. Prints one line when all wait, and for one lock of a program a second one: since when the
// thread that holds it has slept or, with `burn` 1, has run after its last sleep, in seconds of
// CLOCK_MONOTONIC. Truth: the names, and this time.
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "kernel_locks.h"
#include "locks.h"
#include "workload.h"

using namespace workload;

namespace {

// The descriptions of the file of two processes, or of their threads.
class FileLock final : public Lock {
 public:
  explicit FileLock(const std::string& kind) : kind_(kind), path_("/tmp/offcpud-held-XXXXXX") {
    const int file = ::mkstemp(path_.data());
    if (file < 0) fail(path_);
    ::close(file);
  }
  ~FileLock() override { ::unlink(path_.c_str()); }
  void take(int side) override {
    const int file = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);  // waits for a lease
    if (file < 0 || lock(file, side) != 0) fail("lock a file");
  }
  void give() override {}  // it ends with its process

 private:
  [[nodiscard]] int lock(int file, int side) const {
    struct flock region = {};
    region.l_type = kind_ == "shared" && side == 0 ? F_RDLCK : F_WRLCK;
    if (kind_ == "flock") return ::flock(file, LOCK_EX);
    if (kind_ == "ofd") return ::fcntl(file, F_OFD_SETLKW, &region);
    if (kind_ != "lease") return ::fcntl(file, F_SETLKW, &region);
    if (side != 0) return 0;
    ::signal(SIGIO, SIG_IGN);  // that somebody wants the file
    return ::fcntl(file, F_SETLEASE, F_WRLCK);
  }

  std::string kind_;
  std::string path_;
};

bool is_of_process(const std::string& kind) {
  return kind == "flock" || kind == "fcntl" || kind == "ofd" || kind == "lease" || kind == "shared";
}

std::unique_ptr<Lock> make(const std::string& kind) {
  if (is_of_process(kind)) return std::make_unique<FileLock>(kind);
  return lock_of_kind(kind);
}

void say(const char* what) {
  std::puts(what);
  std::fflush(stdout);
}

void wait_as(const char* name, Lock& lock, int side) {
  ::prctl(PR_SET_NAME, name);
  lock.take(side);
  lock.give();
}

// Since when the thread that holds the lock does only that.
std::atomic<std::int64_t> held_since_ns{0};

void hold(Lock& lock, int taken, int ms, bool burns) {
  ::prctl(PR_SET_NAME, "lock-holder");
  lock.take(0);
  if (::write(taken, "", 1) != 1) fail("write");
  if (burns) sleep_ns(10'000'000);
  held_since_ns = now_ns();
  if (burns) {
    burn(ms * 1'000'000LL);
  } else {
    sleep_ns(ms * 1'000'000LL);
  }
  lock.give();
}

void wait_for_one(const std::string& kind, int waiters, int ms, bool burns) {
  const std::unique_ptr<Lock> lock = make(kind);
  int taken[2];
  if (::pipe(taken) != 0) fail("pipe");
  const int holders = kind == "shared" || kind == "rwlock_readers" ? 2 : 1;
  std::vector<std::thread> threads;
  for (int i = 0; i < holders; ++i) {
    if (!is_of_process(kind)) {
      threads.emplace_back([&] { hold(*lock, taken[1], ms, burns); });
    } else if (::fork() == 0) {
      hold(*lock, taken[1], ms, burns);
      ::_exit(0);
    }
  }
  for (int i = 0; i < holders; ++i) {
    char byte = 0;
    if (::read(taken[0], &byte, 1) != 1) fail("read");
  }
  for (int side = 1; side <= waiters; ++side) {
    threads.emplace_back([&lock, side] { wait_as("lock-waiter", *lock, side); });
  }
  sleep_ns(100'000'000);
  say("waiting");
  std::printf("%.3f\n", static_cast<double>(held_since_ns) * 1e-9);
  std::fflush(stdout);
  for (std::thread& thread : threads) thread.join();
  while (::wait(nullptr) > 0) {
  }
}

void wait_for_the_kernels(const KernelLock& lock, int ms) {
  const auto run_as = [](const char* name, const std::function<void()>& call) {
    return std::thread([=] {
      ::prctl(PR_SET_NAME, name);
      call();
    });
  };
  std::thread holder = run_as("lock-holder", lock.hold);
  sleep_ns(300'000'000);
  std::thread waiter = run_as("lock-waiter", lock.want);
  sleep_ns(100'000'000);
  say("waiting");
  sleep_ns(ms * 1'000'000LL);
  lock.end();
  holder.join();
  waiter.join();
}

// With a time limit, so that it ends.
void wait_in_a_ring(int members, int ms) {
  std::vector<pthread_mutex_t> mutexes(static_cast<std::size_t>(members));
  for (pthread_mutex_t& mutex : mutexes) ::pthread_mutex_init(&mutex, nullptr);
  pthread_barrier_t all_hold;
  ::pthread_barrier_init(&all_hold, nullptr, static_cast<unsigned>(members));
  std::vector<std::thread> threads;
  for (int i = 0; i < members; ++i) {
    threads.emplace_back([&, i] {
      ::prctl(PR_SET_NAME, ("ring-" + std::to_string(i)).c_str());
      const auto own = static_cast<std::size_t>(i);
      const std::size_t next = (own + 1) % mutexes.size();
      ::pthread_mutex_lock(&mutexes[own]);
      ::pthread_barrier_wait(&all_hold);
      timespec until{};
      ::clock_gettime(CLOCK_REALTIME, &until);
      until.tv_sec += ms / 1000;
      if (::pthread_mutex_timedlock(&mutexes[next], &until) == 0) {
        ::pthread_mutex_unlock(&mutexes[next]);
      }
      ::pthread_mutex_unlock(&mutexes[own]);
    });
  }
  sleep_ns(100'000'000);
  say("waiting");
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

int main(int argc, char** argv) {
  Options options(argc, argv);
  const std::string kind = options.text("kind", "mutex");
  const int ms = options.number("ms", 20'000), waiters = options.number("waiters", 3);
  const int ring = options.number("ring", 0);
  const std::string path = options.text("path", "");
  const bool burns = options.number("burn", 0) != 0;
  options.done();
  if (ring > 0) {
    wait_in_a_ring(ring, ms);
  } else if (is_of_kernel(kind)) {
    wait_for_the_kernels(kernel_lock_of_kind(kind, path), ms);
  } else {
    wait_for_one(kind, waiters, ms, burns);
  }
}
