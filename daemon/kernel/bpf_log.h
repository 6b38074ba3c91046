// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace offcpud {

// Collects what libbpf prints during its lifetime, so that an error can quote the verifier. libbpf
// has one print callback per process: only one object may exist, used by one thread.
class BpfLog {
 public:
  BpfLog();
  ~BpfLog();
  BpfLog(const BpfLog&) = delete;
  BpfLog& operator=(const BpfLog&) = delete;

  // The last `lines` lines, at most 4 KiB of them.
  [[nodiscard]] std::string tail(unsigned lines) const;

  // The verifier's reason for the last program that it refused, in one line; empty: none.
  [[nodiscard]] std::string verdict() const;

  // Whether the verifier refused a program: only then libbpf prints its log.
  [[nodiscard]] bool has_verifier_log() const;
};

}  // namespace offcpud
