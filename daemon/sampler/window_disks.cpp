// SPDX-License-Identifier: Apache-2.0
#include "sampler/window_disks.h"

#include <string>

#include "peers/peer_text.h"
#include "peers/whole_disks.h"

namespace offcpud {

DisksOfDevices disks_of(const WaitWindow& window) {
  DisksOfDevices disks;
  const auto add = [&](const std::string& on) {
    if (!on.starts_with(kOnDevice)) return;
    const auto [device, is_new] = disks.try_emplace(on.substr(kOnDevice.size()));
    if (is_new) device->second = whole_disks(device->first);
  };
  for (const PeerWaits& waits : window.peers) add(waits.on);
  for (const auto* chains : {&window.chains, &window.process_chains}) {
    for (const ChainWaits& waits : *chains) {
      for (const ChainWaits::Step& step : waits.steps) add(step.on);
    }
  }
  return disks;
}

}  // namespace offcpud
