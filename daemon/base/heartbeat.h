// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace offcpud {

// When a thread of the daemon counts as stuck.
struct ThreadLimits {
  // A thread is stuck if one piece of work takes longer than this, far longer than on a busy host.
  std::chrono::seconds stuck{30};
  // It is hopeless after this: only a new process helps. nullopt: that would not help either.
  std::optional<std::chrono::seconds> hopeless;
  bool needed = true;  // requests to the daemon depend on this thread
};

// What a thread is doing.
struct ThreadState {
  std::string name;
  std::string work;     // current; of a stuck and idle thread, the last work that took too long
  std::string subject;  // of the work: a path or a process; may be empty
  std::optional<std::chrono::nanoseconds> busy;  // since the work began; nullopt: it is idle
  std::chrono::nanoseconds longest{};            // if stuck: how long the work has taken
  ThreadLimits limits;
  bool stuck = false;

  [[nodiscard]] bool hopeless() const { return limits.hopeless && busy > *limits.hopeless; }
};

// What one thread is doing, written by that thread and read by any other. A piece of work costs two
// readings of the clock (some 25 ns each) and a few stores. There is no lock, so the state of a
// thread that hangs can be read.
//
// A thread is stuck as soon as a piece of work takes longer than the limit. It remains so until
// that piece has ended and another `limit` has passed without a piece that long. So the state
// cannot flap: it lasts for `limit` at least.
class Heartbeat {
 public:
  static constexpr std::size_t kLongestSubject = 96;  // of a longer one, the end is kept

  // `clock` must outlive the thread.
  Heartbeat(const Clock& clock, std::string name, ThreadLimits limits);

  // By the thread. Ends the piece of work in progress and starts the next one. `work` is a literal
  // that completes "has been ...", such as "writing a snapshot".
  void begin(const char* work, std::string_view subject = {});
  // By the thread. Describes the piece of work in progress in more detail; its time goes on.
  void at(const char* work, std::string_view subject = {});
  void end();

  // By any thread.
  [[nodiscard]] ThreadState state() const;
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  static constexpr std::size_t kWords = kLongestSubject / sizeof(std::uint64_t);

  // What read() returns must be from one piece of work: `version_` is odd during a write. Every
  // store in between is a release and every load an acquire, so they stay between the two versions.
  struct Piece {
    const char* work = nullptr;
    std::string subject;
    std::int64_t since_ns = 0;  // 0: idle
  };
  void write(const char* work, std::string_view subject, std::int64_t since_ns);
  void note_overrun(std::int64_t now);
  [[nodiscard]] Piece read() const;
  [[nodiscard]] std::int64_t now_ns() const;

  const Clock& clock_;
  const std::string name_;
  const ThreadLimits limits_;
  std::atomic<std::uint64_t> version_{0};
  std::atomic<std::int64_t> since_ns_{0};
  std::atomic<const char*> work_{nullptr};
  std::atomic<std::size_t> subject_bytes_{0};
  std::array<std::atomic<std::uint64_t>, kWords> subject_{};
  // The last piece that took too long; written before that piece ends.
  std::atomic<const char*> overrun_work_{nullptr};
  std::atomic<std::int64_t> overrun_ns_{0};
  std::atomic<std::int64_t> overrun_end_ns_{0};
};

// A piece of work that lasts until the end of the block. Does nothing if the heartbeat is null.
class PieceOfWork {
 public:
  PieceOfWork(const std::shared_ptr<Heartbeat>& heartbeat, const char* work,
              std::string_view subject = {})
      : heartbeat_(heartbeat.get()) {
    if (heartbeat_ != nullptr) heartbeat_->begin(work, subject);
  }
  ~PieceOfWork() {
    if (heartbeat_ != nullptr) heartbeat_->end();
  }
  PieceOfWork(const PieceOfWork&) = delete;
  PieceOfWork& operator=(const PieceOfWork&) = delete;

 private:
  Heartbeat* heartbeat_;
};

}  // namespace offcpud
