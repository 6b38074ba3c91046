// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "workloads/locked_word.h"

namespace offcpud::test {

// What the threads of the program say of their lock at one moment.
struct LockTruth {
  std::uint64_t writer = 0, readers = 0;  // as in LockedWord

  friend bool operator==(const LockTruth&, const LockTruth&) = default;
  [[nodiscard]] std::uint32_t writing() const { return static_cast<std::uint32_t>(writer); }
  [[nodiscard]] bool is_read() const { return static_cast<std::uint32_t>(readers) != 0; }
};

// Runs the workload `contended` and maps the word that its threads keep under their lock. The
// destructor kills it.
class ContendedProgram {
 public:
  struct Options {
    std::string kind = "mutex";
    std::uint64_t operations = 0;  // 0: for ever
    int hold_us = 0, hold_each = 1;
    bool in_namespace = false;  // in a PID namespace of its own, as its first process
  };

  explicit ContendedProgram(const Options& options);
  ~ContendedProgram();
  ContendedProgram(const ContendedProgram&) = delete;
  ContendedProgram& operator=(const ContendedProgram&) = delete;

  // In the tester's PID namespace.
  [[nodiscard]] std::uint32_t pid() const { return static_cast<std::uint32_t>(pid_); }

  [[nodiscard]] LockTruth truth() const { return {word_->writer, word_->readers}; }

  // How often the lock was taken so far while others waited for it.
  [[nodiscard]] std::uint64_t contended() const { return word_->contended; }

  // The number in the tester's PID namespace of the thread with this one in the program's, by
  // /proc; 0: there is none.
  [[nodiscard]] std::uint32_t outer_tid(std::uint32_t inner) const;

  // Whether it has ended; with which status.
  [[nodiscard]] std::optional<int> ended();

 private:
  std::string file_;
  workload::LockedWord* word_ = nullptr;
  pid_t pid_ = -1;
  bool is_there_ = false;
};

}  // namespace offcpud::test
