// SPDX-License-Identifier: Apache-2.0
#include "push/push_queue.h"

#include <utility>

namespace offcpud {

std::size_t PushQueue::push(PushItem item) {
  bytes_ += item.pprof.size();
  items_.push_back(std::make_shared<const PushItem>(std::move(item)));
  return shrink();
}

std::size_t PushQueue::set_most_bytes(std::uint64_t most_bytes) {
  most_bytes_ = most_bytes;
  return shrink();
}

std::size_t PushQueue::clear() {
  const std::uint64_t most = std::exchange(most_bytes_, 0);
  const std::size_t dropped = shrink();
  most_bytes_ = most;
  return dropped;
}

std::shared_ptr<const PushItem> PushQueue::begin_sending() {
  sending_ = true;
  return items_.front();
}

void PushQueue::remove_sent() {
  sending_ = false;
  bytes_ -= items_.front()->pprof.size();
  items_.pop_front();
  attempts_ = 0;
}

std::size_t PushQueue::keep_unsent() {
  sending_ = false;
  return shrink();
}

std::size_t PushQueue::shrink() {
  const std::size_t first = sending_ ? 1 : 0;
  std::size_t dropped = 0;
  while (items_.size() > first && (bytes_ > most_bytes_ || items_.size() > kMostItems)) {
    const auto oldest = items_.begin() + static_cast<std::ptrdiff_t>(first);
    bytes_ -= (*oldest)->pprof.size();
    items_.erase(oldest);
    if (first == 0) attempts_ = 0;
    ++dropped;
  }
  return dropped;
}

}  // namespace offcpud
