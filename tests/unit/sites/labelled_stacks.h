// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "ctl/read_stacks.h"
#include "sites/site_matcher.h"
#include "sites/site_rules.h"

namespace offcpud {

// A line of tests/data/wait-sites.
struct LabelledStack {
  std::string place;  // "cw-all.folded:12", "recorded/mariadb-idle.folded:3"
  // Of the study, which also has what is known of wakers and files. The others were recorded by a
  // daemon (tests/wait-sites/run --record).
  bool of_study = false;
  WaitFor label = WaitFor::Unknown;
  ReadStack stack;
};

// All of them, in the order of their files. Throws where they cannot be read.
std::vector<LabelledStack> labelled_stacks();

// The rules of config/wait-sites. Throws where they are refused.
std::shared_ptr<const SiteRules> shipped_rules();

// The wait of a stack, with numbers of one matcher.
class MatchedStack {
 public:
  MatchedStack(const ReadStack& stack, SiteMatcher& matcher);
  MatchedStack(const MatchedStack&) = delete;  // the wait refers to the members
  MatchedStack& operator=(const MatchedStack&) = delete;

  [[nodiscard]] const SiteWait& wait() const { return wait_; }

 private:
  std::vector<FrameKind> user_, kernel_, interpreted_;
  SiteWait wait_;
};

}  // namespace offcpud
