// SPDX-License-Identifier: Apache-2.0
#include "symbols/symbol_worker.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <deque>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <variant>

#include "base/thread_start.h"

namespace offcpud {
namespace {

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// After this many jobs it is a load's turn.
constexpr unsigned kMostJobsInARow = 4;

}  // namespace

// Shared with the thread, which may outlive the worker.
struct SymbolWorker::Shared {
  // Identifies one state of a file.
  struct FileIdentity {
    dev_t device = 0;
    ino_t inode = 0;
    off_t size = 0;
    std::int64_t modified_ns = 0;
    std::int64_t changed_ns = 0;
    friend bool operator<(const FileIdentity& a, const FileIdentity& b) {
      return std::tie(a.device, a.inode, a.size, a.modified_ns, a.changed_ns) <
             std::tie(b.device, b.inode, b.size, b.modified_ns, b.changed_ns);
    }
  };
  // Nothing: the descriptor is no regular file.
  static std::optional<FileIdentity> identity_of(int fd);

  struct NamedJob {
    Job job;
    const char* what = nullptr;
    std::unordered_set<ObjectId> missing;  // loads for which it waits ...
    MonotonicTime by;                      // ... until this time
    [[nodiscard]] bool is_ready(MonotonicTime now) const { return missing.empty() || by <= now; }
  };
  using Task = std::variant<std::monostate, SymbolLoad, NamedJob>;

  Shared(const Limits& given, Reports told)
      : limits(given), reports(std::move(told)), cache(given.cache), loads(given.loads) {}

  const Limits limits;
  const Reports reports;
  SymbolCache cache;  // used by the thread only

  mutable std::mutex mutex;  // guards everything below
  std::condition_variable changed;
  LoadQueue loads;
  std::unordered_set<ObjectId> under_way;     // loads that wait, and the one in progress
  std::array<std::deque<NamedJob>, 2> lines;  // of jobs
  unsigned jobs_in_a_row = 0;
  std::map<FileIdentity, ObjectId> ids;
  std::set<ObjectId> absent;  // neither loaded nor waiting
  std::set<ObjectId> missed;  // needed while absent
  ObjectId last_id = 0;
  Counts counts;
  bool stopping = false;
  bool ended = false;

  // Call it with the lock held. Returns the load that was refused, to be destroyed without the
  // lock.
  std::optional<SymbolLoad> add(SymbolLoad load);
  // Nothing: it is too early for everything.
  Task next(MonotonicTime now);
  [[nodiscard]] MonotonicTime next_time(MonotonicTime now) const;
  void end_load(ObjectId id);
  // The line whose first job is ready; null: none. The first such line goes first.
  std::deque<NamedJob>* ready_line(MonotonicTime now);
  // Whether the first job of a line waits for this load.
  [[nodiscard]] bool is_waited_for(ObjectId id) const;
  // Called by the thread after each task, with the lock held.
  void note_task(const Task& task, std::chrono::nanoseconds cpu);

