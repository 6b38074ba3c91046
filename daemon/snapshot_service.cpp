// SPDX-License-Identifier: Apache-2.0
#include "snapshot_service.h"

#include <filesystem>

#include "runtime/logging.h"

namespace offcpud {
namespace {

constexpr std::chrono::milliseconds kWriting{700};

SnapshotLimits limits_of(const Config& config) {
  return {.keep_for = config.snapshots.keep_for, .keep_bytes = config.snapshots.keep_bytes};
}

SamplerOptions sampler_options(const Config& config) {
  SamplerOptions options;
  options.interval = config.snapshots.interval;
  options.stacks_per_second = config.snapshots.stacks_per_second;
  options.kinds = (1U << OFFCPUD_BLOCKED_KINDS) - 1;
  return options;
}

}  // namespace

SnapshotService::SnapshotService(const Config& config, const Clock& clock, EventLoop& loop,
                                 SelfMetrics& metrics, CgroupPath path_of)
    : metrics_(metrics),
      loop_(loop),
      path_of_(std::move(path_of)),
      store_(std::filesystem::path(config.state_dir) / "snapshots", limits_of(config), clock,
             store_reports()),
      clock_(clock) {
  mailbox_->wake = [this] { loop_.post([this] { complete_all(); }); };
}

SnapshotService::Serving::Serving(SnapshotService& service, const Clock& clock)
    : writer([&service](Snapshot snapshot) { service.store_.put(std::move(snapshot)); },
             [&service] { service.metrics_.count_snapshot_failure(SnapshotFailure::QueueFull); }),
      handlers(service.store_, service, requests, clock) {}

SnapshotService::~SnapshotService() = default;

Result<std::unique_ptr<SnapshotService>> SnapshotService::start(const BpfSession& session,
                                                                const Config& config,
                                                                const Clock& clock, EventLoop& loop,
                                                                SelfMetrics& metrics,
                                                                CgroupPath path_of) {
  std::unique_ptr<SnapshotService> service(
      new SnapshotService(config, clock, loop, metrics, std::move(path_of)));
  TRY(service->sampler_,
      StackSampler::start(session, clock, sampler_options(config), service->sampler_reports()));
  return service;
}

void SnapshotService::open() {
  (void)store_.open();  // what fails is reported, and tried again
  serving_.emplace(*this, clock_);
}

void SnapshotService::apply(const Config& config) {
  store_.set_limits(limits_of(config));
  sampler_->set_options(sampler_options(config));
}

void SnapshotService::stop() {
  std::unique_ptr<StackSampler> sampler;
  {
    const std::lock_guard lock(sampler_mutex_);
    sampler = std::move(sampler_);
  }
  sampler.reset();
  {
    const std::lock_guard lock(mailbox_->mutex);
    mailbox_->wake = nullptr;
  }
  complete_all();
  (void)serving_->writer.finish(kWriting);  // what is not written is counted
}

void SnapshotService::take_next(std::chrono::milliseconds length, const BlockFilter& filter,
                                std::function<void(Result<Snapshot>)> done) {
  const std::lock_guard lock(sampler_mutex_);
  if (!sampler_) return done(Error("offcpud is stopping"));
  sampler_->take_next(length, filter,
                      [mailbox = mailbox_, done = std::move(done)](Result<SnapshotDraft> draft) {
                        if (!draft) return done(std::move(draft).error());
                        hand_over(*mailbox, *std::move(draft),
                                  [done](Snapshot snapshot) { done(std::move(snapshot)); });
                      });
}

SnapshotReports SnapshotService::store_reports() {
  SnapshotReports reports;
  reports.written = [this](const StoredSnapshot& stored) {
    metrics_.count_snapshot_written(stored.name.end);
  };
  reports.kept = [this](std::uint64_t bytes) { metrics_.set_snapshot_bytes(bytes); };
  reports.failed = [this](SnapshotFailure cause, const std::string& sentence, bool first) {
    metrics_.count_snapshot_failure(cause);
    if (first) log_warning("snapshots: " + sentence);
  };
  return reports;
}

SamplerReports SnapshotService::sampler_reports() {
  SamplerReports reports;
  reports.drafted = [this, mailbox = mailbox_](Result<SnapshotDraft> draft) {
    if (draft) {
      // `this` is used by its own thread only.
      return hand_over(*mailbox, *std::move(draft),
                       [this](Snapshot snapshot) { serving_->writer.submit(std::move(snapshot)); });
    }
    metrics_.count_snapshot_failure(SnapshotFailure::QueueFull);
    log_warning_limited("stacks dropped", "a snapshot is given up: " + draft.error().message());
  };
  reports.sampled = [this](std::uint32_t user_end) { metrics_.count_stack_sample(user_end); };
  reports.adapted = [this](std::chrono::nanoseconds interval) {
    metrics_.set_sampling_interval(interval);
  };
  reports.warned = [](std::string_view topic, const std::string& sentence) {
    log_warning_limited("stacks " + std::string(topic), "stacks: " + sentence);
  };
  return reports;
}

void SnapshotService::hand_over(Mailbox& mailbox, SnapshotDraft draft, Use use) {
  const std::lock_guard lock(mailbox.mutex);
  mailbox.drafts.emplace_back(std::move(draft), std::move(use));
  if (mailbox.wake) mailbox.wake();
}

void SnapshotService::complete_all() {
  std::vector<std::pair<SnapshotDraft, Use>> drafts;
  {
    const std::lock_guard lock(mailbox_->mutex);
    drafts.swap(mailbox_->drafts);
  }
  for (auto& [draft, use] : drafts) {
    for (std::size_t i = 0; i < draft.snapshot.entries.size(); ++i) {
      draft.snapshot.entries[i].cgroup = path_of_(draft.cgroup_ids[i]);
    }
    use(std::move(draft.snapshot));
  }
}

}  // namespace offcpud
