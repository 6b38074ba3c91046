// SPDX-License-Identifier: Apache-2.0
#include "pipeline/overhead.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>

namespace offcpud {
namespace {

constexpr std::chrono::seconds kWindow{60};
constexpr std::chrono::seconds kSpacing{1};  // limits the number of readings

}  // namespace

std::optional<double> Overhead::over_last_minute(MonotonicTime now,
                                                 std::span<const ProgramCost> programs,
                                                 std::chrono::nanoseconds daemon) {
  Reading reading{now, static_cast<double>(daemon.count())};
  for (const ProgramCost& program : programs) reading.spent_ns += static_cast<double>(program.ns);
  while (readings_.size() > 1 && now - readings_[1].at >= kWindow) readings_.pop_front();
  std::optional<double> share;
  if (!readings_.empty() && now > readings_.front().at) {
    const std::chrono::duration<double, std::nano> passed = now - readings_.front().at;
    share = std::max(0.0, reading.spent_ns - readings_.front().spent_ns) / (passed.count() * cpus_);
  }
  if (readings_.empty() || now - readings_.back().at >= kSpacing) readings_.push_back(reading);
  return share;
}

unsigned online_cpus() {
  return static_cast<unsigned>(std::max(::sysconf(_SC_NPROCESSORS_ONLN), 1L));
}

std::chrono::nanoseconds own_cpu_time() {
  timespec time{};
  (void)::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);  // only fails for unknown clocks
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace offcpud
