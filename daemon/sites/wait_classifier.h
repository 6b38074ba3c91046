// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/wait_for.h"
#include "base/word_hash.h"
#include "sites/site_matcher.h"
#include "sites/site_rules.h"

namespace offcpud {

// What the rules say of a wait.
struct WaitClass {
  WaitFor wait_for = WaitFor::Unknown;
  std::string_view site;  // good as long as the rules; empty: no rule takes the wait
  // True if names alone decide. False if no rule takes the wait, or if the rule asks for evidence:
  // then `wait_for` counts as long as there is no evidence, and no stall or alert may start from
  // it.
  bool certain = false;
  SiteQuestion ask = SiteQuestion::None;  // the evidence that may decide instead

  friend bool operator==(const WaitClass&, const WaitClass&) = default;
};

// A function and its object, as a StackFrame has them.
struct SiteFrame {
  std::string_view function, object;
};

// What was done so far, with all rules.
struct ClassifierWork {
  std::uint64_t waits = 0;      // waits that were classified
  std::uint64_t matched = 0;    // of these, stacks that were compared with the rules
  std::uint64_t forgotten = 0;  // stacks that had to go for lack of room; they are matched again
  std::uint64_t names = 0;      // functions and executables compared with the patterns
};

// Says what waits are for, by rules that may be replaced. One thread at a time. It remembers each
// name and each stack, so that a known stack costs one look-up by the numbers of its frames.
class WaitClassifier {
 public:
  // The most memory for stacks, and for names.
  static constexpr std::size_t kMostStackBytes = std::size_t{2} << 20;
  static constexpr std::size_t kMostNameBytes = std::size_t{2} << 20;

  explicit WaitClassifier(std::shared_ptr<const SiteRules> rules,
                          std::size_t most_stack_bytes = kMostStackBytes);

  // If these are other rules, forgets all that it remembered; numbers of frames and texts of sites
  // become invalid.
  void use(std::shared_ptr<const SiteRules> rules);
  [[nodiscard]] const SiteRules& rules() const { return matcher_->rules(); }
  // How often other rules came into use. Identifies the rules that said something.
  [[nodiscard]] std::uint32_t generation() const { return generation_; }

  // Numbers of frames, for callers that classify many stacks of the same frames: see SiteMatcher.
  FrameKind user_frame(const SiteFrame& frame) {
    return matcher_->user_frame(frame.function, frame.object);
  }
  FrameKind kernel_frame(std::string_view function) { return matcher_->kernel_frame(function); }
  FrameKind interpreted_frame(std::string_view shown) { return matcher_->interpreted_frame(shown); }
  // The file name of the executable; the name of the process where that is not known.
  FrameKind executable(std::string_view name) { return matcher_->executable(name); }
  // Why a goroutine waits, as Go's runtime calls it: "chan receive".
  FrameKind goroutine_reason(std::string_view name) { return matcher_->goroutine_reason(name); }

  WaitClass classify(const SiteWait& wait);

  // The same by names, for callers with a single stack. Frames are outermost first, `reason` is one
  // of enum offcpud_hist_kind. `interpreted`: names as they are shown.
  WaitClass classify(std::string_view exe, std::size_t reason, std::span<const SiteFrame> user,
                     std::span<const SiteFrame> kernel,
                     std::span<const std::string_view> interpreted = {});

  [[nodiscard]] ClassifierWork work() const;

 private:
  // Executable, reason, of a goroutine why it waits, numbers of user and kernel frames; then these
  // frames, and interpreted ones.
  using Key = std::vector<std::uint32_t>;

  void set_key(const SiteWait& wait);
  void remember(const WaitClass& found);

  std::optional<SiteMatcher> matcher_;
  std::size_t most_stack_bytes_;
  std::uint32_t generation_ = 0;
  std::unordered_map<Key, WaitClass, WordsHash> known_;
  std::size_t known_bytes_ = 0;                         // of known_, about
  Key key_;                                             // of the wait in hand; kept for its room
  std::vector<FrameKind> user_, kernel_, interpreted_;  // likewise
  ClassifierWork work_;                                 // `names` without those of the rules in use
};

}  // namespace offcpud
