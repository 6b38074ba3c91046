// SPDX-License-Identifier: Apache-2.0
// A holder takes a lock and burns `hold_us` with it; the waiter wants it meanwhile. `count` rounds,
// on `cpu0` and `cpu1` if given. Truth: the waiter's own clock around each acquisition, and how
// often it gave up the CPU in one.
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>

#include "workload.h"

using namespace workload;

namespace {

// What both sides do with the lock; each opens its own description of the file, as flock wants it.
struct Lock {
  std::string kind;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  int files[2] = {-1, -1};

  explicit Lock(std::string of) : kind(std::move(of)) {
    if (kind == "pi_mutex") {
      pthread_mutexattr_t attributes;
      ::pthread_mutexattr_init(&attributes);
      ::pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
      ::pthread_mutex_init(&mutex, &attributes);
    } else if (kind == "flock" || kind == "fcntl") {
      char path[] = "/tmp/offcpud-lock-XXXXXX";
      files[0] = ::mkstemp(path);
      files[1] = ::open(path, O_RDWR | O_CLOEXEC);
      ::unlink(path);
      if (files[0] < 0 || files[1] < 0) fail(path);
    } else if (kind != "mutex") {
      fail("unknown kind " + kind);
    }
  }
  void take(int side) { change(side, F_WRLCK, LOCK_EX); }
  void give(int side) { change(side, F_UNLCK, LOCK_UN); }

 private:
  void change(int side, short fcntl_type, int flock_type) {
    if (kind == "flock") {
      if (::flock(files[side], flock_type) != 0) fail("flock");
    } else if (kind == "fcntl") {  // of the open file description: two threads can contend
      struct flock region = {};
      region.l_type = fcntl_type;
      if (::fcntl(files[side], F_OFD_SETLKW, &region) != 0) fail("fcntl");
    } else if (flock_type == LOCK_EX) {
      ::pthread_mutex_lock(&mutex);
    } else {
      ::pthread_mutex_unlock(&mutex);
    }
  }
};

void tell(int fd) {
  if (::write(fd, "", 1) != 1) fail("write");
}

void hear(int fd) {
  char byte = 0;
  if (::read(fd, &byte, 1) != 1) fail("read");
}

}  // namespace

int main(int argc, char** argv) {
  Options options(argc, argv);
  const int count = options.number("count", 50), hold_us = options.number("hold_us", 10'000);
  const int cpus[] = {options.number("cpu0", -1), options.number("cpu1", -1)};
  Lock lock(options.text("kind", "mutex"));
  options.done();

  int held[2], released[2];
  if (::pipe(held) != 0 || ::pipe(released) != 0) fail("pipe");
  static Waits waits;
  long waited_in_take = 0;
  const auto part = [&](int side) {
    for (int i = 0; i < count; ++i) {
      if (side == 0) {
        lock.take(0);
        tell(held[1]);
        burn(hold_us * 1000LL);
        lock.give(0);
        hear(released[0]);
      } else {
        hear(held[0]);
        const long before = voluntary_switches();
        timed(waits, [&] { return lock.take(1), 0; });
        waited_in_take += voluntary_switches() - before;
        lock.give(1);
        tell(released[1]);
      }
    }
  };
  Crew sides(Crew::Of::Threads, 2, part, [&](int side) { pin(cpus[side]); });
  first_gate();
  sides.go();
  sides.finished();

  Report report;
  report.add("lock", waits);
  report.add("lock_switches", waited_in_take);
  report.second_gate();
}
