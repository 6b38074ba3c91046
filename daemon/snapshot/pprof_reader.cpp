// SPDX-License-Identifier: Apache-2.0
#include "base/checked_protozero.h"
// Must be included before protozero.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <protozero/pbf_message.hpp>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "base/hist_kind.h"
#include "snapshot/gzip.h"
#include "snapshot/pprof.h"
#include "snapshot/pprof_fields.h"

namespace offcpud {
namespace {

using namespace pprof;
using protozero::data_view;
using protozero::pbf_message;

// Few bytes of a file can demand much memory: a sample of 300 bytes, or a name's number a copy of
// the name. Busy hosts have a tenth of these.
constexpr std::size_t kMostSamples = 250'000;
constexpr std::size_t kMostRows = 750'000;  // of all other tables together
constexpr std::size_t kMostStackFrames = 24'000'000;
constexpr std::size_t kMostTextBytes = std::size_t{64} << 20U;

// The exception becomes an Error at the end of this file.
[[noreturn]] void refuse(const char* what) {
  throw std::invalid_argument(what);
}

// Not negative, so that neither a sum nor a difference of two overflows.
std::chrono::nanoseconds time_of(std::int64_t ns) {
  if (ns < 0) refuse("a time is negative");
  return std::chrono::nanoseconds(ns);
}

WallTime wall_time(std::int64_t ns) {
  return WallTime(std::chrono::duration_cast<WallTime::duration>(time_of(ns)));
}

double amount(double value) {
  if (!std::isfinite(value) || value < 0) refuse("an amount is no number");
  return value;
}

// A limited amount; taking more is an error.
class Allowance {
 public:
  Allowance(std::size_t most, const char* refusal) : left_(most), refusal_(refusal) {}
  void take(std::size_t count) {
    if (count > left_) refuse(refusal_);
    left_ -= count;
  }

 private:
  std::size_t left_;
  const char* refusal_;
};

struct Mapping {
  std::int64_t object = 0, build_id = 0;
  bool kernel = false;
};

// Tables of a profile may come in any order, so this first collects them and then connects them.
class ProfileReader {
 public:
  explicit ProfileReader(std::string_view bytes) { take_apart(bytes); }

  Snapshot snapshot() && {
    put_frames_together();
    for (const std::int64_t comment : comments_) result_.captured.push_back(string(comment));
    put_intervals_together();
    result_.entries.reserve(samples_.size());
    for (const data_view& sample : samples_) result_.entries.push_back(entry(sample));
    return std::move(result_);
  }

 private:
  struct Location {
    std::uint64_t mapping = 0, address = 0, function = 0;
    std::uint32_t line = 0;
  };

  void take_apart(std::string_view bytes) {
    pbf_message<ProfileField> profile(bytes.data(), bytes.size());
    while (profile.next()) {
      switch (profile.tag()) {
        case ProfileField::Sample:
          allowed_samples_.take(1);
          samples_.push_back(profile.get_view());
          break;
        case ProfileField::Mapping:
          add_mapping(profile.get_view());
          break;
        case ProfileField::Location:
          add_location(profile.get_view());
          break;
        case ProfileField::Function:
          add_function(profile.get_view());
          break;
        case ProfileField::StringTable:
          allowed_rows_.take(1);
          strings_.push_back(profile.get_view());
          break;
        default:
          take_number(profile);
      }
    }
  }

  void take_number(pbf_message<ProfileField>& profile) {
    switch (profile.tag()) {
      case ProfileField::TimeNanos:
        result_.begin = wall_time(profile.get_int64());
        break;
      case ProfileField::EndNanos:
        result_.end = wall_time(profile.get_int64());
        break;
      case ProfileField::DurationNanos:
        result_.duration = time_of(profile.get_int64());
        break;
      case ProfileField::SamplingInterval:
        result_.sampling_interval = time_of(profile.get_int64());
        break;
      case ProfileField::ReasonIntervals:
        for (const std::int64_t number : profile.get_packed_int64()) {
          allowed_rows_.take(1);
          intervals_.push_back(number);
        }
        break;
      case ProfileField::Sequence:
        result_.sequence = profile.get_uint64();
        break;
      case ProfileField::Partial:
        result_.partial = profile.get_bool();
        break;
      case ProfileField::Comment:
        allowed_rows_.take(1);
        comments_.push_back(profile.get_int64());
        break;
      default:
        profile.skip();
    }
  }

