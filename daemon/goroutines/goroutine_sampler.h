// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/goroutine_totals.h"
#include "golang/go_program.h"
#include "goroutines/go_processes.h"
#include "goroutines/look_budget.h"
#include "pipeline/goroutine_window.h"
#include "pipeline/view.h"
#include "sites/site_rules_board.h"
#include "sites/wait_classifier.h"

namespace offcpud {

struct GoroutineOptions {
  bool enabled = true;
  std::chrono::milliseconds interval{1'000};  // between two looks at a program
  std::chrono::milliseconds cpu_budget{10};   // in a second, for all looks
};

// Looks at the goroutines of all Go programs of the host, each once in an interval, at a random
// moment of it, so that no program's own rhythm falls in with the looks. Keeps to its budget of CPU
// time: when that is spent, looks come later, and stand for more time. Used by one thread.
class GoroutineSampler {
 public:
  // All must outlive the object.
  struct Sources {
    ProcessReader& processes;
    FileOpener& files;
    ProcessMemory& memory;
    const Clock& clock;
    const SiteRulesBoard& sites;
    std::function<std::shared_ptr<const View>()> view;  // the last one; null: none yet
    std::function<std::chrono::nanoseconds()> cpu;      // that was used so far
  };
  struct Reports {
    std::function<void(std::shared_ptr<const GoroutineWindow>)> window;
    std::function<void(const GoroutineTotals&)> totals;
    std::function<void(const std::string& sentence)> refused;  // about a program
  };
  static constexpr std::chrono::seconds kWindow{10};
  // The most bytes of all programs' tables of functions; one program may have kMaxGoTable.
  static constexpr std::size_t kMostTableBytes = std::size_t{64} << 20;

  GoroutineSampler(const Sources& sources, Reports reports, const GoroutineOptions& options);

  // Does what is due, one look at most, and returns when to call it again.
  MonotonicTime work();
  void set_options(const GoroutineOptions& options);

 private:
  using Process = GoProcesses::Process;

  void follow(MonotonicTime now);
  bool do_one(MonotonicTime now);
  void try_to_watch(Process& process);
  void refuse(Process& process, GoroutineFailure failure, const std::string& sentence);
  void look_at(Process& process, MonotonicTime now);
  void keep(Process& process);
  void end_window(MonotonicTime now);
  [[nodiscard]] std::chrono::nanoseconds time_of_a_look() const;
  [[nodiscard]] MonotonicTime next_due(const Process& process, MonotonicTime now);

  Sources sources_;
  Reports reports_;
  GoroutineOptions options_;
  GoroutineTotals totals_;
  LookBudget budget_;
  std::shared_ptr<const SiteRules> rules_;
  WaitClassifier classifier_;
  GoFiles shared_;
  std::vector<GoroutineWaits> waits_;  // in this window, of programs that are not watched any more
  GoProcesses processes_;
  std::shared_ptr<const View> view_;
  MonotonicTime window_began_;
  std::minstd_rand random_;
  bool tries_next_ = true;
};

}  // namespace offcpud
