// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "config/pattern.h"
#include "pipeline/view.h"
#include "selection/cgroup_pattern.h"

namespace offcpud {

// The program that a process runs: its path in the process's mount namespace. Leaves out the suffix
// "(deleted)", which a replaced file has. nullopt: the process is gone, or is a kernel thread. An
// error of kind Permission means that CAP_SYS_PTRACE is missing, which /proc/PID/exe of another
// user needs.
Result<std::optional<std::string>> read_exe(const std::filesystem::path& proc, std::uint32_t pid);

// Called with the first program that could not be read; later ones are ignored.
using ExeUnreadable = std::function<void(const Error& error)>;

// The option processes.rules, compiled. Single-threaded.
class ProcessRules {
 public:
  // Error: an expression does not compile. load_config() refuses those before.
  static Result<ProcessRules> compile(const std::vector<ProcessRule>& rules,
                                      std::filesystem::path proc, ExeUnreadable on_unreadable);

  // Whether any rule matches. A rule with `exe` does not match if the program cannot be read.
  [[nodiscard]] bool match(const ProcessRow& row);

 private:
  struct Rule {
    std::optional<Pattern> comm, exe, unit;  // nullopt: any
    std::optional<CgroupPattern> cgroup;     // the same

    [[nodiscard]] bool matches_names(const ProcessRow& row) const;
  };

  std::optional<std::string> exe_of(const ProcessRow& row);

  std::vector<Rule> rules_;
  std::filesystem::path proc_;
  ExeUnreadable on_unreadable_;
};

// The rules in the form of SelectionOptions::is_chosen; null: there are none. Copies share them.
Result<std::function<bool(const ProcessRow&)>> process_choice(
    const Config::Processes& options, ExeUnreadable on_unreadable,
    const std::filesystem::path& proc = "/proc");

}  // namespace offcpud
