// SPDX-License-Identifier: Apache-2.0
#include "golang/go_runtime.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "base/printable.h"
#include "golang/go_code.h"

namespace offcpud {
namespace {

FoundGo refused(GoRefusal refusal, std::string why) {
  return {.runtime = std::nullopt, .refusal = refusal, .why = std::move(why)};
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Build information: src/debug/buildinfo/buildinfo.go. Flag 2 of byte 15, from 1.18 on: the version
// is behind the head, after its length. Otherwise the head has the address of a string. nullopt: it
// cannot be read. Empty: this is no such information.
std::optional<std::string> read_version(const MemoryWords& memory, std::uint64_t address) {
  constexpr std::size_t kHead = 32, kMostVersion = 127;
  constexpr std::string_view kMagic = "\xff Go buildinf:";
  const auto info = memory.range(address, kHead + 1 + kMostVersion);
  if (info.size() < kHead) return std::nullopt;
  if (!text_of(info).starts_with(kMagic)) return "";
  if ((value_at<std::uint8_t>(info, 15) & 2U) != 0) {
    const std::size_t length = value_at<std::uint8_t>(info, kHead);  // one byte if < 128
    if (length > kMostVersion || kHead + 1 + length > info.size()) return "";
    return text_of(info).substr(kHead + 1, length);
  }
  const auto string = memory.range(value_at<std::uint64_t>(info, 16), 2 * kGoWord);
  const auto length = value_at<std::uint64_t>(string, kGoWord);
  if (length > kMostVersion) return "";
  return text_of(memory.range(value_at<std::uint64_t>(string, 0), length));
}

// "go1.19.8", "go1.22rc1", "go1.24.1 X:boringcrypto" and "go1.20-vendor" are releases; betas and
// development versions ("devel go1.27-0123abc") may have any layout. 0: it is none.
std::uint32_t minor_of(std::string_view version) {
  constexpr std::string_view kGo = "go1.";
  if (!version.starts_with(kGo)) return 0;
  version.remove_prefix(kGo.size());
  std::uint32_t minor = 0;
  const auto [end, error] = std::from_chars(version.data(), version.data() + version.size(), minor);
  if (error != std::errc{}) return 0;
  version.remove_prefix(static_cast<std::size_t>(end - version.data()));
  const bool is_release = version.empty() || version.starts_with('.') || version.starts_with(' ') ||
                          version.starts_with('-') || version.starts_with("rc");
  return is_release ? minor : 0;
}

// The machine code of functions of the runtime; empty: there is none.
struct Code {
  std::uint64_t at = 0;
  std::vector<std::byte> bytes;
};
struct Codes {
  Code adds;     // of runtime.allgadd, which adds a goroutine to all
  Code changes;  // of runtime.casgstatus, which changes what a goroutine does
};

Codes read_codes(const MemoryWords& memory, const GoFunctionTable& table, std::uint64_t bias) {
  constexpr std::uint64_t kMostCode = 8'192;
  constexpr std::size_t kMostFunctions = std::size_t{1} << 20;
  Codes codes;
  const std::size_t count = std::min(table.size(), kMostFunctions);
  for (std::size_t i = 0; i < count && (codes.adds.at == 0 || codes.changes.at == 0); ++i) {
    const auto function = table.function(i);
    if (!function) continue;
    const bool adds = function->name == "runtime.allgadd";
    if (!adds && function->name != "runtime.casgstatus") continue;
    const std::uint64_t at = function->begin + bias;
    const std::uint64_t size = std::min(function->end - function->begin, kMostCode);
    (adds ? codes.adds : codes.changes) = {at, memory.range(at, size)};
  }
  return codes;
}

// Whether all of the first goroutines look like ones of this version.
bool are_goroutines(const MemoryWords& memory, const GoLayout& layout, const GoSlice& slice) {
  constexpr std::uint64_t kLooked = 64;
  constexpr std::uint64_t kMostId = std::uint64_t{1} << 48, kMostStack = std::uint64_t{1} << 30;
  const std::uint64_t count = std::min(slice.length, kLooked);
  const auto pointers = memory.range(slice.at, count * kGoWord);
  std::vector<std::uint64_t> addresses;
  for (std::uint64_t i = 0; i < count; ++i) {
    addresses.push_back(value_at<std::uint64_t>(pointers, i * kGoWord));
  }
  const MemoryParts goroutines = memory.parts(addresses, kGoroutineBytes);
  bool has_stack = false;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const auto low = goroutines.at<std::uint64_t>(i, kGoStackLow);
    const auto high = goroutines.at<std::uint64_t>(i, kGoStackHigh);
    const auto status = go_status(goroutines.at<std::uint32_t>(i, layout.status));
    const bool fits = goroutines.has(i) && static_cast<std::uint32_t>(status) <= kLastGoStatus &&
                      low <= high && high - low <= kMostStack &&
                      goroutines.at<std::uint64_t>(i, layout.id) < kMostId;
    if (!fits) return false;
    has_stack = has_stack || low < high;
  }
  return has_stack;
}

// In the code of the function that adds to it. 0: not found.
std::uint64_t find_all(const MemoryWords& memory, const GoFile& file, const GoLayout& layout,
                       const Code& adds, std::uint64_t bias) {
  for (const std::uint64_t variable : variables_in(adds.bytes, adds.at)) {
    const std::uint64_t linked = variable - bias;
    const bool is_variable =
        std::ranges::any_of(file.writable, [linked](const AddressRange& range) {
          return range.start <= linked && linked < range.end;
        });
    if (!is_variable || variable % kGoWord != 0) continue;
    const auto slice = read_go_slice(memory, variable);
    if (slice && are_goroutines(memory, layout, *slice)) return variable;
  }
  return 0;
}

// Strings that lie side by side from `at` on; up to the first that is none.
std::vector<std::string> read_texts(const MemoryWords& memory, std::span<const std::byte> data,
                                    std::size_t at) {
  constexpr std::size_t kMostTexts = 64, kMostText = 64;
  std::vector<std::uint64_t> addresses;
  std::vector<std::uint64_t> lengths;
  for (; addresses.size() < kMostTexts && at + 2 * kGoWord <= data.size(); at += 2 * kGoWord) {
    const auto length = value_at<std::uint64_t>(data, at + kGoWord);
    if (length == 0 || length > kMostText) break;
    addresses.push_back(value_at<std::uint64_t>(data, at));
    lengths.push_back(length);
  }
  const MemoryParts parts = memory.parts(addresses, kMostText);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < addresses.size() && parts.has(i); ++i) {
    texts.push_back(printable(parts.text(i, 0, lengths[i])));
  }
  return texts;
}

// runtime.waitReasonStrings, by its first two texts: "" and kFirst (1.16 to 1.26). The numbers of
// the others differ from version to version.
std::vector<std::string> find_reasons(const MemoryWords& memory, const GoFile& file,
                                      std::uint64_t bias) {
  constexpr std::string_view kFirst = "GC assist marking";
  constexpr std::uint64_t kMostData = std::uint64_t{8} << 20;
  constexpr std::size_t kMostTried = 64;
  const auto data =
      memory.range(file.data.start + bias, std::min(file.data.end - file.data.start, kMostData));
  std::size_t tried = 0;
  for (std::size_t at = 0; at + 4 * kGoWord <= data.size() && tried < kMostTried; at += kGoWord) {
    const bool fits = value_at<std::uint64_t>(data, at) == 0 &&
                      value_at<std::uint64_t>(data, at + kGoWord) == 0 &&
                      value_at<std::uint64_t>(data, at + 3 * kGoWord) == kFirst.size();
    if (!fits) continue;
    ++tried;
    const auto text = memory.range(value_at<std::uint64_t>(data, at + 2 * kGoWord), kFirst.size());
    if (text_of(text) != kFirst) continue;
    std::vector<std::string> reasons = read_texts(memory, data, at + 2 * kGoWord);
    reasons.insert(reasons.begin(), "");
    return reasons;
  }
  return {};
}

}  // namespace

