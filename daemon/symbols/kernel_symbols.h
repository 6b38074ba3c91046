// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_handle.h"
#include "symbols/kernel_symbol_table.h"

namespace offcpud {

// Names of kernel addresses. The list is read when the first name is asked for, which takes about a
// tenth of a second, and again when an address is unknown: modules and BPF programs come and go.
// Owned by one thread.
class KernelSymbols {
 public:
  struct Paths {
    const char* kallsyms = "/proc/kallsyms";
    const char* modules = "/proc/modules";
  };

  // Opens the lists; reads nothing. The kernel shows the addresses to those who had CAP_SYSLOG now,
  // whoever reads later. A kernel without modules has no list of them.
  static Result<KernelSymbols> open(const Paths& paths);

  // A name is only shown while the function is loaded, or until the next reading: a stack with a
  // BPF program in it should be resolved soon.
  [[nodiscard]] std::optional<KernelFunction> find(std::uint64_t address, MonotonicTime now);

  // A module or a BPF program was loaded or unloaded (PERF_RECORD_KSYMBOL): the list is read again
  // at the next question, at most once a second.
  void mark_changed() { changed_ = true; }

  // Why there are no names; for the log and the status, once something was asked for.
  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }
  [[nodiscard]] const KernelSymbolTable& table() const { return table_; }
  [[nodiscard]] std::uint64_t readings() const { return readings_; }

 private:
  KernelSymbols(UniqueFd kallsyms, UniqueFd modules)
      : kallsyms_(std::move(kallsyms)), modules_(std::move(modules)) {}
  void read(MonotonicTime now);
  Result<KernelSymbolTable> read_table() const;

  UniqueFd kallsyms_;
  UniqueFd modules_;  // may be none
  KernelSymbolTable table_;
  std::optional<Error> failure_;
  bool changed_ = false;
  std::uint64_t readings_ = 0;
  MonotonicTime read_at_;
  // Doubles while reading again explains nothing, so that addresses without a name cost no more
  // than a reading now and then.
  std::chrono::seconds patience_{};
};

}  // namespace offcpud
