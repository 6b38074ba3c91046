// SPDX-License-Identifier: Apache-2.0
#include "sampler/stack_sources.h"

#include "kernel/unwind_map_handles.h"

namespace offcpud {

StackSources::StackSources(const BpfSession& session, SymbolWorker& symbols, const Clock& clock,
                           Warn warn)
    : warn_(std::move(warn)) {
  if (!proc_has_own_numbers()) {
    warn_("pid_namespace",
          "user stacks are missing: /proc was mounted in another PID namespace than offcpud runs "
          "in, and numbers processes otherwise; mount one of its own there (unshare --mount-proc)");
    return;
  }
  if (const auto opened = open(session, symbols, clock); !opened) {
    mappings_.reset();
    warn_("mappings", "user stacks are missing: " + opened.error().message());
  }
}

Status StackSources::open(const BpfSession& session, SymbolWorker& symbols, const Clock& clock) {
  TRY(auto maps, BpfUnwindMaps::open(unwind_map_handles(session)));
  maps_ = std::make_unique<BpfUnwindMaps>(std::move(maps));
  // As many unused ones as the mappings remember: a table that is gone would have to be made again.
  TableStoreLimits limits;
  limits.unused_objects = ProcessMappings::Limits{}.unused_objects;
  TRY(auto tables, TableStore::create(*maps_, limits));
  tables_ = std::make_unique<TableStore>(std::move(tables));
  registry_ = std::make_unique<ObjectRegistry>(
      tables_.get(), symbols, opener_,
      [this](const Error& error) { warn_("unwind", error.message()); });
  LiveMappings::Options options;
  options.events.wakeup_bytes = 256;  // less than a static program has when it starts
  TRY(mappings_, LiveMappings::open(*registry_, opener_, clock, options));
  return {};
}

void StackSources::follow() {
  if (!mappings_) return;
  if (const auto drained = mappings_->drain(); !drained) {
    warn_("mappings", drained.error().message());
  }
  registry_->offer_wanted();
}

void StackSources::forget_ended() {
  if (!mappings_) return;
  mappings_->processes().forget_ended(generation_);
  generation_ = mappings_->processes().begin_generation() - 1;
}

std::vector<LocatedFrame> StackSources::locate(std::uint32_t tgid, std::uint64_t when_ns,
                                               std::span<const __u64> addresses) const {
  std::vector<LocatedFrame> frames;
  frames.reserve(addresses.size());
  const MonotonicTime when{std::chrono::nanoseconds(when_ns)};
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    LocatedFrame frame;
    // Behind a call, which may be the last instruction of its function.
    frame.address = i == 0 ? addresses[i] : addresses[i] - 1;
    if (mappings_) {
      if (const auto found = mappings_->processes().find(tgid, when, frame.address)) {
        frame.file = found->mapping->file;
        frame.file_offset = found->file_offset;
        if (frame.file->kind != MappedFile::Kind::File) {
          frame.file_offset = frame.address - found->mapping->begin;
        } else if (frame.file->object) {
          frame.object = registry_->symbols_of(*frame.file->object);
        }
      }
    }
    frames.push_back(std::move(frame));
  }
  return frames;
}

}  // namespace offcpud
