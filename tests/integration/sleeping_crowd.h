// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>

namespace offcpud {

// A process in a cgroup of its own, of which each thread sleeps, wakes for a moment and sleeps
// again, for 0.30 to 0.40 s each time. The threads are SCHED_FIFO: whatever else the host does,
// they run at once when they wake. Ends with its owner.
class SleepingCrowd {
 public:
  // Returns when all threads are there; is_there() tells whether they are.
  SleepingCrowd(int threads, const std::string& cgroup) {
    int ready[2] = {};
    if (::pipe2(ready, O_CLOEXEC) != 0) return;
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ == 0) live(threads, cgroup, parent, ready[1]);
    ::close(ready[1]);
    char byte = 0;
    is_there_ = pid_ > 0 && ::read(ready[0], &byte, 1) == 1;
    ::close(ready[0]);
  }
  ~SleepingCrowd() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  SleepingCrowd(const SleepingCrowd&) = delete;
  SleepingCrowd& operator=(const SleepingCrowd&) = delete;

  [[nodiscard]] bool is_there() const { return is_there_; }

 private:
  [[noreturn]] static void live(int threads, const std::string& cgroup, pid_t parent, int ready) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const sched_param priority{.sched_priority = 1};
    std::ofstream procs(cgroup + "/cgroup.procs");
    procs << "0" << std::flush;
    if (::getppid() != parent || !procs || ::sched_setscheduler(0, SCHED_FIFO, &priority) != 0) {
      ::_exit(1);
    }
    for (int i = 0; i < threads; ++i) {
      const std::chrono::microseconds nap(300'000 + 100'000 * i / threads);
      std::thread([nap] {
        for (;;) std::this_thread::sleep_for(nap);
      }).detach();
    }
    if (::write(ready, "", 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }

  pid_t pid_ = -1;
  bool is_there_ = false;
};

}  // namespace offcpud
