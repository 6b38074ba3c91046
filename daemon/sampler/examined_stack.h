// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/wait_window.h"
#include "sites/place_classes.h"
#include "sites/site_rule.h"
#include "sites/waker_evidence.h"

namespace offcpud {

// What a stack says its waits are for, and what evidence may say instead. Used by one thread.
class ExaminedStack {
 public:
  // `wait` has its functions, also if it is idle. `ask` None: nothing else can be said of it.
  ExaminedStack(ExaminedWait wait, SiteQuestion ask, const ProcessPlace& at);

  // By names and files.
  [[nodiscard]] const std::shared_ptr<const ExaminedWait>& wait() const { return wait_; }
  // The evidence that may decide instead; None: that has been decided.
  [[nodiscard]] SiteQuestion ask() const { return ask_; }
  [[nodiscard]] const ProcessPlace& at() const { return at_; }
  [[nodiscard]] EvidenceVerdict verdict() const { return {wait_->wait_for, wait_->certain}; }

  // The wait of a block of which evidence says this. Blocks with equal verdicts share it.
  std::shared_ptr<const ExaminedWait> as(const EvidenceVerdict& verdict);

  [[nodiscard]] std::size_t bytes() const;  // about

 private:
  std::shared_ptr<const ExaminedWait> wait_;
  SiteQuestion ask_;
  ProcessPlace at_;
  std::vector<std::string> user_, kernel_;  // kept while evidence may decide
  std::vector<std::shared_ptr<const ExaminedWait>> others_;
};

}  // namespace offcpud
