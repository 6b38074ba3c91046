// SPDX-License-Identifier: Apache-2.0
#include "mappings/live_mappings.h"

#include <utility>
#include <vector>

namespace offcpud {

Result<std::unique_ptr<LiveMappings>> LiveMappings::open(MappingObserver& observer,
                                                         FileOpener& opener, ProcessReader& reader,
                                                         const Clock& clock,
                                                         const Options& options) {
  TRY(auto events, MappingEvents::open(options.events));
  std::unique_ptr<LiveMappings> live(
      new LiveMappings(std::move(events), observer, opener, reader, clock, options));
  // If this fails, for instance under load, a later drain() reads it and reports the error.
  (void)live->scan();
  (void)live->drain();
  return live;
}

LiveMappings::LiveMappings(MappingEvents events, MappingObserver& observer, FileOpener& opener,
                           ProcessReader& reader, const Clock& clock, const Options& options)
    : events_(std::move(events)),
      clock_(clock),
      min_scan_interval_(options.min_scan_interval),
      new_cpus_interval_(options.new_cpus_interval),
      opener_(opener),
      processes_(
          std::make_unique<ProcessMappings>(observer, opener_, reader, clock, options.limits)) {}

Status LiveMappings::drain() {
  opener_.refresh();
  const auto ask_ahead = [this](std::span<const MappingEvent> events) {
    std::vector<std::uint32_t> tgids;
    for (const MappingEvent& event : events) {
      if (event.kind == MappingEvent::Kind::Executed) tgids.push_back(event.tgid);
    }
    opener_.ask_roots(tgids);
  };
  events_.drain(ask_ahead, [this](const MappingEvent& event) {
    processes_->apply(event);
    if (between_) between_();
  });
  look_for_new_cpus();
  processes_->catch_up();
  processes_->try_again(between_);
  if (!processes_->needs_scan() || clock_.now() - last_scan_ < min_scan_interval_) return {};
  return scan();
}

void LiveMappings::look_for_new_cpus() {
  const MonotonicTime now = clock_.now();
  if (now - last_look_at_cpus_ < new_cpus_interval_) return;
  last_look_at_cpus_ = now;
  const auto found = events_.has_new_cpus();
  if (!found || !*found) return;
  MappingEvent unseen;
  unseen.kind = MappingEvent::Kind::Lost;
  unseen.time = now;
  processes_->apply(unseen);
}

Status LiveMappings::scan() {
  last_scan_ = clock_.now();
  auto status = processes_->scan(between_);
  if (!status)
    return std::move(status).error().with(
        "read the mappings of all processes, without which user stacks are missing");
  return {};
}

}  // namespace offcpud