  // Labels' keys and texts and mappings' files are given as numbers of strings.
  [[nodiscard]] std::string_view view(std::int64_t number) const {
    const auto place = static_cast<std::size_t>(number);
    if (number < 0 || place >= strings_.size()) refuse("a string is missing");
    return {strings_[place].data(), strings_[place].size()};
  }

  std::string string(std::int64_t number) {
    const std::string_view text = view(number);
    allowed_text_.take(text.size());
    return std::string(text);
  }

  void add_mapping(data_view bytes) {
    allowed_rows_.take(1);
    std::uint64_t id = 0;
    Mapping mapping;
    for (pbf_message<MappingField> in(bytes); in.next();) {
      if (in.tag() == MappingField::Id) {
        id = in.get_uint64();
      } else if (in.tag() == MappingField::Filename) {
        mapping.object = in.get_int64();
      } else if (in.tag() == MappingField::BuildId) {
        mapping.build_id = in.get_int64();
      } else if (in.tag() == MappingField::Kernel) {
        mapping.kernel = in.get_bool();
      } else {
        in.skip();
      }
    }
    mappings_[id] = mapping;
  }

  void add_function(data_view bytes) {
    allowed_rows_.take(1);
    std::uint64_t id = 0;
    std::int64_t name = 0;
    for (pbf_message<FunctionField> in(bytes); in.next();) {
      if (in.tag() == FunctionField::Id) {
        id = in.get_uint64();
      } else if (in.tag() == FunctionField::Name) {
        name = in.get_int64();
      } else {
        in.skip();
      }
    }
    functions_[id] = name;
  }

  void add_location(data_view bytes) {
    allowed_rows_.take(1);
    std::uint64_t id = 0;
    Location location;
    for (pbf_message<LocationField> in(bytes); in.next();) {
      if (in.tag() == LocationField::Id) {
        id = in.get_uint64();
      } else if (in.tag() == LocationField::MappingId) {
        location.mapping = in.get_uint64();
      } else if (in.tag() == LocationField::Address) {
        location.address = in.get_uint64();
      } else if (in.tag() == LocationField::Line) {
        add_line(location, in.get_view());
      } else {
        in.skip();
      }
    }
    locations_.push_back(location);
    if (id != locations_.size()) refuse("the locations are not numbered in order");
  }

  static void add_line(Location& location, data_view bytes) {
    for (pbf_message<LineField> in(bytes); in.next();) {
      if (in.tag() == LineField::FunctionId) {
        location.function = in.get_uint64();
      } else if (in.tag() == LineField::Line) {
        location.line = static_cast<std::uint32_t>(in.get_int64());
      } else {
        in.skip();
      }
    }
  }

  // Reasons of other versions are left out.
  void put_intervals_together() {
    for (std::size_t i = 0; i + 1 < intervals_.size(); i += 2) {
      const auto found = std::ranges::find(kHistKindNames, view(intervals_[i]));
      const auto kind = static_cast<std::size_t>(found - kHistKindNames.begin());
      if (is_blocked_kind(kind)) result_.reason_intervals[kind] = time_of(intervals_[i + 1]);
    }
  }

  void put_frames_together() {
    for (const Location& location : locations_) {
      const auto mapping = mappings_.find(location.mapping);
      const auto function = functions_.find(location.function);
      if (mapping == mappings_.end() || function == functions_.end()) {
        refuse("a location has no mapping or no function");
      }
      // Files of earlier daemons contain addresses of processes for frames without object.
      const std::string object = string(mapping->second.object);
      const bool in_object = mapping->second.kernel || (!object.empty() && object != "[jit]");
      result_.frames.push_back({.function = string(function->second),
                                .object = object,
                                .build_id = string(mapping->second.build_id),
                                .address = in_object ? location.address : 0,
                                .kernel = mapping->second.kernel,
                                .line = location.line});
    }
  }

  // Locations are leaf first; frames of a snapshot are root first.
  template <class Range>
  std::vector<std::uint32_t> frames(const Range& location_ids) {
    std::vector<std::uint32_t> frames;
    for (const std::uint64_t id : location_ids) {
      if (id == 0 || id > locations_.size()) refuse("a location is missing");
      allowed_frames_.take(1);
      frames.push_back(static_cast<std::uint32_t>(id - 1));
    }
    std::reverse(frames.begin(), frames.end());
    return frames;
  }

