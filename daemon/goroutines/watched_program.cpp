// SPDX-License-Identifier: Apache-2.0
#include "goroutines/watched_program.h"

#include <algorithm>
#include <string_view>

#include "golang/goroutine_ages.h"
#include "goroutines/waiting_function.h"

namespace offcpud {
namespace {

// If fewer wait, a single stack that ends elsewhere proves nothing.
constexpr std::size_t kFew = 4;
// All stacks are forgotten, when others find no room, at most this often.
constexpr std::chrono::minutes kRenew{1};

bool are_stacks(const GoroutineLook& look) {
  return look.waiting.size() < kFew || look.lost * 2 <= look.waiting.size();
}

bool lacks_room(const GoroutineLook& look) {
  const auto without = std::ranges::count(look.waiting, GoroutineReader::kLeftOut,
                                          [](const WaitingGoroutine& one) { return one.stack; });
  return static_cast<std::size_t>(without) * 10 > look.waiting.size();
}

}  // namespace

WatchedProgram::WatchedProgram(std::unique_ptr<GoProgram> program, ProcessMemory& memory,
                               const Clock& clock, std::uint32_t pid)
    : program_(std::move(program)), memory_(memory), clock_(clock), pid_(pid) {
  renew_reader();
}

void WatchedProgram::renew_reader() {
  reader_.emplace(memory_, clock_, pid_, program_->runtime(), program_->functions(), kLimits);
  places_.clear();
  renewed_ = clock_.now();
}

std::optional<WatchedProgram::Look> WatchedProgram::look(std::chrono::nanoseconds time,
                                                         WaitClassifier& classifier) {
  reader_->set_time(time);
  const auto look = reader_->look();
  failure_ = look ? Failure::Stacks : Failure::Gone;
  if (!look || !are_stacks(*look)) return std::nullopt;
  Look seen{.goroutines = look->looked_at, .left_out = look->all - look->looked_at};
  if (last_) seen.since = look->at - *last_;
  last_ = look->at;
  add(*look, seen.since, classifier);
  if (lacks_room(*look) && look->at - renewed_ >= kRenew) renew_reader();
  return seen;
}

void WatchedProgram::add(const GoroutineLook& look, std::chrono::nanoseconds since,
                         WaitClassifier& classifier) {
  for (Row& row : rows_) {
    row.before = std::exchange(row.now, 0);
    row.longest_ns = 0;
  }
  const std::uint64_t read = look.looked_at - look.unreadable;
  const double weight = read == 0 ? 0 : static_cast<double>(look.all) / static_cast<double>(read);
  const GoroutineAges ages(look);
  for (const WaitingGoroutine& goroutine : look.waiting) {
    const std::size_t number = row_at({goroutine.stack, goroutine.reason}, classifier);
    if (number == kOfRuntime) continue;
    Row& row = rows_[number];
    row.now += weight;
    const auto age = ages.of(goroutine);
    if (age) row.longest_ns = std::max(row.longest_ns, static_cast<std::uint64_t>(age->count()));
  }
  const auto half = static_cast<double>(since.count()) / 2;
  for (Row& row : rows_) row.ns += (row.before + row.now) * half;
}

std::size_t WatchedProgram::row_at(const Place& place, WaitClassifier& classifier) {
  const auto known = places_.find(place);
  if (known != places_.end()) return known->second;
  const GoStack& stack = reader_->stack(place.first);
  std::vector<std::string_view> functions;  // innermost first
  for (const std::uint32_t function : stack.functions) {
    functions.push_back(program_->functions().name(function));
  }
  std::size_t number = kOfRuntime;
  const bool is_whole = stack.end == GoStack::End::Root && !functions.empty();
  if (!is_whole || !is_of_go_runtime(functions.back())) {
    Row row;
    const auto& reasons = program_->runtime().reasons;
    if (place.second < reasons.size()) row.reason = reasons[place.second];
    row.function = waiting_function(functions);
    std::vector<FrameKind> frames;  // outermost first
    for (auto function = functions.rbegin(); function != functions.rend(); ++function) {
      frames.push_back(classifier.user_frame({.function = *function, .object = {}}));
    }
    const WaitClass found =
        classifier.classify({.exe = classifier.executable(program_->name()),
                             .reason = std::nullopt,
                             .goroutine = classifier.goroutine_reason(row.reason),
                             .user = frames,
                             .kernel = {}});
    row.wait_for = found.wait_for;
    row.site = found.site;
    number = row_of(std::move(row));
  }
  if (places_.size() < kMostPlaces) places_.emplace(place, number);
  return number;
}

std::size_t WatchedProgram::row_of(Row row) {
  if (rows_.size() >= kMostRows) row.site = row.reason = row.function = {};
  const auto [found, is_new] =
      numbers_.try_emplace(Key(row.wait_for, row.site, row.reason, row.function), rows_.size());
  if (is_new) rows_.push_back(std::move(row));
  return found->second;
}

void WatchedProgram::take(std::vector<GoroutineWaits>& waits) {
  for (Row& row : rows_) {
    if (row.ns <= 0 && row.now <= 0) continue;
    GoroutineWaits& more = waits.emplace_back();
    more.program = program_->name();
    more.wait_for = row.wait_for;
    more.site = row.site;
    more.reason = row.reason;
    more.function = row.function;
    more.ns = std::exchange(row.ns, 0);
    more.now = row.now;
    more.longest_ns = row.longest_ns;
  }
  if (std::erase_if(rows_, [](const Row& row) { return row.now <= 0; }) == 0) return;
  places_.clear();
  numbers_.clear();
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    numbers_[Key(row.wait_for, row.site, row.reason, row.function)] = i;
  }
}

}  // namespace offcpud
