// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace offcpud {

// How long threads at one place waited for their answers, in some 30 bytes. Data that the other
// side sends when it has some, such as the next job of a queue (BLPOP), look like an answer that
// takes long: only the past tells these apart. A value type.
class AnswerPast {
 public:
  enum class Habit : std::uint8_t {
    Unknown,  // too little is known, or answers take long at times
    Soon,     // answers come soon, so a long wait is for an answer, not for a job still to come
    Work,     // answers mostly come late, or each after the same whole number of seconds: the other
              // side has nothing to say until then
  };
  // An answer within kSoonSeconds comes soon, one after kLateSeconds comes late.
  static constexpr double kSoonSeconds = 1, kLateSeconds = 10;
  // Habit::Soon needs at least kFewest answers, of which at most the share kMostSlow did not come
  // soon.
  static constexpr float kFewest = 10, kMostSlow = 0.02F;
  // This many late answers are Habit::Work, if most of the last ten minutes or so were late.
  static constexpr std::uint8_t kLateOnes = 3;
  // This is Habit::Work, too: of the waits from kSoonSeconds to kLateSeconds, this many more ended
  // by one timeout than otherwise, and they took most of the time of the last minute or so. A
  // longer timeout says nothing: a gateway in front of a hung server gives up after 30.0 s each
  // time, too.
  static constexpr float kSameOnes = 5;
  // A wait that ends within kTooLateSeconds of a whole second ended by a timeout: Redis looks ten
  // times a second for those whose time is over. On a busy host the end may come up to kBusySeconds
  // late; such a wait counts half as much against the timeout as another one.
  static constexpr double kTooLateSeconds = 0.12, kBusySeconds = 0.5;

  // An answer ended a wait of this length, and stands for `waits` of them. `is_first`: it was the
  // first that the other side said on the connection. Who waits for the next job of a queue again
  // and again keeps the connection, so such an answer is no sign of a timeout.
  void add(std::uint64_t length_ns, double waits, bool is_first = false);
  // Call it when this much time has passed: forgets what is old.
  void fade(std::uint64_t ns);
  [[nodiscard]] Habit habit() const;

 private:
  void vote(double seconds);

  float answers_ = 0, slow_ = 0, late_ = 0;  // half is forgotten in ten minutes
  // The whole seconds that most waits beyond kSoonSeconds took, and how many more samples of these
  // there were than of others.
  float timeout_ = 0, same_ = 0;
  float seconds_ = 0, same_seconds_ = 0;  // of all, and of those; half is forgotten in a minute
  std::uint8_t late_ones_ = 0;            // kLateOnes at most; never forgotten
};

}  // namespace offcpud
