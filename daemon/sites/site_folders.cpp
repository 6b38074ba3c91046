// SPDX-License-Identifier: Apache-2.0
#include "sites/site_folders.h"

#include <system_error>
#include <utility>

#include "base/printable.h"
#include "config/config_files.h"

namespace offcpud {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWhenEmpty = "remove it, or write rules into it";

}  // namespace

fs::path shipped_site_rules() {
  std::error_code code;
  const fs::path program = fs::read_symlink("/proc/self/exe", code);
  const fs::path prefix = code ? fs::path("/usr") : program.parent_path().parent_path();
  return prefix / "share/offcpud/wait-sites";
}

std::vector<fs::path> site_rule_folders(const fs::path& config_file) {
  const fs::path own = config_file.parent_path() / "wait-sites";
  const fs::path shipped = shipped_site_rules();
  std::error_code none;  // one of them does not exist
  if (fs::equivalent(own, shipped, none)) return {shipped};
  return {own, shipped};
}

std::string site_rules_text(const SiteRules& rules, std::span<const fs::path> folders) {
  std::string names;
  for (const fs::path& folder : folders) {
    names.append(names.empty() ? "" : ", ").append(printable(folder.native()));
  }
  if (rules.rules().empty()) return "there are no rules in " + names;
  return std::to_string(rules.rules().size()) + " rules for " +
         std::to_string(rules.sites().size()) + " sites in " + names;
}

Result<std::shared_ptr<const SiteRules>> load_site_rules(std::span<const fs::path> folders) {
  std::vector<SiteRule> all;
  for (std::size_t folder = 0; folder < folders.size(); ++folder) {
    TRY(const auto files, list_drop_ins(folders[folder]));
    for (const fs::path& file : files) {
      TRY(const auto text, read_config_file(file, kWhenEmpty));
      if (!text) continue;  // removed since it was listed
      TRY(auto rules, parse_site_rules(*text, printable(file.native())));
      for (SiteRule& rule : rules) {
        rule.folder = folder;
        all.push_back(std::move(rule));
      }
    }
  }
  return SiteRules::make(std::move(all));
}

}  // namespace offcpud
