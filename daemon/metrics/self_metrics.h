// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/goroutine_totals.h"
#include "base/gzip_refusal.h"
#include "base/object_refusal.h"
#include "base/stack_losses.h"
#include "base/thread_watch.h"
#include "metrics/series_writer.h"
#include "pipeline/view.h"
#include "snapshot/push_outcome.h"
#include "snapshot/snapshot_failure.h"

namespace offcpud {

struct BuildInfo {
  std::string version;
  std::string revision;
  std::string kernel;  // release, as `uname -r` prints it
};

// The daemon's metrics about itself, except those in a View. Thread-safe: the daemon's threads set
// them, HTTP threads read. A feature or stage has a series once a call has named it.
class SelfMetrics {
 public:
  // `threads` must outlive the object; null: no series of threads.
  explicit SelfMetrics(const BuildInfo& build, const ThreadWatch* threads = nullptr,
                       std::filesystem::path proc = "/proc");
  ~SelfMetrics();
  SelfMetrics(const SelfMetrics&) = delete;
  SelfMetrics& operator=(const SelfMetrics&) = delete;

  void set_feature(const std::string& feature, bool enabled);

  // Records an attempt to load the configuration. After a failure, the time of the last success
  // stays.
  void set_config_reload(bool successful, WallTime at);

  // When the certificate of new connections expires. The series exists once there is a certificate.
  void set_certificate_expiry(WallTime at);

  // Creates the stage's series with the value 0.
  void add_stage(const std::string& stage);
  void observe_pass(const std::string& stage, std::chrono::nanoseconds duration);
  void count_pass_failure(const std::string& stage);

  // Counts a block that became a stall; `kind` is a blocked enum offcpud_hist_kind. Series of
  // reasons that are not idle-prone exist from the start.
  void count_stall(std::size_t kind);
  // Counts a stall that was counted before, but turned out to be none.
  void count_stall_taken_back(std::size_t kind);
  void set_stalls_beyond_limit(std::uint64_t stalls);

  void count_scrape_not_compressed(GzipRefusal cause);

  // From the sampler; any thread. `user_end`: enum offcpud_unwind_end.
  void count_stack_sample(std::uint32_t user_end);
  void count_refused_objects(const ObjectRefusals& causes);
  void count_stack_located_early();
  void set_over_share(std::size_t processes, std::uint64_t mappings_left_out);
  void set_stack_losses(const StackLosses& losses);  // totals since the start
  void set_sampling_interval(std::chrono::nanoseconds interval);

  // About reading from other processes; any thread. Later calls may only use values of `what` and
  // `cause` that this call named; their series exist from then on.
  void add_reader_series(std::span<const char* const> what, std::span<const char* const> causes);
  void count_reader_hang(const std::string& what);
  void count_reader_refusal(const std::string& cause);
  void set_readers_stuck(unsigned readers);
  void add_reader_cpu(std::chrono::nanoseconds cpu);
  struct ReaderCounts {
    std::uint64_t hangs = 0;
    std::uint64_t refused = 0;
    std::uint64_t stuck = 0;
    std::chrono::nanoseconds cpu{};
  };
  [[nodiscard]] ReaderCounts reader_counts() const;

  // Totals since the start; any thread.
  void set_goroutine_totals(const GoroutineTotals& totals);

  // About the store of snapshots; any thread. The time of the last snapshot exists once there is
  // one.
  void count_snapshot_written(WallTime at);
  void count_snapshot_failure(SnapshotFailure cause);
  void set_snapshot_bytes(std::uint64_t bytes);

  // About push; any thread. The time of the last success exists once there is one.
  void count_push(PushResult result, WallTime at);
  void count_push_failure(PushFailure cause);
  void set_push_queue_bytes(std::uint64_t bytes);

  // Costs of the kernel programs since the start, which never decrease. Overhead: the share of all
  // CPU time that they and the daemon took in the last minute; the series exists once it is known.
  void set_program_costs(std::span<const ProgramCost> programs);
  void set_overhead(double ratio);

  // Writes complete families. Reads process_* now; leaves them out if /proc cannot be read.
  void write(SeriesWriter& out) const;

 private:
  struct Families;  // keeps prometheus-cpp out of the header
  const ThreadWatch* threads_;
  std::filesystem::path proc_;
  std::unique_ptr<Families> families_;
};

}  // namespace offcpud
