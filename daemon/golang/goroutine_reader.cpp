// SPDX-License-Identifier: Apache-2.0
#include "golang/goroutine_reader.h"

#include <algorithm>
#include <utility>

#include "golang/go_layout.h"
#include "reader/memory_words.h"

namespace offcpud {
namespace {

// Most stacks end within this many bytes of their stack pointers.
constexpr std::uint64_t kFirstBytes = 1'024;
// Steps in the table of functions in one look; programs take a tenth.
constexpr std::size_t kMostSteps = std::size_t{4} << 20;

}  // namespace

struct GoroutineReader::Wanted {
  std::uint64_t address = 0;
  Wait wait;
  std::uint64_t low = 0, high = 0;
  std::vector<std::byte> bytes;  // of the stack
  GoStack stack;

  [[nodiscard]] bool has_stack() const {
    return low <= wait.stack_pointer && wait.stack_pointer < high;
  }
  [[nodiscard]] std::uint64_t room() const { return has_stack() ? high - wait.stack_pointer : 0; }
};

GoroutineReader::GoroutineReader(ProcessMemory& memory, const Clock& clock, std::uint32_t tgid,
                                 const GoRuntime& runtime, GoFunctions& functions,
                                 GoroutineLimits limits)
    : memory_(memory),
      clock_(clock),
      tgid_(tgid),
      runtime_(runtime),
      functions_(functions),
      limits_(limits) {
  stacks_.push_back(std::make_unique<const GoStack>());  // kChanged
  stacks_.push_back(std::make_unique<const GoStack>());  // kLeftOut
}

// The runtime puts the list elsewhere when it grows, and may use the memory of the old one for
// other things. It never frees a goroutine.
std::optional<GoroutineReader::List> GoroutineReader::read_list() const {
  constexpr int kTries = 3;
  const MemoryWords memory(memory_, tgid_);
  for (int i = 0; i < kTries; ++i) {
    const auto slice = read_go_slice(memory, runtime_.all);
    if (!slice) return std::nullopt;
    const auto bytes = memory.range(slice->at, std::min(slice->length, kMostAddresses) * kGoWord);
    const auto after = read_go_slice(memory, runtime_.all);
    if (!after || after->at != slice->at || bytes.empty()) continue;
    List list{.length = slice->length, .addresses = {}};
    for (std::size_t at = 0; at + kGoWord <= bytes.size(); at += kGoWord) {
      list.addresses.push_back(value_at<std::uint64_t>(bytes, at));
    }
    return list;
  }
  return std::nullopt;
}

// Every k-th goroutine belongs to one part, so that parts are alike, and those that are left out
// for lack of time are no special ones.
std::optional<GoroutineLook> GoroutineReader::look() {
  GoroutineLook look{.at = clock_.now(), .waiting = {}};
  const auto list = read_list();
  if (!list) return std::nullopt;
  const std::vector<std::uint64_t>& all = list->addresses;
  ++looks_;
  functions_.allow(kMostSteps);
  look.all = list->length;
  const std::size_t parts = (all.size() + kAtOnce - 1) / kAtOnce;
  const std::size_t first = limits_.takes_turns && parts > 0 ? looks_ % parts : 0;
  for (std::size_t done = 0; done < parts; ++done) {
    const bool has_room =
        look.looked_at < limits_.goroutines && clock_.now() - look.at < limits_.time;
    if (done > 0 && !has_room) break;
    const std::size_t part = (first + done) % parts;
    std::vector<std::uint64_t> addresses;
    for (std::size_t i = part; i < all.size(); i += parts) addresses.push_back(all[i]);
    read_some(addresses, look);
  }
  std::erase_if(known_, [this](const auto& known) { return known.second.look != looks_; });
  return look;
}

void GoroutineReader::read_some(std::span<const std::uint64_t> addresses, GoroutineLook& look) {
  const MemoryParts parts(memory_, tgid_, addresses, kGoroutineBytes);
  std::vector<Wanted> wanted;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    ++look.looked_at;
    if (!parts.has(i)) {
      ++look.unreadable;
      continue;
    }
    const auto goroutine = parts.bytes(i);
    count(goroutine, look);
    if (!waits(goroutine)) continue;
    const Wait wait = wait_of(goroutine);
    const auto known = known_.find(addresses[i]);
    const bool was_seen = known != known_.end() && known->second.look + 1 == looks_;
    if (was_seen && is_same_wait(known->second.wait, wait)) {
      Known& same = known->second;
      same.wait = wait;
      same.look = looks_;
      ++same.sightings;
      look.waiting.push_back(
          {wait.id, wait.reason, same.stack, wait.since_ns, same.sightings, same.seen_since});
      if (stack(same.stack).end == GoStack::End::Lost && same.stack > kLeftOut) ++look.lost;
      continue;
    }
    wanted.push_back({.address = addresses[i],
                      .wait = wait,
                      .low = value_at<std::uint64_t>(goroutine, kGoStackLow),
                      .high = value_at<std::uint64_t>(goroutine, kGoStackHigh),
                      .bytes = {},
                      .stack = {}});
  }
  read_stacks(wanted);
  settle(wanted, look);
}