  StackEntry entry(data_view bytes) {
    StackEntry entry;
    std::vector<std::uint32_t> stack;
    std::size_t kernel_frames = 0;
    for (pbf_message<SampleField> in(bytes); in.next();) {
      switch (in.tag()) {
        case SampleField::LocationId:
          stack = frames(in.get_packed_uint64());
          break;
        case SampleField::Value:
          entry.ns = first_value(in.get_packed_int64());
          break;
        case SampleField::Label:
          add_label(entry, in.get_view());
          break;
        case SampleField::KernelFrames:
          kernel_frames = in.get_uint32();
          break;
        case SampleField::WakerKernel:
          entry.waker_kernel = frames(in.get_packed_uint64());
          break;
        case SampleField::WakerUser:
          entry.waker_user = frames(in.get_packed_uint64());
          break;
        case SampleField::Episodes:
          entry.episodes = amount(in.get_double());
          break;
        case SampleField::Variance:
          entry.variance = amount(in.get_double());
          break;
        default:
          in.skip();
      }
    }
    if (kernel_frames > stack.size()) refuse("a stack has fewer frames than of the kernel");
    const auto middle = stack.end() - static_cast<std::ptrdiff_t>(kernel_frames);
    entry.user.assign(stack.begin(), middle);
    entry.kernel.assign(middle, stack.end());
    return entry;
  }

  template <class Range>
  static std::uint64_t first_value(const Range& values) {
    if (values.begin() == values.end() || *values.begin() < 0) refuse("a sample has no time");
    return static_cast<std::uint64_t>(*values.begin());
  }

  void add_label(StackEntry& entry, data_view bytes) {
    std::int64_t key = 0, text = 0, number = 0;
    for (pbf_message<LabelField> in(bytes); in.next();) {
      if (in.tag() == LabelField::Key) {
        key = in.get_int64();
      } else if (in.tag() == LabelField::Text) {
        text = in.get_int64();
      } else if (in.tag() == LabelField::Number) {
        number = in.get_int64();
      } else {
        in.skip();
      }
    }
    put_label(entry, view(key), string(text), static_cast<std::uint32_t>(number));
  }

  static void put_label(StackEntry& entry, std::string_view key, std::string text,
                        std::uint32_t number) {
    if (key == kComm) {
      entry.comm = std::move(text);
    } else if (key == kThread) {
      entry.thread_comm = std::move(text);
    } else if (key == kCgroup) {
      entry.cgroup = std::move(text);
    } else if (key == kWaker) {
      entry.waker_comm = std::move(text);
    } else if (key == kPid) {
      entry.pid = number;
    } else if (key == kWakerPid) {
      entry.waker_pid = number;
    } else if (key == kState) {
      entry.in_progress = text == kInProgress;
    } else if (key == kReason) {
      const auto* const found = std::find(kHistKindNames.begin(), kHistKindNames.end(), text);
      if (found == kHistKindNames.end()) refuse("a reason is not known");
      entry.reason = static_cast<std::size_t>(found - kHistKindNames.begin());
    } else if (key == kFor) {
      const auto wait_for = wait_for_named(text);
      if (!wait_for) refuse("what a wait is for is not known");
      entry.wait_for = *wait_for;
    } else if (key == kSite) {
      entry.site = std::move(text);
    }
  }

  Snapshot result_;
  std::vector<data_view> samples_;
  std::vector<std::int64_t> comments_;
  std::vector<std::int64_t> intervals_;  // of reasons, as in the profile
  std::vector<data_view> strings_;
  std::unordered_map<std::uint64_t, Mapping> mappings_;
  std::unordered_map<std::uint64_t, std::int64_t> functions_;
  std::vector<Location> locations_;
  Allowance allowed_samples_{kMostSamples, "too many samples"};
  Allowance allowed_rows_{kMostRows, "tables that are too long"};
  Allowance allowed_frames_{kMostStackFrames, "stacks that are too long"};
  Allowance allowed_text_{kMostTextBytes, "names that are too long"};
};

}  // namespace

Result<Snapshot> snapshot_of_pprof(std::string_view bytes) {
  TRY(const std::string profile, gunzip(bytes, kMostPprofBytes));
  try {
    return ProfileReader(profile).snapshot();
  } catch (const std::exception& failure) {
    return Error(std::string("not a snapshot: ") + failure.what());
  }
}

}  // namespace offcpud
