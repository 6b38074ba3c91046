// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "pipeline/view.h"

namespace offcpud {

// Notices when more events of a cause are lost. Single-threaded.
class LossWatch {
 public:
  // Of the counts since the start those that are higher than at the last call; at the first call
  // those above 0.
  std::vector<LossCount> grown(const std::vector<LossCount>& losses);

 private:
  std::map<std::string, std::uint64_t> last_;  // by cause
};

}  // namespace offcpud
