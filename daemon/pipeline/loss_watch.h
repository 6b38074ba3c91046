// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "pipeline/view.h"

namespace offcpud {

// Finds causes of losses whose count of events grew. Single-threaded.
class LossWatch {
 public:
  // `losses` counts since the start. Returns those that are higher than at the last call; at the
  // first call, those above 0.
  std::vector<LossCount> grown(const std::vector<LossCount>& losses);

 private:
  std::map<std::string, std::uint64_t> last_;  // by cause
};

}  // namespace offcpud
