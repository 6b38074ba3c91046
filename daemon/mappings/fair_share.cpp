// SPDX-License-Identifier: Apache-2.0
#include "mappings/fair_share.h"

#include <charconv>
#include <unordered_map>
#include <utility>

#include "base/file_io.h"

namespace offcpud {
namespace {

constexpr std::uint64_t kUnknownUser = UINT64_MAX;
constexpr std::string_view kUidLine = "\nUid:\t";  // real, effective, saved, file system

std::uint64_t user_of(const ShareHolder& holder) {
  return holder.uid ? *holder.uid : kUnknownUser;
}

}  // namespace

std::optional<std::uint32_t> who_gives_way(std::span<const ShareHolder> holders,
                                           const ShareHolder& wants) {
  std::unordered_map<std::uint64_t, std::uint64_t> of_users;
  of_users[user_of(wants)] = wants.held;
  for (const ShareHolder& holder : holders) {
    if (holder.tgid != wants.tgid) of_users[user_of(holder)] += holder.held;
  }
  // By user, then by process.
  const auto weight = [&of_users](const ShareHolder& holder) {
    return std::pair(of_users[user_of(holder)], holder.held);
  };
  auto most = weight(wants);
  std::optional<std::uint32_t> found;
  for (const ShareHolder& holder : holders) {
    if (holder.tgid == wants.tgid || weight(holder) <= most) continue;
    most = weight(holder);
    found = holder.tgid;
  }
  return found;
}

std::optional<std::uint32_t> real_uid_of(std::uint32_t tgid) {
  const auto status = read_file("/proc/" + std::to_string(tgid) + "/status", 65536);
  if (!status) return std::nullopt;
  const std::size_t line = status->find(kUidLine);
  if (line == std::string::npos) return std::nullopt;
  const char* const begin = status->data() + line + kUidLine.size();
  std::uint32_t uid = 0;
  const auto [end, error] = std::from_chars(begin, status->data() + status->size(), uid);
  if (error != std::errc()) return std::nullopt;
  return uid;
}

}  // namespace offcpud
