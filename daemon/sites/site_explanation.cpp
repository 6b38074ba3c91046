// SPDX-License-Identifier: Apache-2.0
#include "sites/site_explanation.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

#include "base/printable.h"
#include "sites/site_rule_keys.h"

namespace offcpud {
namespace {

class Explainer {
 public:
  Explainer(SiteMatcher& matcher, const SiteWait& wait) : matcher_(matcher), wait_(wait) {}

  SiteExplanation explain() {
    SiteExplanation explanation;
    explanation.rule = matcher_.find(wait_);
    for (const PreparedRule& each : matcher_.rules().rules()) {
      if (&each == explanation.rule) break;
      if (each.rule.is_for_goroutines() != wait_.goroutine.has_value()) continue;
      bool partly = false;
      std::string lacks = only_lack(each, partly);
      if (!lacks.empty()) explanation.near.push_back({&each, std::move(lacks), partly});
    }
    std::stable_partition(explanation.near.begin(), explanation.near.end(),
                          [](const NearRule& near) { return near.partly; });
    if (explanation.rule != nullptr) {
      add_frames(explanation, explanation.rule->match, wait_.user, false);
      add_frames(explanation, explanation.rule->interpreted, wait_.interpreted, false);
      add_frames(explanation, explanation.rule->kernel, wait_.kernel, true);
    }
    return explanation;
  }

 private:
  using Frames = std::span<const FrameKind>;
  using Steps = std::span<const SiteStep>;

  [[nodiscard]] const FramePattern& pattern(const SiteStep& step) const {
    return matcher_.rules().patterns().patterns()[step.pattern];
  }

  void add_frames(SiteExplanation& explanation, Steps steps, Frames frames, bool kernel) {
    StepPlaces places{};
    if (!matcher_.find_in(steps, frames, places)) return;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      explanation.frames.push_back({.kernel = kernel,
                                    .frame = frames.size() - 1 - places[i],
                                    .pattern = &pattern(steps[i])});
    }
  }

  [[nodiscard]] bool is_there(const SiteStep& step, Frames frames) const {
    return std::ranges::any_of(frames,
                               [&](FrameKind frame) { return matcher_.fits(frame, step.pattern); });
  }

  // Empty: the steps are found. Whatever is somewhere in the frames counts as `partly`.
  std::string lack(std::string_view key, Steps steps, Frames frames, bool& partly) {
    StepPlaces places{};
    if (matcher_.find_in(steps, frames, places)) return {};
    std::string missing;
    for (const SiteStep& step : steps) {
      const std::string& text = pattern(step).text;
      if (is_there(step, frames)) {
        partly = partly || text != kAnyFunction;
      } else if (missing.empty()) {
        missing = std::string(key) + ": no frame fits " + excerpt(text);
      }
    }
    if (missing.empty()) missing = std::string(key) + ": all are there, but not in this order";
    return missing;
  }

  // The only condition that does not hold, if another condition or a part of this one does. A
  // reason that fits does not count: it fits for half of all rules.
  std::string only_lack(const PreparedRule& each, bool& partly) {
    const SiteRule& rule = each.rule;
    std::vector<std::string> lacks;
    std::size_t held = 0;
    if (!rule.exe.alternatives.empty()) {
      if (exe_fits(each)) {
        ++held;
      } else {
        lacks.push_back("exe: " + excerpt(rule.exe.text));
      }
    }
    if (rule.reasons != 0) {
      const bool fits = wait_.reason && (rule.reasons >> *wait_.reason & 1U) != 0;
      if (!fits)
        lacks.push_back("reason: " + reason_text(rule) + (wait_.reason ? "" : " (not known)"));
    }
    for (const auto& [key, steps, frames] :
         {std::tuple{"match", Steps(each.match), wait_.user},
          std::tuple{"interpreted", Steps(each.interpreted), wait_.interpreted},
          std::tuple{"kernel", Steps(each.kernel), wait_.kernel}}) {
      if (steps.empty()) continue;
      std::string missing = lack(key, steps, frames, partly);
      if (missing.empty()) {
        ++held;
      } else {
        lacks.push_back(std::move(missing));
      }
    }
    if (lacks.size() != 1 || (held == 0 && !partly)) return {};
    return lacks.front();
  }

  [[nodiscard]] bool exe_fits(const PreparedRule& each) const {
    const auto all = matcher_.rules().patterns().patterns();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto number = static_cast<PatternNumber>(i);
      if (all[i].kind == PatternKind::Exe && contains(each.needed, number)) {
        return matcher_.fits(wait_.exe, number);
      }
    }
    return true;
  }

  static std::string reason_text(const SiteRule& rule) {
    return find_setting(site_rule_keys(), "reason")->text(rule);
  }

  SiteMatcher& matcher_;
  const SiteWait& wait_;
};

}  // namespace

SiteExplanation explain_site(SiteMatcher& matcher, const SiteWait& wait) {
  return Explainer(matcher, wait).explain();
}

}  // namespace offcpud
