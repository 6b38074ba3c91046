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

// From when on a thread of the daemon counts as stuck.
struct ThreadLimits {
  // One piece of work takes longer than this, which is far beyond what it takes on a busy host.
  std::chrono::seconds stuck{30};
  // Nothing but another process helps after this; nullopt: that would not help either.
  std::optional<std::chrono::seconds> hopeless;
  bool needed = true;  // somebody who asks the daemon for something depends on it
};

// How a thread is doing.
struct ThreadState {
  std::string name;
  std::string work;     // under way; of one that is stuck and idle, the last that took too long
  std::string subject;  // of that: a path, a process; may be empty
  std::optional<std::chrono::nanoseconds> busy;  // for so long; nullopt: idle
  std::chrono::nanoseconds longest{};            // if it is stuck: how long the work takes, or took
  ThreadLimits limits;
  bool stuck = false;

  [[nodiscard]] bool hopeless() const { return limits.hopeless && busy > *limits.hopeless; }
};

// What one thread is at, written by that thread and read by any other. A piece of work costs two
// readings of the clock (some 25 ns each) and a few stores; no lock, so that a thread that hangs
// can be asked about.
//
// The rule, which cannot flap: a thread is stuck as soon as a piece of work takes longer than the
// limit, and stays so until that piece has ended and another `limit` has passed without one that
// long. So it is stuck, or is not, for `limit` at least.
class Heartbeat {
 public:
  static constexpr std::size_t kLongestSubject = 96;  // of a longer one the end is kept

  // `clock` must outlive the thread.
  Heartbeat(const Clock& clock, std::string name, ThreadLimits limits);

  // By the thread. A piece of work that is under way ends with the begin of the next one. `work` is
  // a literal that completes "has been ...": "writing a snapshot".
  void begin(const char* work, std::string_view subject = {});
  // Within a piece of work, whose time goes on: says more of it.
  void at(const char* work, std::string_view subject = {});
  void end();

  // By any thread.
  [[nodiscard]] ThreadState state() const;
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  static constexpr std::size_t kWords = kLongestSubject / sizeof(std::uint64_t);

  // What is read must be of one piece of work: `version_` is odd while it is written. Each store
  // between is a release, each load an acquire, so the versions around them are seen in order.
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
  // Of the last piece that took too long; written before it ends.
  std::atomic<const char*> overrun_work_{nullptr};
  std::atomic<std::int64_t> overrun_ns_{0};
  std::atomic<std::int64_t> overrun_end_ns_{0};
};

// A piece of work, from here to the end of the block. Of no heartbeat it is nothing.
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
