// SPDX-License-Identifier: Apache-2.0
// The process whose every wait is known, and its partner, which it plays ping-pong and passes a
// mutex with. It waits in one pipe before its load and in another after it: measured from the one
// to the other, nothing is half counted. It counts its own voluntary switches, operation by
// operation.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstdint>

#include "cgroup.h"

namespace offcpud::test {

inline constexpr unsigned kSleeps = 100;
inline constexpr std::chrono::milliseconds kSleep{10};
inline constexpr unsigned kHandOffs = 50;

// What the process says about itself.
struct Truth {
  std::uint64_t sleeps, pings, locks;         // voluntary switches during these operations
  std::uint64_t first_wait_ns, last_wait_ns;  // just before it began to wait for go(), for leave()
};

// What the kernel itself says about it.
struct Switches {
  std::uint64_t voluntary, involuntary;
};

class Pipe {
 public:
  Pipe();
  ~Pipe();
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  void put() const;
  void take() const;

 private:
  std::array<int, 2> ends_{-1, -1};
};

class MeasuredProcess {
 public:
  explicit MeasuredProcess(const Cgroup& cgroup);  // the partner stays outside of it

  // Returns when the process waits for go() or for leave(). The value: when it was seen to wait; on
  // a host that takes the virtual CPU away that may be long after Truth says so.
  std::uint64_t settle() const;
  void go() const { go_.put(); }
  void leave() const;  // returns when both processes have ended

  [[nodiscard]] Switches switches() const;
  [[nodiscard]] Truth truth() const { return shared_->truth; }

 private:
  struct Shared {  // between the probe, the measured process and its partner
    pthread_mutex_t mutex;
    Truth truth;
  };
  static Shared* map_shared();
  [[noreturn]] void run_load() const;
  [[noreturn]] void run_partner() const;

  Shared* shared_;
  Pipe ready_, go_, leave_, ping_, pong_;
  pid_t load_ = 0, partner_ = 0;
};

}  // namespace offcpud::test
