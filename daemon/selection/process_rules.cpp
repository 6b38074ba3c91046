// SPDX-License-Identifier: Apache-2.0
#include "selection/process_rules.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <memory>
#include <string_view>
#include <utility>

#include "base/deleted_path.h"
#include "base/text.h"

namespace offcpud {
namespace {

template <class AnyPattern>
bool allows(const std::optional<AnyPattern>& pattern, std::string_view text) {
  return !pattern || pattern->matches(text);
}

}  // namespace

Result<std::optional<std::string>> read_exe(const std::filesystem::path& proc, std::uint32_t pid) {
  const std::filesystem::path link = proc / std::to_string(pid) / "exe";
  std::array<char, PATH_MAX> target{};
  const ssize_t length = ::readlink(link.c_str(), target.data(), target.size());
  if (length < 0 && (errno == EACCES || errno == EPERM)) {
    return Error::from_errno(errno, "read link", link.string());
  }
  if (length < 0) return std::optional<std::string>();
  std::string_view path(target.data(), static_cast<std::size_t>(length));
  (void)remove_deleted(path);
  return std::optional(to_valid_utf8(path));
}

Result<ProcessRules> ProcessRules::compile(const std::vector<ProcessRule>& rules,
                                           std::filesystem::path proc,
                                           ExeUnreadable on_unreadable) {
  ProcessRules result;
  result.proc_ = std::move(proc);
  result.on_unreadable_ = std::move(on_unreadable);
  for (const ProcessRule& text : rules) {
    Rule rule;
    TRY(rule.comm, Pattern::parse_if_any(text.comm));
    TRY(rule.exe, Pattern::parse_if_any(text.exe));
    TRY(rule.unit, Pattern::parse_if_any(text.unit));
    TRY(rule.cgroup, CgroupPattern::parse(text.cgroup));
    result.rules_.push_back(std::move(rule));
  }
  return result;
}

bool ProcessRules::Rule::matches_names(const ProcessRow& row) const {
  return allows(comm, row.comm) && allows(unit, row.labels->unit) &&
         allows(cgroup, row.labels->cgroup);
}

// Another process may have got the pid since the row was made; then the selection asks again later,
// and drops the row with the process.
std::optional<std::string> ProcessRules::exe_of(const ProcessRow& row) {
  if (row.kernel_thread || row.pid == 0) return std::nullopt;
  auto exe = read_exe(proc_, row.pid);
  if (exe) return *std::move(exe);
  if (auto tell = std::exchange(on_unreadable_, nullptr)) tell(exe.error());
  return std::nullopt;
}

bool ProcessRules::match(const ProcessRow& row) {
  std::optional<std::optional<std::string>> exe;  // read once, and only if a rule needs it
  for (const Rule& rule : rules_) {
    if (!rule.matches_names(row)) continue;
    if (!rule.exe) return true;
    if (!exe) exe = exe_of(row);
    if (*exe && rule.exe->matches(**exe)) return true;
  }
  return false;
}

Result<std::function<bool(const ProcessRow&)>> process_choice(const Config::Processes& options,
                                                              ExeUnreadable on_unreadable,
                                                              const std::filesystem::path& proc) {
  using Choice = std::function<bool(const ProcessRow&)>;
  if (options.rules.empty()) return Choice();
  TRY(auto compiled_rules, ProcessRules::compile(options.rules, proc, std::move(on_unreadable)));
  const auto rules = std::make_shared<ProcessRules>(std::move(compiled_rules));
  return Choice([rules](const ProcessRow& row) { return rules->match(row); });
}

}  // namespace offcpud