// First a little of each stack, then the rest of those that need it.
void GoroutineReader::read_stacks(std::vector<Wanted>& wanted) {
  for (const std::uint64_t most : {kFirstBytes, std::uint64_t{GoStack::kMostBytes}}) {
    std::vector<MemoryPiece> pieces;
    std::vector<Wanted*> active;
    for (Wanted& each : wanted) {
      const bool goes_on = each.bytes.empty() || each.stack.end == GoStack::End::More;
      const std::uint64_t size = std::min(most, each.room());
      if (!goes_on || size <= each.bytes.size()) continue;
      each.bytes.resize(size);
      active.push_back(&each);
      pieces.push_back(
          {.tgid = tgid_, .tid = tgid_, .address = each.wait.stack_pointer, .to = each.bytes});
    }
    memory_.read(pieces);
    for (std::size_t i = 0; i < active.size(); ++i) {
      Wanted& each = *active[i];
      const auto bytes = std::span(each.bytes).first(pieces[i].got);
      each.stack = walk_go_stack(functions_, each.wait.instruction, bytes, each.room());
    }
  }
}

// Reads the goroutines again: the stack of one that is as it was is the stack with which it waited.
void GoroutineReader::settle(std::vector<Wanted>& wanted, GoroutineLook& look) {
  std::vector<std::uint64_t> addresses;
  addresses.reserve(wanted.size());
  for (const Wanted& each : wanted) addresses.push_back(each.address);
  const MemoryParts parts(memory_, tgid_, addresses, kGoroutineBytes);
  const MonotonicTime seen_at = clock_.now();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    Wanted& each = wanted[i];
    const auto now = parts.bytes(i);
    const Wait wait = wait_of(now);
    const bool is_unchanged = parts.has(i) && waits(now) && is_alike(each.wait, wait) &&
                              value_at<std::uint64_t>(now, kGoStackLow) == each.low &&
                              value_at<std::uint64_t>(now, kGoStackHigh) == each.high;
    std::uint32_t number = kChanged;
    if (is_unchanged) {
      // A stack with more frames than its bytes hold was not read whole.
      if (each.stack.end == GoStack::End::More) each.stack.end = GoStack::End::Lost;
      if (each.stack.end == GoStack::End::Lost) ++look.lost;
      number = number_of(std::move(each.stack));
      known_[each.address] = {.wait = each.wait,
                              .stack = number,
                              .sightings = 1,
                              .seen_since = seen_at,
                              .look = looks_};
    } else {
      ++look.changed;
    }
    look.waiting.push_back(
        {each.wait.id, each.wait.reason, number, each.wait.since_ns, 1, seen_at});
  }
}

GoroutineReader::Wait GoroutineReader::wait_of(std::span<const std::byte> goroutine) const {
  const GoLayout& layout = *runtime_.layout;
  return {.id = value_at<std::uint64_t>(goroutine, layout.id),
          .stack_pointer = value_at<std::uint64_t>(goroutine, layout.stack_pointer),
          .instruction = value_at<std::uint64_t>(goroutine, layout.instruction),
          .since_ns = value_at<std::uint64_t>(goroutine, layout.wait_since),
          .reason = value_at<std::uint8_t>(goroutine, layout.wait_reason),
          .counter = value_at<std::uint8_t>(goroutine, runtime_.counter)};
}

// `since_ns` may be set while a goroutine waits; it is cleared when the goroutine runs.
bool GoroutineReader::is_alike(const Wait& one, const Wait& other) {
  return one.id == other.id && one.stack_pointer == other.stack_pointer &&
         one.instruction == other.instruction && one.reason == other.reason &&
         one.counter == other.counter && (one.since_ns == 0 || one.since_ns == other.since_ns);
}

// Between two looks there is time to wait twice at one place. A goroutine that ran in between has
// counted on; without a counter, `since_ns` tells, if it is set.
bool GoroutineReader::is_same_wait(const Wait& one, const Wait& other) const {
  return is_alike(one, other) && (runtime_.counter != 0 || one.since_ns != 0);
}

bool GoroutineReader::waits(std::span<const std::byte> goroutine) const {
  return go_status(value_at<std::uint32_t>(goroutine, runtime_.layout->status)) ==
         GoStatus::Waiting;
}

void GoroutineReader::count(std::span<const std::byte> goroutine, GoroutineLook& look) const {
  switch (go_status(value_at<std::uint32_t>(goroutine, runtime_.layout->status))) {
    case GoStatus::Runnable:
      ++look.runnable;
      break;
    case GoStatus::Running:
      ++look.running;
      break;
    case GoStatus::InCall:
      ++look.in_call;
      break;
    case GoStatus::Waiting:
      break;
    case GoStatus::Dead:
      ++look.ended;
      break;
    default:
      ++look.other;
  }
}

std::uint32_t GoroutineReader::number_of(GoStack stack) {
  const auto known = numbers_.find(stack.functions);
  if (known != numbers_.end()) return known->second;
  if (numbers_.size() >= limits_.stacks) return kLeftOut;
  const auto number = static_cast<std::uint32_t>(stacks_.size());
  numbers_.emplace(stack.functions, number);
  stacks_.push_back(std::make_unique<const GoStack>(std::move(stack)));
  return number;
}

}  // namespace offcpud
