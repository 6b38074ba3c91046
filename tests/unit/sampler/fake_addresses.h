// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "sampler/address_locator.h"

namespace offcpud::test {

// Knows nothing of any process, but that all code is of `file`.
class FakeAddresses final : public AddressLocator {
 public:
  void follow() override {
    if (in_the_middle) in_the_middle();
  }
  void forget_ended() override {}
  [[nodiscard]] std::vector<LocatedFrame> locate(std::uint32_t /*tgid*/, std::uint64_t /*when_ns*/,
                                                 std::span<const __u64> addresses) const override {
    std::vector<LocatedFrame> frames(addresses.size());
    for (LocatedFrame& frame : frames) frame.file = file;
    return frames;
  }
  std::function<void()> in_the_middle;
  std::shared_ptr<const MappedFile> file;  // null: that is not known either
};

}  // namespace offcpud::test
