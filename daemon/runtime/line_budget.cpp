// SPDX-License-Identifier: Apache-2.0
#include "runtime/line_budget.h"

#include <utility>

namespace offcpud {

bool LineBudget::admit(std::uint64_t things) {
  if (period_is_over()) {
    begun_ = clock_.now();
    admitted_ = 0;
  }
  if (admitted_ >= lines_) {
    left_out_ += things;
    return false;
  }
  ++admitted_;
  return true;
}

std::uint64_t LineBudget::take_left_out() {
  return period_is_over() ? std::exchange(left_out_, 0) : 0;
}

}  // namespace offcpud
