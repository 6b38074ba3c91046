// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace offcpud {

// Collects what libbpf prints while it lives, so that a failure can be explained with the
// verifier's own words. libbpf has one print callback per process: at most one object at a time,
// used by one thread.
class BpfLog {
 public:
  BpfLog();
  ~BpfLog();
  BpfLog(const BpfLog&) = delete;
  BpfLog& operator=(const BpfLog&) = delete;

  // The last `lines` lines, at most 4 KiB.
  [[nodiscard]] std::string tail(unsigned lines) const;

  // What the verifier says of the program that it refused last, in one line; empty: nothing.
  [[nodiscard]] std::string verdict() const;

  // Whether a program was refused by the verifier: libbpf prints its log then.
  [[nodiscard]] bool has_verifier_log() const;
};

}  // namespace offcpud
