// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "base/wait_for.h"
#include "peers/device_names.h"
#include "peers/wait_peer.h"
#include "sampler/window_paths.h"

namespace offcpud {

// Names whom or what waits were on, within one window: PeerWaits::on. Used by one thread.
class PeerNames {
 public:
  // Both must outlive the object.
  PeerNames(WindowPaths& paths, DeviceNames& devices) : paths_(paths), devices_(devices) {}

  struct Unit {
    std::string cgroup, name;
  };
  // Valid as long as the object.
  const Unit& unit_of(std::uint64_t cgroup_id);

  std::string on(const WaitPeer& peer, WaitFor wait_for);

 private:
  WindowPaths& paths_;
  DeviceNames& devices_;
  std::unordered_map<std::uint64_t, Unit> units_;  // by cgroup
};

}  // namespace offcpud
