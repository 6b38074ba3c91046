// SPDX-License-Identifier: Apache-2.0
#include "base/heartbeat.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/text.h"

namespace offcpud {

using std::chrono::nanoseconds;

Heartbeat::Heartbeat(const Clock& clock, std::string name, ThreadLimits limits)
    : clock_(clock), name_(std::move(name)), limits_(limits) {}

std::int64_t Heartbeat::now_ns() const {
  return std::max<std::int64_t>(nanoseconds(clock_.now().time_since_epoch()).count(), 1);
}

void Heartbeat::begin(const char* work, std::string_view subject) {
  const std::int64_t now = now_ns();
  note_overrun(now);
  write(work, subject, now);
}

void Heartbeat::at(const char* work, std::string_view subject) {
  write(work, subject, since_ns_.load(std::memory_order_relaxed));
}

void Heartbeat::end() {
  note_overrun(now_ns());
  since_ns_.store(0, std::memory_order_release);  // pairs with read()
}

// Records the piece that ends now if it took too long.
void Heartbeat::note_overrun(std::int64_t now) {
  const std::int64_t since = since_ns_.load(std::memory_order_relaxed);
  if (since != 0 && nanoseconds(now - since) > limits_.stuck) {
    overrun_work_.store(work_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    overrun_ns_.store(now - since, std::memory_order_relaxed);
    overrun_end_ns_.store(now, std::memory_order_relaxed);
  }
}

void Heartbeat::write(const char* work, std::string_view subject, std::int64_t since_ns) {
  const std::uint64_t version = version_.load(std::memory_order_relaxed);
  version_.store(version + 1, std::memory_order_relaxed);
  if (subject.size() > kLongestSubject) subject = subject.substr(subject.size() - kLongestSubject);
  for (std::size_t i = 0; i * sizeof(std::uint64_t) < subject.size(); ++i) {
    const std::string_view part = subject.substr(i * sizeof(std::uint64_t), sizeof(std::uint64_t));
    std::uint64_t word = 0;
    std::memcpy(&word, part.data(), part.size());
    subject_[i].store(word, std::memory_order_release);
  }
  subject_bytes_.store(subject.size(), std::memory_order_release);
  work_.store(work, std::memory_order_release);
  since_ns_.store(since_ns, std::memory_order_release);
  version_.store(version + 2, std::memory_order_release);
}

// If the thread starts new pieces faster than this can read one, it is not stuck. After some
// attempts the result is then good enough; only the subject is left out, as it may mix two.
Heartbeat::Piece Heartbeat::read() const {
  constexpr int kAttempts = 100;
  Piece piece;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::uint64_t version = version_.load(std::memory_order_acquire);
    piece.since_ns = since_ns_.load(std::memory_order_acquire);
    piece.work = work_.load(std::memory_order_acquire);
    std::array<std::uint64_t, kWords> words{};
    const std::size_t bytes = subject_bytes_.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < kWords; ++i) words[i] = subject_[i].load(std::memory_order_acquire);
    if (version % 2 != 0 || version_.load(std::memory_order_relaxed) != version) continue;
    std::array<char, kLongestSubject> text{};
    std::memcpy(text.data(), words.data(), text.size());
    piece.subject = to_valid_utf8(std::string_view(text.data(), bytes));
    return piece;
  }
  return piece;
}

ThreadState Heartbeat::state() const {
  const Piece piece = read();
  const std::int64_t now = now_ns();
  ThreadState state{
      .name = name_, .work = {}, .subject = {}, .busy = {}, .longest = {}, .limits = limits_};
  if (piece.since_ns != 0) {
    state.busy = nanoseconds(std::max<std::int64_t>(now - piece.since_ns, 0));
    state.work = piece.work == nullptr ? "" : piece.work;
    state.subject = piece.subject;
    state.stuck = *state.busy > limits_.stuck;
    if (state.stuck) state.longest = *state.busy;
  }
  const std::int64_t overrun_end = overrun_end_ns_.load(std::memory_order_relaxed);
  if (!state.stuck && overrun_end != 0 && nanoseconds(now - overrun_end) <= limits_.stuck) {
    state.stuck = true;
    state.longest = nanoseconds(overrun_ns_.load(std::memory_order_relaxed));
    const char* const work = overrun_work_.load(std::memory_order_relaxed);
    state.work = work == nullptr ? "" : work;
    state.subject.clear();
  }
  return state;
}

}  // namespace offcpud
