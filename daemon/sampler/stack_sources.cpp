// SPDX-License-Identifier: Apache-2.0
#include "sampler/stack_sources.h"

#include <algorithm>
#include <functional>

#include "kernel/unwind_map_handles.h"
#include "sampler/jit_table.h"

namespace offcpud {

StackSources::StackSources(const BpfSession& session, SymbolWorker& symbols, ReaderClient& client,
                           FilesBelow* debug_files, const Clock& clock, Reports reports)
    : reports_(std::move(reports)), clock_(clock), opener_(client), processes_(client) {
  if (!proc_has_own_numbers()) {
    reports_.warned(
        "pid_namespace",
        "user stacks are missing: /proc belongs to another PID namespace than offcpud, so its "
        "process numbers differ; mount a /proc of offcpud's namespace (unshare --mount-proc)");
    return;
  }
  if (const auto opened = open(session, symbols, debug_files, clock); !opened) {
    mappings_.reset();
    reports_.warned("mappings", "user stacks are missing: " + opened.error().message());
  }
}

Status StackSources::open(const BpfSession& session, SymbolWorker& symbols, FilesBelow* debug_files,
                          const Clock& clock) {
  TRY(auto maps, BpfUnwindMaps::open(unwind_map_handles(session)));
  maps_ = std::make_unique<BpfUnwindMaps>(std::move(maps));
  // As many as the mappings remember, since a dropped table would have to be made again.
  TableStoreLimits limits;
  limits.unused_objects = ProcessMappings::Limits{}.unused_objects;
  TRY(auto tables, TableStore::create(*maps_, limits));
  tables_ = std::make_unique<TableStore>(std::move(tables));
  room_ = std::make_unique<KernelRoom>(*tables_, real_uid_of, clock.now());
  tables_->set_users([this](std::uint32_t tgid) { return room_->user_of(tgid); });
  registry_ = std::make_unique<ObjectRegistry>(
      tables_.get(), symbols, opener_, debug_files,
      ObjectRegistry::Reports{
          .failed = [this](const Error& error) { reports_.warned("unwind", error.message()); },
          .refused = reports_.refused},
      room_.get());
  LiveMappings::Options options;
  options.events.wakeup_bytes = 256;  // less than a static program produces when it starts
  TRY(mappings_, LiveMappings::open(*registry_, opener_, processes_, clock, options));
  return {};
}

void StackSources::follow() {
  if (!mappings_) return;
  if (const auto drained = mappings_->drain(); !drained) {
    reports_.warned("mappings", drained.error().message());
  }
  registry_->admit_waiting(
      [this](std::uint32_t tgid) { return mappings_->processes().mappings_of(tgid); },
      clock_.now());
  registry_->offer_again(clock_.now());
}

void StackSources::set_between(std::function<void()> between) {
  if (!mappings_) return;
  tables_->set_between(between);
  mappings_->set_between(std::move(between));
}

void StackSources::put_code(std::uint32_t tgid, const JitCode& code) {
  if (!mappings_) return;
  for (const JitCode::Range& range : code.ranges) {
    const auto status =
        tables_->put_code(tgid, range.begin, range.end, unwind_table_of(code, range));
    if (!status) reports_.warned("unwind", status.error().message());
  }
}

std::vector<OverShare> StackSources::over_share() {
  if (!mappings_) return {};
  std::vector<OverShare> found = mappings_->processes().over_share();
  for (const OverShare& one : room_->over_share()) {
    if (std::ranges::find(found, one.tgid, &OverShare::tgid) == found.end()) found.push_back(one);
  }
  std::ranges::sort(found, std::greater{}, &OverShare::mappings);
  return found;
}

std::uint64_t StackSources::left_out() const {
  if (!mappings_) return 0;
  const ProcessMappings::Counts counts = mappings_->processes().counts();
  return counts.mappings_refused + counts.events_left_out + room_->taken_out();
}

StackLosses StackSources::losses() const {
  if (!mappings_) return {};
  const ProcessMappings::Counts counts = mappings_->processes().counts();
  StackLosses losses{};
  const auto of = [&losses](StackLoss loss) -> std::uint64_t& {
    return losses[static_cast<std::size_t>(loss)];
  };
  of(StackLoss::UnwindTable) = tables_->tables_left_out() + registry_->late_tables();
  of(StackLoss::UnwindFile) = tables_->files_left_out() + registry_->copies_left_out();
  of(StackLoss::Process) = counts.images_refused;
  of(StackLoss::EndedProcess) = counts.ended_too_early;
  return losses;
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
    // A return address is after its call, which may be the last instruction of a function.
    frame.address = i == 0 ? addresses[i] : addresses[i] - 1;
    if (mappings_) {
      if (const auto found = mappings_->processes().find(tgid, when, frame.address)) {
        frame.file = found->mapping->file;
        frame.file_offset = found->file_offset;
        if (frame.file->kind != MappedFile::Kind::File) {
          frame.file_offset = frame.address - found->mapping->begin;
        } else if (frame.file->object) {
          frame.object = registry_->symbols_of(*frame.file->object);
          registry_->seen_in(tgid, *found->mapping);
        }
      }
    }
    frames.push_back(std::move(frame));
  }
  return frames;
}

}  // namespace offcpud
