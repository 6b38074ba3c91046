// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <iterator>
#include <limits>
#include <map>
#include <protozero/pbf_builder.hpp>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/hist_kind.h"
#include "base/text.h"
#include "snapshot/gzip.h"
#include "snapshot/pprof.h"
#include "snapshot/pprof_fields.h"

namespace offcpud {
namespace {

using namespace pprof;
using protozero::pbf_builder;
using Ids = std::vector<std::uint64_t>;

struct Values {
  std::int64_t ns = 0;
  double episodes = 0;
};

std::int64_t signed_ns(std::uint64_t ns) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  return ns > static_cast<std::uint64_t>(kMost) ? kMost : static_cast<std::int64_t>(ns);
}

std::int64_t unix_ns(WallTime time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

class ProfileWriter {
 public:
  ProfileWriter(std::string& bytes, const Snapshot& snapshot)
      : profile_(bytes), snapshot_(snapshot) {
    (void)text("");  // number 0, as the format requires
  }

  void write_head() {
    write_value_type("off_cpu", "nanoseconds");
    write_value_type("episodes", "count");
    profile_.add_int64(ProfileField::DefaultSampleType, text("off_cpu"));
    profile_.add_int64(ProfileField::TimeNanos, unix_ns(snapshot_.begin));
    profile_.add_int64(ProfileField::DurationNanos, snapshot_.duration.count());
    profile_.add_int64(ProfileField::EndNanos, unix_ns(snapshot_.end));
    profile_.add_uint64(ProfileField::Sequence, snapshot_.sequence);
    if (snapshot_.partial) profile_.add_bool(ProfileField::Partial, true);
    if (snapshot_.sampling_interval.count() > 0) {
      profile_.add_int64(ProfileField::SamplingInterval, snapshot_.sampling_interval.count());
    }
    write_reason_intervals();
    for (const std::string& filter : snapshot_.captured) {
      profile_.add_int64(ProfileField::Comment, text(filter));
    }
  }

  void write_reason_intervals() {
    std::vector<std::int64_t> pairs;
    for (std::size_t kind = 0; kind < snapshot_.reason_intervals.size(); ++kind) {
      const std::int64_t interval = snapshot_.reason_intervals[kind].count();
      if (interval > 0) pairs.insert(pairs.end(), {text(kHistKindNames[kind]), interval});
    }
    if (pairs.empty()) return;
    profile_.add_packed_int64(ProfileField::ReasonIntervals, pairs.begin(), pairs.end());
  }

  void write_sample(const StackEntry& entry, const Values& values) {
    locations_.clear();
    append_leaf_first(entry.kernel, locations_);
    append_leaf_first(entry.user, locations_);
    const std::int64_t numbers[] = {values.ns, whole_episodes(values.episodes)};

    pbf_builder<SampleField> sample(profile_, ProfileField::Sample);
    sample.add_packed_uint64(SampleField::LocationId, locations_.begin(), locations_.end());
    sample.add_packed_int64(SampleField::Value, std::begin(numbers), std::end(numbers));
    write_labels(sample, entry);
    sample.add_uint32(SampleField::KernelFrames, static_cast<std::uint32_t>(entry.kernel.size()));
    write_stack(sample, SampleField::WakerKernel, entry.waker_kernel);
    write_stack(sample, SampleField::WakerUser, entry.waker_user);
    sample.add_double(SampleField::Episodes, values.episodes);
    if (entry.variance > 0) sample.add_double(SampleField::Variance, entry.variance);
  }

  // Strings come last, because writing the other tables adds to them.
  void write_tables() {
    for (std::size_t i = 0; i < snapshot_.frames.size(); ++i) write_location(i);
    write_mappings();
    for (const std::string& string : strings_) {
      profile_.add_string(ProfileField::StringTable, string);
    }
  }

 private:
  struct Mapping {
    std::uint64_t id;
    std::uint64_t highest_address;
  };

  std::int64_t text(std::string_view bytes) {
    std::string valid = to_valid_utf8(bytes);
    const auto [place, is_new] =
        string_ids_.try_emplace(std::move(valid), static_cast<std::int64_t>(strings_.size()));
    if (is_new) strings_.push_back(place->first);
    return place->second;
  }

  void write_value_type(const char* type, const char* unit) {
    const std::int64_t ids[] = {text(type), text(unit)};
    pbf_builder<ValueTypeField> value_type(profile_, ProfileField::SampleType);
    value_type.add_int64(ValueTypeField::Type, ids[0]);
    value_type.add_int64(ValueTypeField::Unit, ids[1]);
  }

  // The id of frame i is i + 1.
  static void append_leaf_first(const std::vector<std::uint32_t>& frames, Ids& ids) {
    for (std::size_t i = frames.size(); i-- > 0;) ids.push_back(std::uint64_t{frames[i]} + 1);
  }

  void write_stack(pbf_builder<SampleField>& sample, SampleField field,
                   const std::vector<std::uint32_t>& frames) {
    if (frames.empty()) return;
    locations_.clear();
    append_leaf_first(frames, locations_);
    sample.add_packed_uint64(field, locations_.begin(), locations_.end());
  }

  // Carries fractions from sample to sample, so that the sum is right.
  std::int64_t whole_episodes(double episodes) {
    const double exact = episodes + episodes_carry_;
    const double whole = std::floor(exact);
    episodes_carry_ = exact - whole;
    // Files from elsewhere may exceed the range of the field.
    constexpr double kMost = 9e18;
    return static_cast<std::int64_t>(std::clamp(whole, -kMost, kMost));
  }

  void write_label(pbf_builder<SampleField>& sample, const char* key, std::string_view value) {
    if (value.empty()) return;
    const std::int64_t ids[] = {text(key), text(value)};
    pbf_builder<LabelField> label(sample, SampleField::Label);
    label.add_int64(LabelField::Key, ids[0]);
    label.add_int64(LabelField::Text, ids[1]);
  }

  void write_label(pbf_builder<SampleField>& sample, const char* key, std::uint32_t value) {
    if (value == 0) return;
    const std::int64_t id = text(key);
    pbf_builder<LabelField> label(sample, SampleField::Label);
    label.add_int64(LabelField::Key, id);
    label.add_int64(LabelField::Number, value);
  }

  void write_labels(pbf_builder<SampleField>& sample, const StackEntry& entry) {
    write_label(sample, kComm, entry.comm);
    write_label(sample, kThread, entry.thread_comm);
    write_label(sample, kCgroup, entry.cgroup);
    write_label(sample, kReason, kHistKindNames[entry.reason]);
    write_label(sample, kFor, name_of(entry.wait_for));
    write_label(sample, kSite, entry.site);
    write_label(sample, kPid, entry.pid);
    write_label(sample, kState, entry.in_progress ? kInProgress : "");
    write_label(sample, kWaker, entry.waker_comm);
    write_label(sample, kWakerPid, entry.waker_pid);
  }

  std::uint64_t function_id(const std::string& name) {
    const std::int64_t text_id = text(name);
    const auto [place, is_new] = function_ids_.try_emplace(text_id, function_ids_.size() + 1);
    if (!is_new) return place->second;
    pbf_builder<FunctionField> function(profile_, ProfileField::Function);
    function.add_uint64(FunctionField::Id, place->second);
    function.add_int64(FunctionField::Name, text_id);
    function.add_int64(FunctionField::SystemName, text_id);
    return place->second;
  }

  void write_location(std::size_t index) {
    const StackFrame& frame = snapshot_.frames[index];
    const auto key = std::make_tuple(text(frame.object), text(frame.build_id), frame.kernel);
    Mapping& mapping = mappings_.try_emplace(key, Mapping{mappings_.size() + 1, 0}).first->second;
    mapping.highest_address = std::max(mapping.highest_address, frame.address);
    const std::uint64_t function = function_id(frame.function);

    pbf_builder<LocationField> location(profile_, ProfileField::Location);
    location.add_uint64(LocationField::Id, index + 1);
    location.add_uint64(LocationField::MappingId, mapping.id);
    location.add_uint64(LocationField::Address, frame.address);
    pbf_builder<LineField> line(location, LocationField::Line);
    line.add_uint64(LineField::FunctionId, function);
    if (frame.line != 0) line.add_int64(LineField::Line, frame.line);
  }

  // Addresses are relative to objects, so every mapping begins at 0 of its file.
  void write_mappings() {
    for (const auto& [key, mapping] : mappings_) {
      const auto& [object, build_id, kernel] = key;
      constexpr auto kLast = std::numeric_limits<std::uint64_t>::max();
      pbf_builder<MappingField> out(profile_, ProfileField::Mapping);
      out.add_uint64(MappingField::Id, mapping.id);
      out.add_uint64(MappingField::MemoryLimit,
                     mapping.highest_address == kLast ? kLast : mapping.highest_address + 1);
      out.add_int64(MappingField::Filename, object);
      out.add_int64(MappingField::BuildId, build_id);
      out.add_bool(MappingField::HasFunctions, true);
      if (kernel) out.add_bool(MappingField::Kernel, true);
    }
  }

  pbf_builder<ProfileField> profile_;
  const Snapshot& snapshot_;
  std::vector<std::string> strings_;
  std::unordered_map<std::string, std::int64_t> string_ids_;
  std::unordered_map<std::int64_t, std::uint64_t> function_ids_;  // by number of the name
  std::map<std::tuple<std::int64_t, std::int64_t, bool>, Mapping> mappings_;
  Ids locations_;
  double episodes_carry_ = 0;
};

Result<std::string> write(const Snapshot& snapshot, std::span<const StackAmount> before) {
  try {
    std::string bytes;
    ProfileWriter writer(bytes, snapshot);
    writer.write_head();
    for (std::size_t i = 0; i < snapshot.entries.size(); ++i) {
      const StackEntry& entry = snapshot.entries[i];
      const StackAmount earlier = i < before.size() ? before[i] : StackAmount{};
      if (!before.empty() && earlier.ns == entry.ns && earlier.episodes == entry.episodes) continue;
      writer.write_sample(
          entry, {signed_ns(entry.ns) - signed_ns(earlier.ns), entry.episodes - earlier.episodes});
    }
    writer.write_tables();
    if (bytes.size() > kMostPprofBytes) return Error("the snapshot is too large for a profile");
    return gzip(bytes);
  } catch (const std::exception& failure) {
    return Error(std::string("write a profile: ") + failure.what());
  }
}

}  // namespace

Result<std::string> pprof_of(const Snapshot& snapshot) {
  return write(snapshot, {});
}

Result<std::string> pprof_of(const StackDifference& difference) {
  return write(difference.after, difference.before);
}

}  // namespace offcpud
