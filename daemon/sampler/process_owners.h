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

// Finds the users of sampled processes. Each process is looked up once, which takes 25 us, and
// remembered. A process that has ended by then belongs to nobody. Used by one thread.
class ProcessOwners {
 public:
  // The most processes that are remembered: more than the blocks of a window can have. Beyond that,
  // the half that was looked up longest ago is forgotten at once.
  static constexpr std::size_t kMost = 49'152;

  using UserOf = std::function<ShareOwner(std::uint32_t tgid)>;  // in the daemon's PID namespace
  explicit ProcessOwners(UserOf user_of = real_uid_of) : user_of_(std::move(user_of)) {}

  // `local_tgid`: in the daemon's PID namespace. `keep`: how many of the allowed look-ups this call
  // must leave to others.
  ShareOwner of(std::uint32_t local_tgid, std::uint64_t process_start_ns, std::size_t keep = 0);
  ShareOwner of(const offcpud_sample& sample) {
    return of(sample.local_tgid, sample.process_start_ns);
  }
  // Allows this many more look-ups. Beyond, unknown processes belong to nobody until the next call.
  void allow(std::size_t questions) { questions_ = questions; }

 private:
  UserOf user_of_;
  std::size_t questions_ = ~std::size_t{0};
  using Owners = std::map<std::pair<std::uint32_t, std::uint64_t>, ShareOwner>;
  Owners known_, earlier_;  // by number and start; a process is in one of them
};

}  // namespace offcpud
