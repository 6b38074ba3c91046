// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io_stat.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>

#include "base/device_number.h"
#include "base/file_io.h"
#include "base/text.h"

namespace offcpud {
namespace {

constexpr std::size_t kMostBytes = std::size_t{256} << 10;  // of one file
constexpr const char* kFile = "io.stat";

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::uint32_t> device_in(std::string_view text) {
  const auto major = number_in<std::uint32_t>(take_until(text, ':'));
  const auto minor = number_in<std::uint32_t>(text);
  if (!major || !minor) return std::nullopt;
  return device_number(*major, *minor);
}

// "rbytes" is 0 of DiskLoad::bytes, "wios" is 1 of DiskLoad::requests; null: another key.
std::uint64_t* place_of(std::string_view key, DiskLoad& load) {
  constexpr std::string_view kOperations = "rwd";
  if (key.empty()) return nullptr;
  const std::size_t operation = kOperations.find(key.front());
  if (operation == std::string_view::npos) return nullptr;
  key.remove_prefix(1);
  if (key == "bytes") return &load.bytes[operation];
  return key == "ios" ? &load.requests[operation] : nullptr;
}

bool has_file(const std::filesystem::path& root, const std::string& path) {
  std::error_code failed;
  return std::filesystem::exists(root / path.substr(1) / kFile, failed);
}

// What is left of a sum without a part of it that was read later.
DiskLoad rest_of(DiskLoad sum, const DiskLoad& part) {
  for (std::size_t i = 0; i < sum.bytes.size(); ++i) {
    sum.bytes[i] -= std::min(sum.bytes[i], part.bytes[i]);
    sum.requests[i] -= std::min(sum.requests[i], part.requests[i]);
  }
  return sum;
}

}  // namespace

std::vector<IoStatLine> parse_io_stat(std::string_view text) {
  std::vector<IoStatLine> lines;
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    const auto device = device_in(take_until(line, ' '));
    if (!device) continue;
    IoStatLine found{.device = *device};
    while (!line.empty()) {
      std::string_view value = take_until(line, ' ');
      const std::string_view key = take_until(value, '=');
      std::uint64_t* const place = place_of(key, found.load);
      if (place != nullptr) *place = number_in<std::uint64_t>(value).value_or(0);
    }
    lines.push_back(found);
  }
  return lines;
}

// A cgroup that has io.stat but whose children have none counts what they do. One whose children
// have it has no threads of its own, except for the root, whose file is about the whole host.
std::set<std::string> IoStat::owners_of(std::span<const std::string> paths) const {
  std::set<std::string> owners;
  for (const std::string& path : paths) {
    if (!path.starts_with('/')) continue;
    std::string at = path;
    while (at.size() > 1 && !has_file(root_, at)) at.resize(at.rfind('/'));
    if (at.size() > 1) owners.insert(std::move(at));
  }
  return owners;
}

IoStat::ByDevice IoStat::read_one(const std::string& path) {
  ByDevice gained;
  const auto text = read_file(root_ / path.substr(1) / kFile, kMostBytes);
  if (!text) return gained;
  const auto [last, is_new] = last_.try_emplace(path);
  ByDevice now;
  for (const IoStatLine& line : parse_io_stat(*text)) {
    if (!is_new) gained[line.device] = increase_of(last->second[line.device], line.load);
    now[line.device] = line.load;
  }
  last->second = std::move(now);
  return gained;
}

std::vector<DiskLoadOfPath> IoStat::read(std::span<const std::string> paths) {
  const std::set<std::string> owners = owners_of(paths);
  std::erase_if(
      last_, [&](const auto& each) { return each.first != "/" && !owners.contains(each.first); });
  std::vector<DiskLoadOfPath> loads;
  ByDevice left = read_one("/");
  const bool reads_all = owners.size() <= kMostFiles;
  auto owner = reads_all ? owners.begin() : owners.upper_bound(turn_);
  for (std::size_t i = 0; i < std::min(owners.size(), kMostFiles); ++i, ++owner) {
    if (owner == owners.end()) owner = owners.begin();
    turn_ = *owner;
    for (const auto& [device, load] : read_one(*owner)) {
      if (load == DiskLoad{}) continue;
      loads.push_back({name_of_(device), *owner, load});
      const auto rest = left.find(device);
      if (rest != left.end()) rest->second = rest_of(rest->second, load);
    }
  }
  for (const auto& [device, load] : left) {
    if (!reads_all || load == DiskLoad{}) continue;
    loads.push_back({name_of_(device), std::string(kUnknownCgroup), load});
  }
  return loads;
}

}  // namespace offcpud
