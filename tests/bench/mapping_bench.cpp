// SPDX-License-Identifier: Apache-2.0
// What following the mappings of all processes costs: memory for this host, then time per event
// while others start processes as fast as they can. Needs root.
#include <malloc.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "mappings/live_mappings.h"

namespace {

using namespace offcpud;

class Ignore final : public MappingObserver {
 public:
  void object_found(const std::shared_ptr<const MappedObject>& /*object*/,
                    const MappedFile& /*file*/, UniqueFd fd) override {
    if (fd) ++files;
  }
  void copy_found(const MappedObject& /*object*/, UniqueFd /*fd*/) override {}
  void object_forgotten(const MappedObject& /*object*/) override {}
  void image_began(const ImageId& /*image*/, std::span<const Mapping> /*inherited*/) override {}
  void mapping_added(const ImageId& /*image*/, const Mapping& /*mapping*/) override {}
  void mapping_removed(const ImageId& /*image*/, const Mapping& /*mapping*/) override {}
  void image_ended(const ImageId& /*image*/, std::span<const Mapping> /*mappings*/) override {}

  int files = 0;
};

double thread_cpu_seconds() {
  timespec time{};
  (void)::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

void print_counts(const ProcessMappings::Counts& counts) {
  std::printf("  %zu live and %zu ended images, %zu mappings, %zu objects, %llu unreadable\n",
              counts.live, counts.ended, counts.mappings, counts.objects,
              static_cast<unsigned long long>(counts.processes_unreadable));
}

// Starts processes for a while: forks that end at once, or programs.
void storm(std::atomic<bool>& running, std::atomic<long>& processes, bool exec) {
  char* const argv[] = {const_cast<char*>("true"), nullptr};
  while (running) {
    pid_t pid = -1;
    if (exec) {
      if (::posix_spawn(&pid, "/usr/bin/true", nullptr, nullptr, argv, environ) != 0) return;
    } else {
      pid = ::fork();
      if (pid == 0) ::_exit(0);
    }
    if (pid < 0 || ::waitpid(pid, nullptr, 0) < 0) return;
    ++processes;
  }
}

void measure(LiveMappings& live, bool exec) {
  std::atomic<bool> running = true;
  std::atomic<long> processes = 0;
  std::vector<std::thread> starters;
  for (int i = 0; i < 2; ++i) starters.emplace_back([&] { storm(running, processes, exec); });

  const auto events = live.events().counts().events;
  const double cpu = thread_cpu_seconds();
  const auto begin = std::chrono::steady_clock::now();
  long drains = 0;
  double seconds = 0;
  while (seconds < 5) {
    pollfd interest{live.fd(), POLLIN, 0};
    (void)::poll(&interest, 1, 1000);
    if (!live.drain()) break;
    if (++drains % 100 == 0) live.processes().forget_ended(live.processes().begin_generation());
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  const double used = thread_cpu_seconds() - cpu;
  const auto handled = static_cast<double>(live.events().counts().events - events);
  running = false;
  for (auto& starter : starters) starter.join();
  std::printf(
      "%s: %.0f processes/s, %.0f events/s, %.2f us CPU per event, %.2f %% of a CPU, "
      "%.0f drains/s, %llu lost\n",
      exec ? "fork and exec" : "fork alone", static_cast<double>(processes) / seconds,
      handled / seconds, used / handled * 1e6, used / seconds * 100,
      static_cast<double>(drains) / seconds,
      static_cast<unsigned long long>(live.events().counts().lost));
  print_counts(live.processes().counts());
}

}  // namespace

int main() {
  Ignore observer;
  const SystemClock clock;
  const auto before = ::mallinfo2().uordblks;
  const double cpu = thread_cpu_seconds();
  LocalFiles files;
  ProcFileOpener opener(files);
  ProcProcessReader reader;
  auto live = LiveMappings::open(observer, opener, reader, clock, {});
  if (!live) {
    std::fprintf(stderr, "%s\n", live.error().message().c_str());
    return 1;
  }
  std::printf("start: %.1f ms CPU, %zu KiB of heap, rings of %zu KiB per CPU, %d files opened\n",
              (thread_cpu_seconds() - cpu) * 1e3, (::mallinfo2().uordblks - before) / 1024,
              (*live)->events().ring_bytes() / 1024, observer.files);
  print_counts((*live)->processes().counts());
  measure(**live, false);
  measure(**live, true);
  return 0;
}
