// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "why/cause.h"
#include "why/why_inputs.h"

namespace offcpud {

// The trees of all units of one host, each made once when it is asked for. Single-threaded.
class WhyUnits {
 public:
  // `inputs` must outlive the object.
  explicit WhyUnits(const WhyInputs& inputs) : inputs_(inputs) {}

  [[nodiscard]] const WhyInputs& inputs() const { return inputs_; }
  const UnitCauses& of(const std::string& unit) {
    const auto found = trees_.find(unit);
    if (found != trees_.end()) return found->second;
    return trees_.emplace(unit, causes_of(inputs_, unit)).first->second;
  }

 private:
  const WhyInputs& inputs_;
  std::map<std::string, UnitCauses> trees_;
};

}  // namespace offcpud