std::optional<GoSlice> read_go_slice(const MemoryWords& memory, std::uint64_t address) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 32;
  const auto head = memory.range(address, 3 * kGoWord);
  const GoSlice slice{.at = value_at<std::uint64_t>(head, 0),
                      .length = value_at<std::uint64_t>(head, kGoWord),
                      .capacity = value_at<std::uint64_t>(head, 2 * kGoWord)};
  const bool fits = slice.at != 0 && slice.at % kGoWord == 0 && slice.length > 0 &&
                    slice.length <= slice.capacity && slice.capacity <= kMost;
  if (!fits) return std::nullopt;
  return slice;
}

FoundGo find_go(const MemoryWords& memory, const GoFile& file, const GoFunctionTable& table,
                std::uint64_t bias) {
  const bool has_info = file.build_info.start != 0;
  const auto told = has_info ? read_version(memory, file.build_info.start + bias) : "";
  if (!told) return refused(GoRefusal::Memory, "its memory could not be read");
  const std::string version = printable(*told);
  if (version.empty()) {
    return refused(GoRefusal::Version, "nothing says with which version of Go it is built");
  }
  const std::uint32_t minor = minor_of(version);
  if (minor == 0) return refused(GoRefusal::Version, "its version, " + version + ", is no release");
  const GoLayout* const layout = find_go_layout(minor);
  if (layout == nullptr) {
    return refused(GoRefusal::Version, "its version, " + version + ", is not known");
  }
  const Codes codes = read_codes(memory, table, bias);
  const auto status = first_field_in(codes.adds.bytes);
  if (status && *status != layout->status) {
    return refused(GoRefusal::Memory, "its code has other goroutines than " + version + " has");
  }
  GoRuntime runtime{.layout = layout, .version = version, .all = 0, .reasons = {}};
  runtime.all = find_all(memory, file, *layout, codes.adds, bias);
  if (runtime.all == 0) {
    return refused(GoRefusal::Memory, "its goroutines (" + version + ") were not found");
  }
  runtime.reasons = find_reasons(memory, file, bias);
  if (runtime.reasons.empty()) {
    return refused(GoRefusal::Memory, "its reasons of waits (" + version + ") were not found");
  }
  const auto counter = counter_in(codes.changes.bytes);
  const bool is_field = counter && *counter > layout->wait_reason && *counter < kGoroutineBytes;
  if (is_field) runtime.counter = *counter;
  return {.runtime = std::move(runtime), .why = {}};
}

}  // namespace offcpud
