// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "mappings/file_opener.h"
#include "mappings/mapping_events.h"
#include "mappings/mapping_observer.h"
#include "mappings/proc_maps.h"
#include "mappings/process_mappings.h"

namespace offcpud {

// The executable mappings of all processes of this host, followed from open() on. Used by one
// thread; arguments passed by reference must outlive it.
class LiveMappings {
 public:
  struct Options {
    MappingEvents::Options events;
    ProcessMappings::Limits limits;
    // After lost events all processes are read again, but not more often than this.
    std::chrono::milliseconds min_scan_interval{1000};
    // While a CPU is online whose events are not followed, all processes are read again this often.
    std::chrono::milliseconds new_cpus_interval{30'000};
  };

  // Opens the events, and then reads all processes. If the reading fails, drain() tries it again
  // later. Needs CAP_PERFMON.
  static Result<std::unique_ptr<LiveMappings>> open(MappingObserver& observer, FileOpener& opener,
                                                    ProcessReader& reader, const Clock& clock,
                                                    const Options& options);

  // Readable when many events are waiting.
  [[nodiscard]] int fd() const { return events_.fd(); }

  // Applies everything that happened before the call. Call it before addresses are looked up, when
  // fd() is readable, and about once a second, because files of short-lived processes soon vanish.
  // An error leaves the state as it is, and the next call tries again.
  Status drain();

  // `between` is called during drain(), after each event and each process, because many events or
  // large objects can take long. It may look up addresses, but must not call drain().
  void set_between(std::function<void()> between) { between_ = std::move(between); }

  [[nodiscard]] ProcessMappings& processes() { return *processes_; }
  [[nodiscard]] const ProcessMappings& processes() const { return *processes_; }
  [[nodiscard]] const MappingEvents& events() const { return events_; }

 private:
  LiveMappings(MappingEvents events, MappingObserver& observer, FileOpener& opener,
               ProcessReader& reader, const Clock& clock, const Options& options);
  void look_for_new_cpus();
  Status scan();

  MappingEvents events_;
  const Clock& clock_;
  std::chrono::milliseconds min_scan_interval_, new_cpus_interval_;
  FileOpener& opener_;
  std::unique_ptr<ProcessMappings> processes_;
  MonotonicTime last_scan_{}, last_look_at_cpus_{};
  std::function<void()> between_;
};

}  // namespace offcpud
