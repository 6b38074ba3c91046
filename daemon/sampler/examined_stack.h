// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/share_owner.h"
#include "base/shared_texts.h"
#include "pipeline/wait_window.h"
#include "sampler/stack_room.h"
#include "sites/place_classes.h"
#include "sites/site_rule.h"
#include "sites/waker_evidence.h"
#include "snapshot/snapshot.h"

namespace offcpud {

// Functions of a stack as answers show them: "pthread_mutex_lock [libc.so.6]". Names that contain
// their object, and names of the kernel itself, stand alone. Names of Python have their line.
// Programs choose their names, so long ones are cut.
struct StackTexts {
  static constexpr std::size_t kMostBytes = 16'384;  // of the texts of both stacks
  static constexpr std::size_t kMostOfOne = 256;

  SharedTexts user, kernel;  // innermost first
  bool shortened = false;    // all cut below kMostOfOne, because together they were too long
};
StackTexts texts_of(std::span<const StackFrame> user, std::span<const StackFrame> kernel);

// What the waits with one stack are for, as far as the stack itself tells, and which evidence may
// say otherwise. Used by one thread.
class ExaminedStack {
 public:
  // What is known of the stack besides what its waits are for.
  struct Of {
    SiteQuestion ask = SiteQuestion::None;  // None: no evidence can change it
    bool named = false;                     // its interpreted functions are known
    ProcessPlace at;
    std::uint64_t caller = 0;  // ThreadAtPlace::caller
    ShareOwner owner;          // whose process it is
    // PlacePasts::place_of(); 0: its past is not needed to know what its waits are for.
    std::uint64_t past = 0;
  };
  // `wait` has its functions, even if it is idle. `room` counts the stack as long as it lives.
  ExaminedStack(ExaminedWait wait, const Of& of, StackRoom& room);
  ~ExaminedStack() { room_.remove(*this); }
  ExaminedStack(const ExaminedStack&) = delete;
  ExaminedStack& operator=(const ExaminedStack&) = delete;

  // The wait as names and files tell it.
  [[nodiscard]] const std::shared_ptr<const ExaminedWait>& wait() const { return wait_; }
  // The evidence that may decide instead; None: that has been decided.
  [[nodiscard]] SiteQuestion ask() const { return of_.ask; }
  [[nodiscard]] bool named() const { return of_.named; }
  [[nodiscard]] const ProcessPlace& at() const { return of_.at; }
  [[nodiscard]] std::uint64_t caller() const { return of_.caller; }
  [[nodiscard]] const ShareOwner& owner() const { return of_.owner; }
  [[nodiscard]] std::uint64_t past() const { return of_.past; }
  [[nodiscard]] EvidenceVerdict verdict() const { return {wait_->wait_for, wait_->certain}; }

  // The wait of a block for which evidence gives this verdict. Blocks with equal verdicts share it.
  std::shared_ptr<const ExaminedWait> as(const EvidenceVerdict& verdict);

  [[nodiscard]] bool has_texts() const { return !texts_.user.empty() || !texts_.kernel.empty(); }
  // Drops the functions, but keeps what the stack waits for. Called only by StackRoom.
  void drop_texts();
  [[nodiscard]] std::size_t bytes() const { return bytes_; }  // about

 private:
  [[nodiscard]] std::size_t count_bytes() const;

  StackRoom& room_;
  Of of_;
  std::shared_ptr<const ExaminedWait> wait_;
  StackTexts texts_;  // kept where a wait shows them, now or when evidence decides
  std::vector<std::shared_ptr<const ExaminedWait>> others_;
  std::size_t bytes_ = 0;
};

}  // namespace offcpud
