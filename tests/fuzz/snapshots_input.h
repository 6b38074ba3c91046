// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <string>

#include "base/text.h"
#include "snapshot/snapshot.h"
#include "text.h"

namespace offcpud::fuzz {

// Only in an object: elsewhere it would be one of a process
// (docs/decisions/0014-who-sees-addresses.md).
inline bool may_have_address(const StackFrame& frame) {
  return frame.kernel || (!frame.object.empty() && frame.object != "[jit]");
}

// A snapshot as the daemon could have made it: frames exist, amounts are finite.
inline Snapshot take_snapshot(ByteReader& in) {
  const auto text = [&in] {
    const std::size_t size = in.take<std::uint8_t>() % 24;
    return std::string(text_of(in.take_bytes(std::min(size, in.rest().size()))));
  };
  Snapshot snapshot;
  snapshot.sequence = in.take<std::uint8_t>();
  snapshot.begin = WallTime(std::chrono::milliseconds(in.take<std::uint32_t>()));
  snapshot.duration = std::chrono::milliseconds(in.take<std::uint16_t>());
  snapshot.end = snapshot.begin + snapshot.duration;
  const auto flags = in.take<std::uint8_t>();
  snapshot.partial = (flags & 1U) != 0;
  if ((flags & 2U) != 0) snapshot.captured = {text()};
  const std::size_t frames = 1 + in.take<std::uint8_t>() % 16;
  for (std::size_t i = 0; i < frames; ++i) {
    const bool kernel = in.take<std::uint8_t>() % 2 != 0;
    StackFrame frame{
        text(), text(), text(), in.take<std::uint16_t>(), kernel, in.take<std::uint8_t>()};
    if (!may_have_address(frame)) frame.address = 0;
    snapshot.frames.push_back(std::move(frame));
  }
  const auto stack = [&] {
    std::vector<std::uint32_t> ids(in.take<std::uint8_t>() % 8);
    for (std::uint32_t& id : ids) id = static_cast<std::uint32_t>(in.take<std::uint8_t>() % frames);
    return ids;
  };
  const std::size_t entries = in.take<std::uint8_t>() % 24;
  for (std::size_t i = 0; i < entries; ++i) {
    StackEntry entry{.pid = in.take<std::uint8_t>(),
                     .comm = text(),
                     .thread_comm = text(),
                     .cgroup = text(),
                     .reason = in.take<std::uint8_t>() % std::size_t{OFFCPUD_BLOCKED_KINDS}};
    entry.wait_for = static_cast<WaitFor>(in.take<std::uint8_t>() % kWaitForNames.size());
    if (in.take<std::uint8_t>() % 2 != 0) entry.site = text();
    entry.in_progress = in.take<std::uint8_t>() % 4 == 0;
    entry.user = stack();
    entry.kernel = stack();
    if (in.take<std::uint8_t>() % 2 != 0) {
      entry.waker_comm = text();
      entry.waker_pid = in.take<std::uint8_t>();
      entry.waker_user = stack();
      entry.waker_kernel = stack();
    }
    entry.ns = in.take<std::uint64_t>() >> (8 + in.take<std::uint8_t>() % 48);
    entry.episodes = in.take<std::uint16_t>() / 4.0;
    entry.variance = in.take<std::uint32_t>();
    snapshot.entries.push_back(std::move(entry));
  }
  return snapshot;
}

// What every format makes of it: texts are UTF-8.
inline Snapshot as_text(Snapshot snapshot) {
  for (std::string& filter : snapshot.captured) filter = to_valid_utf8(filter);
  for (StackFrame& frame : snapshot.frames) {
    frame.function = to_valid_utf8(frame.function);
    frame.object = to_valid_utf8(frame.object);
    frame.build_id = to_valid_utf8(frame.build_id);
  }
  for (StackEntry& entry : snapshot.entries) {
    entry.comm = to_valid_utf8(entry.comm);
    entry.thread_comm = to_valid_utf8(entry.thread_comm);
    entry.cgroup = to_valid_utf8(entry.cgroup);
    entry.site = to_valid_utf8(entry.site);
    entry.waker_comm = to_valid_utf8(entry.waker_comm);
  }
  return snapshot;
}

// Bytes that give snapshots with a few entries.
inline std::vector<std::string> snapshot_seeds() {
  std::vector<std::string> all;
  for (unsigned seed = 1; seed <= 8; ++seed) {
    std::string bytes;
    for (unsigned i = 0, value = seed; i < 250 * seed; ++i) {
      value = value * 1'103'515'245U + 12'345U;
      bytes += static_cast<char>(value >> 16U);
    }
    all.push_back(bytes);
  }
  return all;
}

}  // namespace offcpud::fuzz
