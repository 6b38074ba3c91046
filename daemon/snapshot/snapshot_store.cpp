// SPDX-License-Identifier: Apache-2.0
#include "snapshot/snapshot_store.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "snapshot/pprof.h"

namespace offcpud {
namespace {

// Approximate size of a file on the disk beyond its bytes.
constexpr std::uint64_t kFileOverhead = 8'192;

// Removing old snapshots must not cost the whole history if others fill the disk faster.
constexpr int kDiskFullAttempts = 3;

}  // namespace

SnapshotStore::SnapshotStore(std::filesystem::path directory, SnapshotLimits limits,
                             const Clock& clock, SnapshotReports reports)
    : path_(std::move(directory)), clock_(clock), reports_(std::move(reports)), limits_(limits) {}

bool SnapshotStore::open() {
  std::shared_ptr<SnapshotDirectory> held;
  {
    const std::lock_guard lock(mutex_);
    held = directory_;
  }
  if (held && held->still_there()) return true;
  {
    const std::lock_guard lock(mutex_);
    directory_.reset();
  }
  held.reset();  // releases its lock, in case the same directory is back under this path
  auto opened = SnapshotDirectory::open(path_);
  if (const auto* const problem = std::get_if<DiskProblem>(&opened)) {
    return fail(*problem);
  }
  list_files(std::make_shared<SnapshotDirectory>(std::get<SnapshotDirectory>(std::move(opened))));
  make_room(0);
  tell_kept();
  return true;
}

void SnapshotStore::list_files(std::shared_ptr<SnapshotDirectory> directory) {
  std::map<std::uint64_t, Kept> found;
  std::size_t foreign = 0;
  const MonotonicTime now = clock_.now();
  const WallTime wall = clock_.wall();
  for (const SnapshotDirectory::File& file : directory->files()) {
    if (is_temporary_name(file.name)) {
      directory->remove(file.name);
      continue;
    }
    const auto name = SnapshotName::parse(file.name);
    if (!name || found.contains(name->sequence)) {
      ++foreign;
      continue;
    }
    const auto age = std::max<std::chrono::nanoseconds>(wall - name->end, std::chrono::seconds(0));
    found.emplace(name->sequence, Kept{{*name, file.bytes}, age, now});
  }
  const std::lock_guard lock(mutex_);
  directory_ = std::move(directory);
  kept_ = std::move(found);
  foreign_files_ = foreign;
  if (!kept_.empty()) last_sequence_ = std::max(last_sequence_, kept_.rbegin()->first);
}

bool SnapshotStore::put(Snapshot& snapshot) {
  if (!open()) return false;
  std::uint64_t most_bytes = 0;
  {
    const std::lock_guard lock(mutex_);
    snapshot.sequence = ++last_sequence_;
    most_bytes = limits_.keep_bytes;
  }
  const auto bytes = pprof_of(snapshot);
  if (!bytes) return fail({SnapshotFailure::TooLarge, bytes.error()});
  if (bytes->size() > most_bytes) {
    return fail(
        {SnapshotFailure::TooLarge, Error("a snapshot of " + std::to_string(bytes->size()) +
                                          " bytes does not fit into snapshots.keep_bytes")});
  }
  make_room(bytes->size());
  const StoredSnapshot stored{SnapshotName::of(snapshot), bytes->size()};
  const bool written = write(stored, *bytes);
  tell_kept();
  if (written && reports_.written) reports_.written(stored);
  return written;
}

bool SnapshotStore::write(const StoredSnapshot& stored, const std::string& bytes) {
  for (int attempt = 1;; ++attempt) {
    const auto problem = directory_->write(stored.name.text(), bytes);
    if (!problem) break;
    std::uint64_t freed = 0;
    if (problem->cause == SnapshotFailure::DiskFull && attempt < kDiskFullAttempts) {
      while (freed < bytes.size() + kFileOverhead) {
        const std::uint64_t more = remove_oldest();
        if (more == 0) break;
        freed += more;
      }
    }
    if (freed == 0) return fail(*problem);
  }
  const std::lock_guard lock(mutex_);
  kept_.emplace(stored.name.sequence, Kept{stored, std::chrono::nanoseconds(0), clock_.now()});
  told_.clear();
  return true;
}

// Removes what is too old, then the oldest until `bytes` more fit into the limit.
void SnapshotStore::make_room(std::uint64_t bytes) {
  const MonotonicTime now = clock_.now();
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      std::uint64_t total = bytes;
      for (const auto& [sequence, kept] : kept_) total += kept.stored.bytes;
      if (kept_.empty()) return;
      const Kept& oldest = kept_.begin()->second;
      const bool too_old = oldest.age_when_seen + (now - oldest.seen) > limits_.keep_for;
      if (!too_old && total <= limits_.keep_bytes) return;
    }
    (void)remove_oldest();
  }
}

// Returns the bytes of its file; 0: there is none.
std::uint64_t SnapshotStore::remove_oldest() {
  StoredSnapshot oldest;
  {
    const std::lock_guard lock(mutex_);
    if (kept_.empty()) return 0;
    oldest = kept_.begin()->second.stored;
    kept_.erase(kept_.begin());
  }
  directory_->remove(oldest.name.text());
  return oldest.bytes + kFileOverhead;
}

void SnapshotStore::set_limits(SnapshotLimits limits) {
  const std::lock_guard lock(mutex_);
  limits_ = limits;
}

std::vector<StoredSnapshot> SnapshotStore::list() const {
  const std::lock_guard lock(mutex_);
  std::vector<StoredSnapshot> all;
  all.reserve(kept_.size());
  for (const auto& [sequence, kept] : kept_) all.push_back(kept.stored);
  return all;
}

Result<std::optional<Snapshot>> SnapshotStore::load(std::uint64_t sequence) const {
  std::shared_ptr<SnapshotDirectory> directory;
  std::string name;
  {
    const std::lock_guard lock(mutex_);
    const auto found = kept_.find(sequence);
    if (found == kept_.end() || !directory_) return std::optional<Snapshot>();
    directory = directory_;
    name = found->second.stored.name.text();
  }
  auto bytes = directory->read(name, kMostPprofBytes);
  if (bytes && !*bytes) {  // another program removed it
    const std::lock_guard lock(mutex_);
    kept_.erase(sequence);
    return std::optional<Snapshot>();
  }
  auto snapshot = bytes ? snapshot_of_pprof(**bytes) : Result<Snapshot>(std::move(bytes).error());
  if (snapshot) return std::optional<Snapshot>(*std::move(snapshot));

  Error error = std::move(snapshot).error().with("load '" + name + "'");
  bool is_news = false;
  {
    const std::lock_guard lock(mutex_);
    const auto found = kept_.find(sequence);
    is_news = found != kept_.end() && !std::exchange(found->second.stored.unreadable, true);
  }
  if (is_news) (void)fail({SnapshotFailure::Unreadable, error});
  return error;
}

std::size_t SnapshotStore::foreign_files() const {
  const std::lock_guard lock(mutex_);
  return foreign_files_;
}

std::uint64_t SnapshotStore::bytes() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t total = 0;
  for (const auto& [sequence, kept] : kept_) total += kept.stored.bytes;
  return total;
}

void SnapshotStore::tell_kept() const {
  if (reports_.kept) reports_.kept(bytes());
}

bool SnapshotStore::fail(const DiskProblem& problem) const {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = told_.insert(problem.cause).second;
  }
  if (reports_.failed) reports_.failed(problem.cause, problem.error.message(), first);
  return false;
}

}  // namespace offcpud
