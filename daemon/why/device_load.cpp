// SPDX-License-Identifier: Apache-2.0
#include "why/device_load.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/amount_text.h"
#include "base/no_unit.h"

namespace offcpud {
namespace {

using Part = DeviceLoad::Part;
using By = UnitLoad::By;

constexpr std::size_t kMostParts = 6;
constexpr double kLeastShare = 0.5;  // of what others do
constexpr double kLeastOfOwn = 2;    // times what the waiting unit does
// What keeps a device busy: requests at a time, or bytes within a second where that is not known.
constexpr double kBusy = 0.1;
constexpr double kBusyBytes = 1e6;
constexpr double kWorthTelling = 0.01;  // of the bytes of one

double bytes_of(const Part& part) {
  return part.read + part.written;
}

bool is_busy(const DeviceLoad& load, const Part& part) {
  return load.is_timed ? part.at_a_time >= kBusy : bytes_of(part) >= kBusyBytes;
}

Part sum_of(const std::vector<Part>& parts) {
  Part sum;
  for (const Part& part : parts) {
    sum.at_a_time += part.at_a_time;
    sum.requests += part.requests;
    sum.read += part.read;
    sum.written += part.written;
  }
  return sum;
}

void set_shares(DeviceLoad& load) {
  const Part all = sum_of(load.parts);
  load.at_a_time = all.at_a_time;
  load.is_timed = all.at_a_time > 0;
  const double whole = load.is_timed ? all.at_a_time : bytes_of(all);
  for (Part& part : load.parts) {
    const double amount = load.is_timed ? part.at_a_time : bytes_of(part);
    part.share = whole > 0 ? amount / whole : 0;
  }
  std::ranges::stable_sort(load.parts, std::ranges::greater(), &Part::share);
}

// The smallest beyond kMostParts become one.
void fold_parts(std::vector<Part>& parts) {
  if (parts.size() <= kMostParts) return;
  const auto few = parts.begin() + static_cast<std::ptrdiff_t>(kMostParts - 1);
  const std::vector<Part> small(few, parts.end());
  Part rest = sum_of(small);
  rest.kind = By::Others;
  for (const Part& part : small) rest.share += part.share;
  parts.erase(few, parts.end());
  parts.push_back(std::move(rest));
}

}  // namespace

DeviceLoad load_of(const WhyInputs& inputs, const std::string& device, const std::string& unit) {
  DeviceLoad load;
  if (!inputs.loads.known()) {
    load.because = inputs.loads.missing;
    return load;
  }
  load.is_of_process = !inputs.process.empty() && unit == inputs.process;
  const std::string& own = load.is_of_process ? inputs.unit_of_process : unit;
  const double seconds = inputs.loads.seconds;
  for (const UnitLoad& row : inputs.loads.rows) {
    if (row.device != device) continue;
    load.parts.push_back({.kind = row.kind,
                          .unit = row.unit,
                          .own = row.kind == By::Unit && row.unit == own,
                          .at_a_time = row.request_ns / (seconds * 1e9),
                          .requests = row.requests / seconds,
                          .read = row.read_bytes / seconds,
                          .written = row.written_bytes / seconds});
  }
  if (load.parts.empty()) load.because = "this host counts no requests to it";
  set_shares(load);
  fold_parts(load.parts);
  return load;
}

const Part* loader_to_blame(const DeviceLoad& load) {
  const auto own = std::ranges::find_if(load.parts, &Part::own);
  const double own_share = own != load.parts.end() ? own->share : 0;
  for (const Part& part : load.parts) {
    if (part.own) continue;
    // The largest of the others: if it is not to blame, nobody is.
    const bool is_most =
        part.share >= kLeastShare * (1 - own_share) && part.share >= kLeastOfOwn * own_share;
    return part.kind == By::Unit && is_most && is_busy(load, part) ? &part : nullptr;
  }
  return nullptr;
}

std::string loader_name(const Part& part) {
  if (part.own) return "itself";
  switch (part.kind) {
    case By::Unit:
      return part.unit;
    case By::Kernel:
      return "the kernel";
    case By::Others:
      return "others";
    case By::Unknown:
      break;
  }
  return "nobody knows who";
}

std::string load_text(const DeviceLoad& load, const Part& part) {
  std::string text =
      share_text(part.share) +
      (load.is_timed ? " of the time of the device's requests" : " of the device's bytes");
  const double least = kWorthTelling * bytes_of(part);
  if (part.read > least) text += ", " + byte_rate_text(part.read) + " read";
  if (part.written > least) text += ", " + byte_rate_text(part.written) + " written";
  return text;
}

std::string clause_of(const DeviceLoad& load) {
  if (load.parts.empty()) return "; who loads it is unknown, because " + load.because;
  const Part& most = load.parts.front();
  const std::string amount = " (" + load_text(load, most) + ")";
  if (load.is_timed && load.at_a_time < kBusy) {
    return ", which has little to do: " + threads_text(load.at_a_time) + " requests at a time";
  }
  if (most.share >= kLeastShare) {
    if (most.own) {
      return (load.is_of_process ? ", which its own unit loads" : ", which it loads itself") +
             amount;
    }
    if (most.kind == By::Kernel) {
      return ", which the kernel loads with write-back and journals" + amount +
             ", for whom nobody knows";
    }
    if (most.kind == By::Unknown) return ", of whose load nobody knows whose it is" + amount;
  }
  return ", which several load, most of all " + in_sentence(loader_name(most)) + amount;
}

}  // namespace offcpud
