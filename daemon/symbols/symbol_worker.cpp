// SPDX-License-Identifier: Apache-2.0
#include "symbols/symbol_worker.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <tuple>
#include <utility>
#include <variant>

namespace offcpud {
namespace {

// What tells a file from others, and from itself before it was changed.
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

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

std::optional<FileIdentity> identity_of(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  return FileIdentity{info.st_dev, info.st_ino, info.st_size, nanoseconds(info.st_mtim),
                      nanoseconds(info.st_ctim)};
}

}  // namespace

// Shared with the thread, which may outlive the worker.
struct SymbolWorker::Shared {
  struct Load {
    ObjectId id;
    ObjectFile file;
  };

  struct NamedJob {
    Job job;
    const char* what;
  };

  Shared(const Limits& given, Reports told)
      : limits(given), reports(std::move(told)), cache(given.cache) {}

  const Limits limits;
  const Reports reports;
  SymbolCache cache;  // of the thread alone

  mutable std::mutex mutex;  // of all below
  std::condition_variable changed;
  std::deque<std::variant<Load, NamedJob>> tasks;
  std::map<FileIdentity, ObjectId> ids;
  std::set<ObjectId> absent;  // neither loaded nor waiting
  std::set<ObjectId> missed;  // asked for while absent
  ObjectId last_id = 0;
  Counts counts;
  bool stopping = false;
  bool ended = false;

  // By the thread, without the lock.
  void perform(const std::variant<Load, NamedJob>& task);
  // After each task; by the thread, with the lock.
  void note_task(bool was_load);
};

void SymbolWorker::Shared::perform(const std::variant<Load, NamedJob>& task) {
  if (const auto* load = std::get_if<Load>(&task)) {
    const PieceOfWork piece(reports.heartbeat, "reading the functions of an object",
                            load->file.path);
    cache.load(load->id, load->file);
    const ObjectRefusals refused = cache.take_refused();
    if (!refused.empty() && reports.refused) reports.refused(load->file.path, refused);
  } else {
    const auto& named = std::get<NamedJob>(task);
    const PieceOfWork piece(reports.heartbeat, named.what);
    named.job(cache);
  }
}

void SymbolWorker::Shared::note_task(bool was_load) {
  if (was_load) {
    --counts.waiting;
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
  std::thread([shared = shared_] {
    if (shared->reports.started) shared->reports.started();
    run(shared);
  }).detach();
}

SymbolWorker::~SymbolWorker() {
  std::unique_lock lock(shared_->mutex);
  shared_->stopping = true;
  shared_->tasks.clear();
  shared_->changed.notify_all();
  (void)shared_->changed.wait_for(lock, kGrace, [&] { return shared_->ended; });
}

std::optional<ObjectId> SymbolWorker::offer(ObjectFile file, Known known) {
  const auto identity = identity_of(file.fd.get());
  if (!identity) return std::nullopt;
  const std::lock_guard lock(shared_->mutex);
  Shared& shared = *shared_;
  // A file whose number was dropped gets another one; its functions are shared all the same.
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
  if (shared.counts.waiting >= shared.limits.waiting) {
    ++shared.counts.refused;
    return id;
  }
  shared.absent.erase(id);
  ++shared.counts.waiting;
  shared.tasks.emplace_back(Shared::Load{id, std::move(file)});
  shared.changed.notify_all();
  return id;
}

bool SymbolWorker::post(Job job, const char* what) {
  const std::lock_guard lock(shared_->mutex);
  if (shared_->stopping) return false;
  shared_->tasks.emplace_back(Shared::NamedJob{std::move(job), what});
  shared_->changed.notify_all();
  return true;
}

SymbolWorker::Counts SymbolWorker::counts() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->counts;
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
  (void)::pthread_setname_np(::pthread_self(), "offcpud-symbols");
  // Names can wait. Without permission to be nice, they do not.
  (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), 10);
  std::unique_lock lock(shared->mutex);
  for (;;) {
    shared->changed.wait(lock, [&] { return shared->stopping || !shared->tasks.empty(); });
    if (shared->stopping) break;
    auto task = std::move(shared->tasks.front());
    shared->tasks.pop_front();
    lock.unlock();
    shared->perform(task);
    // Closes the descriptor, which like all that waits is better done without the lock.
    const bool was_load = std::holds_alternative<Shared::Load>(task);
    task = Shared::NamedJob{};
    lock.lock();
    shared->note_task(was_load);
  }
  shared->ended = true;
  shared->changed.notify_all();
}

}  // namespace offcpud
