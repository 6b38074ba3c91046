// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sites/site_matcher.h"

namespace offcpud {

// A frame that a rule looked for.
struct FrameOfRule {
  bool kernel = false;
  std::size_t frame =
      0;  // index into SiteWait::user, kernel or, by the pattern's kind, interpreted
  const FramePattern* pattern = nullptr;  // the pattern that it fits
};

// A rule that would have taken the wait but for one of its conditions.
struct NearRule {
  const PreparedRule* rule = nullptr;
  std::string lacks;    // "exe: postgres"
  bool partly = false;  // a part of what is lacking is on the stack
};

// Which rule takes a wait, and why. Pointers are good as long as the rules.
struct SiteExplanation {
  const PreparedRule* rule = nullptr;  // null: no rule takes it
  // Innermost first: those of `user`, then those of `interpreted`, then those of `kernel`.
  std::vector<FrameOfRule> frames;
  std::vector<NearRule> near;  // of those before `rule`, partly fitting ones first
};

SiteExplanation explain_site(SiteMatcher& matcher, const SiteWait& wait);

}  // namespace offcpud
