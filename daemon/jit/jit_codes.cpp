// SPDX-License-Identifier: Apache-2.0
#include "jit/jit_codes.h"

#include <algorithm>

namespace offcpud {
namespace {

// Of the code and of its reader, which has each name once more.
std::size_t bytes_of(const JitCode& code) {
  constexpr std::size_t kOfReader = 64;  // an entry, and its node in the table
  std::size_t bytes = 0;
  for (const JitFunction& function : code.functions) {
    bytes += sizeof(JitFunction) + kOfReader + 2 * function.name.capacity();
  }
  return bytes;
}

}  // namespace

void JitCodeBoard::put(const PerfMapProcess& process, std::shared_ptr<const JitCode> code) {
  const std::lock_guard hold(mutex_);
  if (code) {
    codes_[process].swap(code);
  } else {
    codes_.erase(process);
  }
}

std::shared_ptr<const JitCode> JitCodeBoard::find(const PerfMapProcess& process) const {
  const std::lock_guard hold(mutex_);
  const auto found = codes_.find(process);
  return found == codes_.end() ? nullptr : found->second;
}

void JitCodes::seen(const PerfMapProcess& process, std::uint64_t base,
                    std::span<const std::uint64_t> addresses) {
  const MonotonicTime now = clock_.now();
  if (!processes_.contains(process) && processes_.size() == kMostProcesses) forget_oldest();
  Known& known = processes_[process];
  known.seen = now;
  if (known.base != base) {
    known = {.base = base,
             .reader = {},
             .code = {},
             .bytes = 0,
             .seen = now,
             .due = now,
             .soonest = now};
    return;
  }
  if (!known.code) return;
  const auto is_new = [&code = *known.code](std::uint64_t address) {
    return code.is_within(address) && code.find(address) == nullptr;
  };
  if (std::ranges::any_of(addresses, is_new)) known.due = std::min(known.due, known.soonest);
}

void JitCodes::forget_oldest() {
  const auto oldest = std::ranges::min_element(
      processes_, {}, [](const auto& process) { return process.second.seen; });
  board_->put(oldest->first, nullptr);
  processes_.erase(oldest);
}

void JitCodes::make_room(const Known& but) {
  const auto total = [this] {
    std::size_t bytes = 0;
    for (const auto& [process, known] : processes_) bytes += known.bytes;
    return bytes;
  };
  while (total() > most_bytes_) {
    const auto oldest = std::ranges::min_element(processes_, {}, [&](const auto& process) {
      const Known& known = process.second;
      return std::pair(known.bytes == 0 || &known == &but, known.seen);
    });
    Known& known = oldest->second;
    if (known.bytes == 0 || &known == &but) return;
    board_->put(oldest->first, nullptr);
    known.reader.reset();
    known.code.reset();
    known.bytes = 0;
    known.due = known.soonest = clock_.now() + kLatest;
  }
}

void JitCodes::refresh() {
  const MonotonicTime now = clock_.now();
  for (auto process = processes_.begin(); process != processes_.end(); ++process) {
    if (now - process->second.seen > kKept) {
      board_->put(process->first, nullptr);
      processes_.erase(process);
      return;
    }
    const bool is_used = now - process->second.seen <= kUsed || !process->second.code;
    if (process->second.due <= now && is_used) return read(process->first, process->second);
  }
}

void JitCodes::read(const PerfMapProcess& process, Known& known) {
  const MonotonicTime begin = clock_.now();
  const MemoryWords memory(memory_, process.tgid);
  if (!known.reader) {
    if (const auto layout = read_hotspot_layout(memory, known.base)) known.reader.emplace(*layout);
  }
  std::optional<JitCode> code;
  if (known.reader) code = known.reader->read(memory);
  if (code && (!known.code || *code != *known.code)) {
    known.code = std::make_shared<const JitCode>(*std::move(code));
    known.bytes = bytes_of(*known.code);
    make_room(known);
    board_->put(process, known.code);
    changed_(process.tgid, *known.code);
  }
  const MonotonicTime now = clock_.now();
  const auto pause = std::min<std::chrono::nanoseconds>(kShare * (now - begin), kLatest);
  known.soonest = now + std::max<std::chrono::nanoseconds>(kSoonest, pause);
  known.due = now + std::max<std::chrono::nanoseconds>(kInterval, pause);
}

}  // namespace offcpud