  // Called by the thread without the lock.
  void perform(const Task& task);
};

std::optional<SymbolWorker::Shared::FileIdentity> SymbolWorker::Shared::identity_of(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  return FileIdentity{info.st_dev, info.st_ino, info.st_size, nanoseconds(info.st_mtim),
                      nanoseconds(info.st_ctim)};
}

std::optional<SymbolLoad> SymbolWorker::Shared::add(SymbolLoad load) {
  under_way.insert(load.id);
  auto given = loads.push(std::move(load));
  if (given) {
    ++counts.refused;
    if (!given->job) absent.insert(given->id);
    end_load(given->id);
  }
  changed.notify_all();
  return given;
}

void SymbolWorker::Shared::end_load(ObjectId id) {
  under_way.erase(id);
  for (auto& jobs : lines) {
    for (NamedJob& job : jobs) job.missing.erase(id);
  }
}

std::deque<SymbolWorker::Shared::NamedJob>* SymbolWorker::Shared::ready_line(MonotonicTime now) {
  const auto found = std::ranges::find_if(
      lines, [now](const auto& jobs) { return !jobs.empty() && jobs.front().is_ready(now); });
  return found == lines.end() ? nullptr : &*found;
}

bool SymbolWorker::Shared::is_waited_for(ObjectId id) const {
  return std::ranges::any_of(
      lines, [id](const auto& jobs) { return !jobs.empty() && jobs.front().missing.contains(id); });
}

// Loads get their turn, however many jobs there are.
SymbolWorker::Shared::Task SymbolWorker::Shared::next(MonotonicTime now) {
  std::deque<NamedJob>* const ready = ready_line(now);
  if (ready == nullptr || jobs_in_a_row >= kMostJobsInARow) {
    LoadQueue::Wanted wanted;
    const auto waits = [](const auto& jobs) {
      return !jobs.empty() && !jobs.front().missing.empty();
    };
    if (std::ranges::any_of(lines, waits)) {
      wanted = [this](ObjectId id) { return is_waited_for(id); };
    }
    jobs_in_a_row = 0;
    if (auto load = loads.take(wanted, now)) return *std::move(load);
  }
  if (ready == nullptr) return {};
  ++jobs_in_a_row;
  NamedJob job = std::move(ready->front());
  ready->pop_front();
  return job;
}

MonotonicTime SymbolWorker::Shared::next_time(MonotonicTime now) const {
  MonotonicTime next = loads.next_time(now);
  for (const auto& jobs : lines) {
    if (!jobs.empty()) next = std::min(next, jobs.front().by);
  }
  return next;
}

void SymbolWorker::Shared::perform(const Task& task) {
  if (const auto* load = std::get_if<SymbolLoad>(&task)) {
    const PieceOfWork piece(reports.heartbeat,
                            load->job ? load->what : "reading the functions of an object",
                            load->file.path);
    if (load->job) return load->job(cache);
    cache.load(load->id, load->file);
    const ObjectRefusals refused = cache.take_refused();
    if (!refused.empty() && reports.refused) reports.refused(load->file.path, refused);
  } else if (const auto* named = std::get_if<NamedJob>(&task)) {
    const PieceOfWork piece(reports.heartbeat, named->what);
    named->job(cache);
  }
}

void SymbolWorker::Shared::note_task(const Task& task, std::chrono::nanoseconds cpu) {
  if (const auto* load = std::get_if<SymbolLoad>(&task)) {
    loads.spend(load->owner, cpu, std::chrono::steady_clock::now());
    end_load(load->id);
    ++counts.loaded;
  }
  const std::vector<ObjectId> forgotten = cache.take_forgotten();
  counts.failed = cache.failures();
  counts.bytes = cache.bytes();
  counts.forgotten += forgotten.size();
  absent.insert(forgotten.begin(), forgotten.end());
  missed.merge(cache.take_missed());
}

SymbolWorker::SymbolWorker(const Limits& limits, Reports reports)
    : shared_(std::make_shared<Shared>(limits, std::move(reports))) {
  start_thread("offcpud-symbols", [shared = shared_] {
    if (shared->reports.started) shared->reports.started();
    run(shared);
  }).detach();
}

SymbolWorker::~SymbolWorker() {
  std::vector<SymbolLoad> dropped;
  std::unique_lock lock(shared_->mutex);
  shared_->stopping = true;
  for (auto& jobs : shared_->lines) jobs.clear();
  dropped = shared_->loads.clear();
  shared_->changed.notify_all();
  (void)shared_->changed.wait_for(lock, kGrace, [&] { return shared_->ended; });
}

std::optional<ObjectId> SymbolWorker::offer(ObjectFile file, const ShareOwner& owner, Known known) {
  const auto identity = Shared::identity_of(file.fd.get());
  if (!identity) return std::nullopt;
  std::optional<SymbolLoad> refused;  // destroyed after the lock is released
  const std::lock_guard lock(shared_->mutex);
  Shared& shared = *shared_;
  // A file whose id was dropped gets a new one; its functions are shared nevertheless.
  if (shared.ids.size() >= shared.limits.cache.objects) {
    shared.ids.clear();
    shared.absent.clear();
  }
  const auto [entry, added] = shared.ids.try_emplace(*identity, shared.last_id + 1);
  const ObjectId id = entry->second;
  if (added) {
    ++shared.last_id;
    shared.absent.insert(id);
  }
  const bool is_wanted = known == Known::ReadAgain || shared.absent.contains(id);
  if (!is_wanted || shared.stopping) return id;
  shared.absent.erase(id);
  refused =
      shared.add({.id = id, .owner = owner, .file = std::move(file), .job = {}, .what = nullptr});
  return id;
}

ObjectId SymbolWorker::prepare(Job job, const char* what, const ShareOwner& owner) {
  std::optional<SymbolLoad> refused;  // destroyed after the lock is released
  const std::lock_guard lock(shared_->mutex);
  Shared& shared = *shared_;
  if (shared.stopping) return 0;
  const ObjectId id = ++shared.last_id;
  refused = shared.add({.id = id, .owner = owner, .file = {}, .job = std::move(job), .what = what});
  return shared.under_way.contains(id) ? id : 0;
}

bool SymbolWorker::post(Job job, const char* what, const After& after) {
  const std::lock_guard lock(shared_->mutex);
  Shared& shared = *shared_;
  if (shared.stopping) return false;
  Shared::NamedJob named{.job = std::move(job), .what = what, .missing = {}, .by = {}};
  named.by = std::chrono::steady_clock::now() + after.patience;
  if (!after.loads) {
    named.missing = shared.under_way;
  } else {
    for (const ObjectId id : *after.loads) {
      if (shared.under_way.contains(id)) named.missing.insert(id);
    }
  }
  auto& jobs = shared.lines.at(static_cast<std::size_t>(after.line));
  for (Shared::NamedJob& before : jobs) before.by = std::min(before.by, named.by);
  jobs.push_back(std::move(named));
  shared.changed.notify_all();
  return true;
}

SymbolWorker::Counts SymbolWorker::counts() const {
  const std::lock_guard lock(shared_->mutex);
  Counts counts = shared_->counts;
  counts.waiting = shared_->loads.size();
  return counts;
}

std::vector<ObjectId> SymbolWorker::take_wanted() {
  const std::lock_guard lock(shared_->mutex);
  std::vector<ObjectId> ids;
  std::set_intersection(shared_->absent.begin(), shared_->absent.end(), shared_->missed.begin(),
                        shared_->missed.end(), std::back_inserter(ids));
  shared_->missed.clear();
  return ids;
}

void SymbolWorker::run(const std::shared_ptr<Shared>& shared) {
  // Names can wait. If the priority cannot be lowered, they do not.
  (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), 10);
  std::unique_lock lock(shared->mutex);
  while (!shared->stopping) {
    const MonotonicTime now = std::chrono::steady_clock::now();
    Shared::Task task = shared->next(now);
    if (std::holds_alternative<std::monostate>(task)) {
      const MonotonicTime until = shared->next_time(now);
      if (until == MonotonicTime::max()) {
        shared->changed.wait(lock);
      } else {
        (void)shared->changed.wait_until(lock, until);
      }
      continue;
    }
    lock.unlock();
    const std::chrono::nanoseconds before = thread_cpu_time();
    shared->perform(task);
    const std::chrono::nanoseconds cpu = thread_cpu_time() - before;
    lock.lock();
    shared->note_task(task, cpu);
    // Closes the descriptor, which is better done without the lock.
    lock.unlock();
    task = {};
    lock.lock();
  }
  shared->ended = true;
  shared->changed.notify_all();
}

}  // namespace offcpud
