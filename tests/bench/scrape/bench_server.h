// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>

namespace offcpud {

// An HTTP server in a process of its own, so that its time and memory are those of its way alone.
class BenchServer {
 public:
  // Runs in the child: serves until the process ends, and tells the port once it does.
  using Serve = std::function<void(const std::function<void(std::uint16_t port)>& tell)>;

  explicit BenchServer(const Serve& serve);
  ~BenchServer();
  BenchServer(const BenchServer&) = delete;
  BenchServer& operator=(const BenchServer&) = delete;

  // One GET of /metrics; returns the bytes of the answer. Ends the program when it is not a 200.
  [[nodiscard]] std::size_t fetch(const char* path, const char* headers) const;

  // CPU time so far, of all threads.
  [[nodiscard]] std::chrono::nanoseconds cpu_time() const;

  // The peak of the resident memory begins with what is resident now.
  void reset_peak() const;
  [[nodiscard]] long peak_kib() const;

 private:
  pid_t pid_ = -1;
  std::uint16_t port_ = 0;
};

}  // namespace offcpud
