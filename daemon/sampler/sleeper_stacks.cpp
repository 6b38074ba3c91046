// SPDX-License-Identifier: Apache-2.0
#include "sampler/sleeper_stacks.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace offcpud {
namespace {

// Most stacks of blocked threads are no deeper. The memory above the stack pointer has been used by
// the thread, so reading it allocates no new pages.
constexpr std::size_t kAhead = std::size_t{8} << 10;
constexpr std::size_t kFurther = std::size_t{16} << 10;  // if more is needed
constexpr std::size_t kElsewhere = 128;                  // code, and memory outside of the stack

// The memory of one thread: first what was read ahead, then in pieces what the walk asks for.
class WalkedMemory final : public StackMemory {
 public:
  WalkedMemory(const offcpud_blocked_record& record, const MemoryPiece* ahead,
               ProcessMemory& memory)
      : record_(record), memory_(memory) {
    if (ahead != nullptr) pieces_[kStack] = *ahead;
  }

  bool read(std::uint64_t address, void* to, std::size_t size) override {
    for (const MemoryPiece& piece : pieces_) {
      if (copy(piece, address, to, size)) return true;
    }
    return fetch(address, size) && copy(pieces_[last_], address, to, size);
  }

 private:
  enum Place : std::size_t { kStack, kMore, kOther, kPlaces };

  static bool copy(const MemoryPiece& piece, std::uint64_t address, void* to, std::size_t size) {
    if (address < piece.address || address - piece.address > piece.got ||
        size > piece.got - (address - piece.address)) {
      return false;
    }
    std::memcpy(to, piece.to.data() + (address - piece.address), size);
    return true;
  }

  bool fetch(std::uint64_t address, std::size_t size) {
    const bool in_stack = address >= record_.regs.sp && address - record_.regs.sp < kDeepest;
    last_ = in_stack ? kMore : kOther;
    MemoryPiece& piece = pieces_[last_];
    std::vector<std::byte>& bytes = bytes_.at(last_);
    bytes.resize(std::max(size, in_stack ? kFurther : kElsewhere));
    piece = {record_.sample.local_tgid, record_.sample.local_tid, address, bytes};
    memory_.read(std::span(&piece, 1));
    return piece.got >= size;
  }

  static constexpr std::uint64_t kDeepest = std::uint64_t{8} << 20;
  const offcpud_blocked_record& record_;
  ProcessMemory& memory_;
  std::array<MemoryPiece, kPlaces> pieces_{};
  std::array<std::vector<std::byte>, kPlaces> bytes_;
  std::size_t last_ = kStack;
};

std::pair<std::uint32_t, std::uint64_t> key_of(const offcpud_blocked_record& record) {
  return {record.sample.tid, record.sample.since_ns};
}

}  // namespace

void SleeperStacks::read_ahead(std::span<const offcpud_blocked_record> records) {
  pieces_.clear();
  if (lookup_ == nullptr) return;
  std::vector<const offcpud_blocked_record*> wanted;
  for (const offcpud_blocked_record& record : records) {
    const bool later = (record.sample.flags & OFFCPUD_SAMPLE_STACK_LATER) != 0;
    if (later && !known_.contains(key_of(record))) wanted.push_back(&record);
  }
  ahead_.resize(wanted.size() * kAhead);
  std::vector<MemoryPiece> pieces;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const offcpud_sample& sample = wanted[i]->sample;
    pieces.push_back({sample.local_tgid, sample.local_tid, wanted[i]->regs.sp,
                      std::span(ahead_).subspan(i * kAhead, kAhead)});
  }
  memory_.read(pieces);
  for (std::size_t i = 0; i < wanted.size(); ++i) pieces_[key_of(*wanted[i])] = pieces[i];
}

RemoteStack SleeperStacks::walk(const offcpud_blocked_record& record) {
  if (lookup_ == nullptr) return {.addresses = {}, .end = OFFCPUD_UNWIND_END_READ};
  const auto ahead = pieces_.find(key_of(record));
  WalkedMemory memory(record, ahead == pieces_.end() ? nullptr : &ahead->second, memory_);
  const UserRegisters registers{record.regs.ip, record.regs.sp, record.regs.bp, record.regs.di};
  return walk_remote_stack(record.sample.local_tgid, registers, *lookup_, memory);
}

const RemoteStack& SleeperStacks::stack_of(const offcpud_blocked_record& record) {
  const auto found = known_.find({record.sample.tid, record.sample.since_ns});
  if (found != known_.end()) {
    found->second.used = true;
    return found->second.stack;
  }
  last_ = walk(record);
  // A stack without its root is not kept: the next walk may do better, once a new process is known.
  const std::size_t bytes = bytes_of(last_);
  if (bytes_ + bytes > kMostBytes || last_.end != OFFCPUD_UNWIND_END_ROOT) return last_;
  bytes_ += bytes;
  last_.addresses.shrink_to_fit();
  last_.stack_pointers.shrink_to_fit();
  return known_.try_emplace({record.sample.tid, record.sample.since_ns}, Known{std::move(last_)})
      .first->second.stack;
}

std::size_t SleeperStacks::bytes_of(const RemoteStack& stack) {
  constexpr std::size_t kNode = 48 + sizeof(decltype(known_)::value_type);  // of a std::map
  return kNode + (stack.addresses.size() + stack.stack_pointers.size()) * sizeof(std::uint64_t);
}

void SleeperStacks::end_walk() {
  pieces_.clear();
  for (auto known = known_.begin(); known != known_.end();) {
    const auto next = std::next(known);
    if (!std::exchange(known->second.used, false)) {
      bytes_ -= bytes_of(known->second.stack);
      known_.erase(known);
    }
    known = next;
  }
}

}  // namespace offcpud
