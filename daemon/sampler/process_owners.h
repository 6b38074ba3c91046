// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "base/share_owner.h"
#include "mappings/fair_share.h"
#include "sample.h"

namespace offcpud {

// Whose processes samples are of. Each process is asked for once, 25 us, and remembered; one that
// has ended by then is nobody's. Used by one thread.
class ProcessOwners {
 public:
  static constexpr std::size_t kMost = 16'384;  // processes that are remembered

  using UserOf = std::function<ShareOwner(std::uint32_t tgid)>;  // in the daemon's PID namespace
  explicit ProcessOwners(UserOf user_of = real_uid_of) : user_of_(std::move(user_of)) {}

  ShareOwner of(const offcpud_sample& sample);

 private:
  UserOf user_of_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, ShareOwner> known_;  // by number and start
};

}  // namespace offcpud
