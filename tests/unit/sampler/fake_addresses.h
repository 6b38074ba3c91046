// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "sampler/address_locator.h"

namespace offcpud::test {

// Knows nothing of any process.
class FakeAddresses final : public AddressLocator {
 public:
  void follow() override {
    if (in_the_middle) in_the_middle();
  }
  void forget_ended() override {}
  [[nodiscard]] std::vector<LocatedFrame> locate(std::uint32_t /*tgid*/, std::uint64_t /*when_ns*/,
                                                 std::span<const __u64> addresses) const override {
    return std::vector<LocatedFrame>(addresses.size());
  }
  std::function<void()> in_the_middle;
};

}  // namespace offcpud::test
