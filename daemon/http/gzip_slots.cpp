// SPDX-License-Identifier: Apache-2.0
#include "http/gzip_slots.h"

#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

namespace offcpud {

struct GzipSlots::Slots {
  explicit Slots(unsigned most) : free(most) {}

  std::optional<GzipRefusal> take(const std::string& peer) {
    const std::lock_guard lock(mutex);
    if (free == 0) return GzipRefusal::All;
    unsigned& of_peer = taken[peer];  // each peer here has some, or gets one: free is above 0
    if (of_peer >= free) return GzipRefusal::Peer;
    ++of_peer;
    --free;
    return std::nullopt;
  }

  void give_back(const std::string& peer) {
    const std::lock_guard lock(mutex);
    ++free;
    const auto of_peer = taken.find(peer);
    if (--of_peer->second == 0) taken.erase(of_peer);
  }

  std::mutex mutex;
  unsigned free;
  std::unordered_map<std::string, unsigned> taken;  // by peer; never 0
};

GzipSlots::GzipSlots(unsigned most, std::function<void(GzipRefusal)> refused)
    : slots_(std::make_shared<Slots>(most)), refused_(std::move(refused)) {}

std::shared_ptr<const void> GzipSlots::take(const std::string& peer) const {
  if (const auto refusal = slots_->take(peer)) {
    if (refused_) refused_(*refusal);
    return nullptr;
  }
  return {slots_.get(), [slots = slots_, peer](const void*) { slots->give_back(peer); }};
}

}  // namespace offcpud
