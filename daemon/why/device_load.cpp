// SPDX-License-Identifier: Apache-2.0
#include "why/device_load.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>

#include "base/amount_text.h"
#include "base/no_unit.h"

namespace offcpud {
namespace {

using Part = DeviceLoad::Part;
using By = UnitLoad::By;

constexpr std::size_t kMostLoadParts = 6;
constexpr double kLeastShareOfLoad = 0.5;  // of what others do
constexpr double kLeastOfOwn = 2;          // times what the waiting unit does
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

double bytes_of(const UnitLoad& row) {
  return row.read_bytes + row.written_bytes;
}

// Adds the requests of a row, within a second.
void add(Part& sum, const UnitLoad& row, double seconds) {
  sum.at_a_time += row.request_ns / (seconds * 1e9);
  sum.requests += row.requests / seconds;
  sum.read += row.read_bytes / seconds;
  sum.written += row.written_bytes / seconds;
}

// The rows of a device, the largest first. Of a device that many load only the first ones are in
// order, because it is asked for by each unit that waits for it.
class DeviceRows {
 public:
  DeviceRows(const Source<UnitLoad>& loads, const std::string& device) {
    for (const UnitLoad& row : loads.rows) {
      if (row.device != device) continue;
      rows_.push_back(&row);
      request_ns_ += row.request_ns;
      bytes_ += bytes_of(row);
    }
    shown_ = rows_.size() <= kMostLoadParts ? rows_.size() : kMostLoadParts - 1;
    std::partial_sort(rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(shown_),
                      rows_.end(), [this](const UnitLoad* one, const UnitLoad* other) {
                        const double difference = amount(*one) - amount(*other);
                        return difference != 0 ? difference > 0 : std::less()(one, other);
                      });
  }

  [[nodiscard]] bool is_timed() const { return request_ns_ > 0; }
  [[nodiscard]] double request_ns() const { return request_ns_; }
  [[nodiscard]] double share(const UnitLoad& row) const {
    const double whole = is_timed() ? request_ns_ : bytes_;
    return whole > 0 ? amount(row) / whole : 0;
  }
  [[nodiscard]] std::span<const UnitLoad* const> shown() const {
    return std::span(rows_).first(shown_);
  }
  // The rest, which is told as one.
  [[nodiscard]] std::span<const UnitLoad* const> small() const {
    return std::span(rows_).subspan(shown_);
  }

 private:
  [[nodiscard]] double amount(const UnitLoad& row) const {
    return is_timed() ? row.request_ns : bytes_of(row);
  }

  std::vector<const UnitLoad*> rows_;
  std::size_t shown_ = 0;
  double request_ns_ = 0, bytes_ = 0;
};

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
  const DeviceRows rows(inputs.loads, device);
  load.is_timed = rows.is_timed();
  load.at_a_time = rows.request_ns() / (seconds * 1e9);
  for (const UnitLoad* row : rows.shown()) {
    Part& part = load.parts.emplace_back();
    part.kind = row->kind;
    part.unit = row->unit;
    part.own = row->kind == By::Unit && row->unit == own;
    part.share = rows.share(*row);
    add(part, *row, seconds);
  }
  // A file system without a device has a name that begins with its type (DeviceNames).
  if (load.parts.empty()) {
    load.because = device.starts_with("fuse") ? "no process alone is known to serve it"
                                              : "this host counts no requests to it";
  }
  if (rows.small().empty()) return load;
  Part& others = load.parts.emplace_back();
  others.kind = By::Others;
  for (const UnitLoad* row : rows.small()) {
    others.share += rows.share(*row);
    add(others, *row, seconds);
  }
  return load;
}

const Part* loader_to_blame(const DeviceLoad& load) {
  const auto own = std::ranges::find_if(load.parts, &Part::own);
  const double own_share = own != load.parts.end() ? own->share : 0;
  for (const Part& part : load.parts) {
    if (part.own) continue;
    // The largest of the others: if it is not to blame, nobody is.
    const bool is_most =
        part.share >= kLeastShareOfLoad * (1 - own_share) && part.share >= kLeastOfOwn * own_share;
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
  if (most.share >= kLeastShareOfLoad) {
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
