// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "golang/go_program.h"
#include "golang/goroutine_reader.h"
#include "pipeline/goroutine_window.h"
#include "reader/process_memory.h"
#include "sites/wait_classifier.h"

namespace offcpud {

// A Go program that is looked at again and again. Sums how long its goroutines waited at each
// place: each of two successive looks stands for half of the time between them. The goroutines that
// a look read stand also for those that it had no time for. The runtime's own goroutines do not
// count. Used by one thread.
class WatchedProgram {
 public:
  static constexpr std::size_t kMostRows = 256;      // beyond, by `for` only
  static constexpr std::size_t kMostPlaces = 1'024;  // that are remembered
  // Of one program; its table of functions is shared.
  static constexpr GoroutineLimits kLimits{.goroutines = 4'096, .stacks = 256, .takes_turns = true};
  static constexpr GoFunctions::Limits kFunctions{.places = 8'192, .name_bytes = 256 << 10};

  // `memory` and `clock` must outlive the object.
  WatchedProgram(std::unique_ptr<GoProgram> program, ProcessMemory& memory, const Clock& clock,
                 std::uint32_t pid);

  struct Look {
    std::uint64_t goroutines = 0, left_out = 0;
    std::chrono::nanoseconds since{0};  // the last one before; 0: there was none
  };
  enum class Failure : std::uint8_t { Gone, Stacks };
  // `time`: that the look may take. Nothing: the goroutines cannot be read; see failure().
  std::optional<Look> look(std::chrono::nanoseconds time, WaitClassifier& classifier);
  [[nodiscard]] Failure failure() const { return failure_; }

  // Appends what its goroutines waited for since the last call, without process and cgroup.
  void take(std::vector<GoroutineWaits>& waits);

  // Call it when the rules have changed: places are classified again.
  void forget_classes() { places_.clear(); }

  [[nodiscard]] const std::string& name() const { return program_->name(); }

 private:
  using Key = std::tuple<WaitFor, std::string, std::string, std::string>;  // as Row, in order
  struct Row {
    WaitFor wait_for = WaitFor::Unknown;
    std::string site, reason, function;
    double before = 0, now = 0;  // goroutines, at the last two looks
    double ns = 0;
    std::uint64_t longest_ns = 0;
  };
  static constexpr std::size_t kOfRuntime = ~std::size_t{0};  // a place that does not count
  using Place = std::pair<std::uint32_t, std::uint8_t>;       // stack, reason

  void add(const GoroutineLook& look, std::chrono::nanoseconds since, WaitClassifier& classifier);
  std::size_t row_at(const Place& place, WaitClassifier& classifier);
  std::size_t row_of(Row row);
  void renew_reader();

  std::unique_ptr<GoProgram> program_;
  ProcessMemory& memory_;
  const Clock& clock_;
  std::uint32_t pid_;
  std::optional<GoroutineReader> reader_;
  Failure failure_ = Failure::Gone;
  std::optional<MonotonicTime> last_;
  MonotonicTime renewed_;
  std::vector<Row> rows_;
  std::map<Key, std::size_t> numbers_;   // of rows
  std::map<Place, std::size_t> places_;  // to rows
};

}  // namespace offcpud
