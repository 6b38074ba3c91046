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
// thread; what is passed by reference must outlive it.
class LiveMappings {
 public:
  struct Options {
    MappingEvents::Options events;
    ProcessMappings::Limits limits;
    // After lost events all processes are read again, at most so often.
    std::chrono::milliseconds min_scan_interval{1000};
  };

  // Opens the events first and reads all processes then; where they cannot be read, drain() does so
  // later. Needs CAP_PERFMON.
  static Result<std::unique_ptr<LiveMappings>> open(MappingObserver& observer, FileOpener& opener,
                                                    ProcessReader& reader, const Clock& clock,
                                                    const Options& options);

  // Readable when there are many events.
  [[nodiscard]] int fd() const { return events_.fd(); }

  // Takes over everything that happened before the call. Before addresses are looked up, when fd()
  // is readable, and at least every second or so, as files of short-lived processes are only there
  // for a while. An error leaves the state as it is, and the next call tries again.
  Status drain();

  // Called in the middle of drain(), after each event and each process: a storm of them, or large
  // objects, may take long. It may look addresses up, and must not drain.
  void set_between(std::function<void()> between) { between_ = std::move(between); }

  [[nodiscard]] ProcessMappings& processes() { return *processes_; }
  [[nodiscard]] const ProcessMappings& processes() const { return *processes_; }
  [[nodiscard]] const MappingEvents& events() const { return events_; }

 private:
  LiveMappings(MappingEvents events, MappingObserver& observer, FileOpener& opener,
               ProcessReader& reader, const Clock& clock, const Options& options);
  Status scan();

  MappingEvents events_;
  const Clock& clock_;
  std::chrono::milliseconds min_scan_interval_;
  FileOpener& opener_;
  std::unique_ptr<ProcessMappings> processes_;
  MonotonicTime last_scan_{};
  std::function<void()> between_;
};

}  // namespace offcpud
