// SPDX-License-Identifier: Apache-2.0
// What the workloads share: a gate at either end, crews of threads or processes that exist before
// the first gate and still exist at the second, and the report of what happened in between.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace workload {

std::int64_t now_ns();  // CLOCK_MONOTONIC, the clock of bpf_ktime_get_ns()

// "--name value" options; a missing one has the given default, an unknown one ends the program.
class Options {
 public:
  Options(int argc, char** argv);
  int number(const std::string& name, int otherwise);
  std::string text(const std::string& name, const std::string& otherwise);
  void done() const;  // call after the last read

 private:
  std::map<std::string, std::string> values_;
};

void pin(int cpu);  // does nothing for a negative one
void burn(std::int64_t ns);
void sleep_ns(std::int64_t ns);              // clock_nanosleep, continued after signals
std::int64_t voluntary_switches();           // of the calling thread, as getrusage counts them
std::int64_t run_delay_ns();                 // its waits for a CPU until now, by its schedstat
void enter_cgroup(const std::string& path);  // its directory; empty: stay
[[noreturn]] void fail(const std::string& what);

// The waits of one kind as the program's own clock saw them, from the call to its return.
struct Waits {
  static constexpr int kKeep = 512;  // plain, so that it can live in memory shared by processes
  std::int64_t count = 0, sum_ns = 0;
  std::int64_t run_delay_ns = 0;  // part of sum_ns; only from timed_with_delay()
  std::int64_t kept[kKeep] = {};
  void add(std::int64_t ns);
};

// Runs `wait` and adds how long it took.
template <class Wait>
auto timed(Waits& waits, Wait wait) {
  const std::int64_t begin = now_ns();
  auto result = wait();
  waits.add(now_ns() - begin);
  return result;
}

// The same, and how much of it the thread waited for a CPU.
template <class Wait>
auto timed_with_delay(Waits& waits, Wait wait) {
  const std::int64_t before = run_delay_ns();
  auto result = timed(waits, wait);
  waits.run_delay_ns += run_delay_ns() - before;
  return result;
}

// Threads or processes of the workload. Constructed before the first gate: every member waits for
// `go`, runs its part once and then waits for the end of the program, so that all of them can be
// counted at both gates.
class Crew {
 public:
  enum class Of { Threads, Processes };
  using Part = std::function<void(int member)>;
  Crew(Of what, int members, const Part& part, const Part& before_gate = {});
  void go();
  void finished();  // waits until every member has run its part

 private:
  void member(int index, const Part& part, const Part& before_gate);
  int start_[2], done_[2], end_[2];
  int members_;
};

// Memory that the members of a crew of processes share with the program.
void* shared_memory(std::size_t bytes);
template <class T>
T& shared() {
  return *new (shared_memory(sizeof(T))) T();
}

// Says "gate" and waits for a byte on standard input; the tester reads the counters meanwhile.
void first_gate();

// Prints one JSON object: wall clock between the gates, of the main thread (start_ns, end_ns) and
// summed over all threads from going to sleep to going to sleep (between_gates_ns), getrusage,
// schedstat of every thread, and what was added here; then waits for the tester at the second gate
// and ends the program.
class Report {
 public:
  void add(const std::string& name, const Waits& waits) { waits_.emplace_back(name, &waits); }
  void add(const std::string& name, std::int64_t number) { numbers_.emplace_back(name, number); }
  [[noreturn]] void second_gate() const;

 private:
  std::vector<std::pair<std::string, const Waits*>> waits_;
  std::vector<std::pair<std::string, std::int64_t>> numbers_;
};

}  // namespace workload
