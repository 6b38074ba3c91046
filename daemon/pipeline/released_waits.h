// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace offcpud {

// Waits of one cgroup's threads for a lock at one site, all ended within a window by one thread: it
// released the lock, or passed it on. If nobody can see who holds a lock, nothing more is known of
// it. Estimated from samples.
struct ReleasedWaits {
  enum class By : std::uint8_t {
    Thread,
    Others,  // those that have no room
    Nobody,  // an interrupt, such as the end of a timeout, or a thread of the kernel
  };
  std::string cgroup;  // of who waited; its path
  std::string site;
  By kind = By::Nobody;
  std::string by;               // of Thread: its unit, or the path of its cgroup
  std::string process, thread;  // names
  std::uint32_t pid = 0;        // in the daemon's PID namespace; 0: not there
  std::uint64_t process_start_ns = 0;
  std::uint32_t tid = 0;      // 0: not known in that namespace
  double ns = 0;              // how long they took, about
  double squares = 0;         // of the time that each sample stands for; summed
  std::uint32_t samples = 0;  // waits that were seen

  void add(double stands_for_ns) {
    ns += stands_for_ns;
    squares += stands_for_ns * stands_for_ns;
    ++samples;
  }
  void merge(const ReleasedWaits& other) {
    ns += other.ns;
    squares += other.squares;
    samples += other.samples;
  }
};

}  // namespace offcpud
