// SPDX-License-Identifier: Apache-2.0
#include "sampler/place_pasts.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include "base/text.h"
#include "base/word_hash.h"

namespace offcpud {
namespace {

constexpr std::uint64_t kLeastSeenNs = std::chrono::nanoseconds(PlacePasts::kLeastSeen).count();
constexpr std::uint64_t kMostApartNs = std::chrono::nanoseconds(PlacePasts::kMostApart).count();

double fraction_kept(std::uint64_t ns, std::chrono::nanoseconds half_life) {
  return std::exp2(-static_cast<double>(ns) / static_cast<double>(half_life.count()));
}

std::uint64_t joined(std::uint64_t hash, std::string_view text) {
  for (const char each : text) hash = hash_joined(hash, static_cast<unsigned char>(each));
  return hash_joined(hash, 0x100);  // no byte: the end of the text
}

// Four slots are an octave; the bound of the first one is 2^-20 s.
std::size_t octave_of(std::size_t slot, std::size_t octaves) {
  return std::min((slot + 3) / 4, octaves - 1);
}

double octave_bound_ns(std::size_t octave) {
  return std::ldexp(kNsPerSecond, static_cast<int>(octave) - 20);
}

double slot_bound_ns(std::size_t slot) {
  return slot_bound_seconds(std::min<std::size_t>(slot, OFFCPUD_SLOTS - 2)) * kNsPerSecond;
}

}  // namespace

PlacePasts::PlacePasts(std::size_t most) : slots_(most) {
  std::random_device random;
  seed_ = word_of(random(), random());
}

std::uint64_t PlacePasts::unit_of(std::string_view path) const {
  return joined(seed_, path);
}

std::uint64_t PlacePasts::place_of(std::string_view unit, const offcpud_sample& sample,
                                   std::span<const StackFrame> user,
                                   std::span<const StackFrame> kernel) const {
  std::uint64_t hash = unit_of(unit);
  hash = joined(hash, up_to_nul(sample.process_comm));
  hash = hash_joined(hash, sample.kind);
  hash = hash_joined(hash, user.empty() ? 1 : 0);
  for (const StackFrame& frame : user.empty() ? kernel : user) {
    hash = joined(joined(hash, frame.function), frame.object);
  }
  return std::max<std::uint64_t>(hash, 1);
}

void PlacePasts::begin_window(std::uint64_t end_ns, bool deaf) {
  end_ns_ = end_ns;
  if (deaf) deaf_ns_ = end_ns;
}

void PlacePasts::learn(std::uint64_t place, const Holder& holder, const WaitSum& sum) {
  if (sum.ended.slots.empty()) return;
  Past* const past = touch(place, holder);
  if (past == nullptr) return;
  fade(*past);
  add_lively(*past, sum);
  for (const WaitEstimate::Slot& slot : sum.ended.slots) {
    past->waits[octave_of(slot.slot, kOctaves)] += static_cast<float>(slot.waits);
  }
  const auto longest = static_cast<float>(slot_bound_ns(sum.ended.slots.back().slot));
  past->longest_ns = std::max(past->longest_ns, longest);
}

void PlacePasts::learn_answer(std::uint64_t place, std::uint64_t length_ns, double waits,
                              bool is_first) {
  const auto known = places_.find(place);
  if (known != places_.end()) pasts_[known->second].answers.add(length_ns, waits, is_first);
}

AnswerPast::Habit PlacePasts::habit_at(std::uint64_t place) const {
  const auto known = places_.find(place);
  return known == places_.end() ? AnswerPast::Habit::Unknown
                                : pasts_[known->second].answers.habit();
}

void PlacePasts::deafen(const std::set<std::uint64_t>& units) {
  if (units.empty()) return;
  for (auto& [holder, held] : numbers_) {
    if (units.contains(holder.unit)) held.deaf_ns = end_ns_;
  }
}

// When a place wakes up, it is unknown since when it has been lively, so that window counts neither
// as time nor as samples.
void PlacePasts::add_lively(Past& past, const WaitSum& sum) const {
  const std::uint64_t last_ns = std::max(past.last_ns, sum.last_ended_ns);
  const std::uint64_t ns = last_ns - std::exchange(past.last_ns, last_ns);
  if (ns > kMostApartNs) past.woke_ns = end_ns_;
  if (past.woke_ns == end_ns_) return;
  past.lively_ns += ns;
  past.lively_seconds += static_cast<float>(static_cast<double>(ns) / kNsPerSecond);
  past.samples += static_cast<float>(sum.samples);
}

// Nothing fades during a silence: what was usual when the place went silent is what counts.
void PlacePasts::fade(Past& past) const {
  const std::uint64_t ns = end_ns_ - std::min(end_ns_, past.faded_ns);
  past.faded_ns = end_ns_;
  const auto kept = static_cast<float>(fraction_kept(ns, kHalfLife));
  past.lively_seconds *= kept;
  past.samples *= kept;
  for (float& waits : past.waits) waits *= kept;
  past.longest_ns *= static_cast<float>(fraction_kept(ns, kLongestHalfLife));
  past.answers.fade(ns);
}

std::shared_ptr<const UsualWaits> PlacePasts::usual_of(std::uint64_t place,
                                                       std::uint64_t since_ns) const {
  const auto known = places_.find(place);
  if (known == places_.end()) return nullptr;
  const Past& past = pasts_[known->second];
  const std::uint64_t silent_since_ns =
      std::max({past.last_ns, deaf_ns_, past.holder->second.deaf_ns});
  if (end_ns_ <= silent_since_ns || end_ns_ <= since_ns) return nullptr;
  UsualWaits found = usual(past);
  found.silent_ns = end_ns_ - silent_since_ns;
  const std::uint64_t age_ns = end_ns_ - since_ns;
  const bool began_then = age_ns - age_ns / 5 <= found.silent_ns;
  const bool is_known = past.samples >= kFewestSamples && found.seen_ns >= kLeastSeenNs &&
                        samples_within(past, found.silent_ns) >= kSurelySilent;
  if (!began_then || !is_known || found.silent_ns > found.seen_ns) return nullptr;
  if (found.silent_ns < kOfLongest * found.longest_ns) return nullptr;
  return std::make_shared<const UsualWaits>(found);
}

UsualWaits PlacePasts::usual(const Past& past) {
  UsualWaits found;
  for (const float waits : past.waits) found.waits += waits;
  found.longest_ns = static_cast<std::uint64_t>(past.longest_ns);
  found.seen_ns = past.lively_ns;
  double sum = 0;
  std::size_t octave = 0;
  while (octave + 1 < kOctaves && (sum += past.waits[octave]) < 0.99 * found.waits) ++octave;
  const bool is_last = octave + 1 == kOctaves;
  found.p99_ns =
      is_last ? found.longest_ns
              : std::min(found.longest_ns, static_cast<std::uint64_t>(octave_bound_ns(octave)));
  return found;
}

// How many samples would have come in such a time if the place had stayed lively.
double PlacePasts::samples_within(const Past& past, std::uint64_t silent_ns) {
  if (past.lively_seconds <= 0) return 0;
  return past.samples / past.lively_seconds * static_cast<double>(silent_ns) / kNsPerSecond;
}

PlacePasts::Past* PlacePasts::touch(std::uint64_t place, const Holder& holder) {
  const auto known = places_.find(place);
  if (known != places_.end()) {
    slots_.touch(known->second, now());
    return &pasts_[known->second];
  }
  if (!make_room(holder)) {
    ++dropped_;
    return nullptr;
  }
  const auto number = number_of(holder);
  const Slot slot = slots_.take(number->second.number, holder.owner, now());
  places_.emplace(place, slot);
  if (slot == pasts_.size()) pasts_.emplace_back();
  pasts_[slot] = {.place = place, .holder = number, .faded_ns = end_ns_};
  return &pasts_[slot];
}

bool PlacePasts::make_room(const Holder& holder) {
  if (!slots_.is_full()) return true;
  const auto number = numbers_.find(holder);
  const std::uint32_t own = number == numbers_.end() ? 0 : number->second.number;
  const auto gone = slots_.who_gives_way(own, holder.owner, now());
  if (!gone) return false;
  ++dropped_;
  forget(*gone);
  return true;
}

PlacePasts::Numbers::iterator PlacePasts::number_of(const Holder& holder) {
  const auto [number, is_new] = numbers_.try_emplace(holder);
  if (!is_new) return number;
  do {
    ++last_number_;
  } while (last_number_ == 0 || slots_.oldest_of(last_number_));
  number->second.number = last_number_;
  return number;
}

void PlacePasts::forget(Slot slot) {
  const auto holder = pasts_[slot].holder;
  places_.erase(pasts_[slot].place);
  slots_.give_back(slot);
  if (!slots_.oldest_of(holder->second.number)) numbers_.erase(holder);
}

}  // namespace offcpud
