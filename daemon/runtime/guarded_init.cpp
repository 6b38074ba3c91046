// SPDX-License-Identifier: Apache-2.0
#include "runtime/guarded_init.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/file_io.h"
#include "runtime/privileges.h"

namespace offcpud {
namespace {

constexpr std::size_t kMaxStatus = 64 << 10;
constexpr std::size_t kMaxThreads = 1'024;  // switches of further ones count as none
constexpr std::uint64_t kPerSwitch = 2;
constexpr std::uint64_t kAtEdges = 4;  // switches that are under way while they are counted

// The number after `name`, 0 if there is none.
std::uint64_t number_after(std::string_view text, std::string_view name) {
  std::size_t at = text.find(name);
  if (at == std::string_view::npos) return 0;
  at = text.find_first_not_of(" \t", at + name.size());
  if (at == std::string_view::npos) return 0;
  std::uint64_t number = 0;
  (void)std::from_chars(text.data() + at, text.data() + text.size(), number);
  return number;
}

}  // namespace

std::optional<GuardedInit> GuardedInit::find() {
  if (!has_capability(Capability::SysPtrace)) return std::nullopt;
  std::error_code failed;
  (void)std::filesystem::read_symlink("/proc/1/ns/pid", failed);
  if (failed.value() != EACCES && failed.value() != EPERM) return std::nullopt;
  return GuardedInit("/proc");
}

GuardedInit::GuardedInit(std::filesystem::path proc) : proc_(std::move(proc)) {
  read_switches();
  switches_ = 0;
}

std::uint64_t GuardedInit::explained(std::uint64_t missed) {
  if (missed > most()) read_switches();
  return std::min(missed, most());
}

std::uint64_t GuardedInit::most() const {
  return kPerSwitch * switches_ + kAtEdges;
}

void GuardedInit::read_switches() {
  std::map<std::filesystem::path, std::uint64_t> threads;
  std::error_code failed;
  for (std::filesystem::directory_iterator thread(proc_ / "1/task", failed), end;
       !failed && thread != end && threads.size() < kMaxThreads; thread.increment(failed)) {
    const auto status = read_file(thread->path() / "status", kMaxStatus);
    if (!status) continue;  // it has ended
    const std::uint64_t now = number_after(*status, "\nvoluntary_ctxt_switches:") +
                              number_after(*status, "\nnonvoluntary_ctxt_switches:");
    const auto before = threads_.find(thread->path());
    const std::uint64_t counted = before == threads_.end() ? 0 : before->second;
    switches_ += now - std::min(counted, now);
    threads.emplace(thread->path(), now);
  }
  threads_ = std::move(threads);
}

}  // namespace offcpud
