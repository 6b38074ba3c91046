// SPDX-License-Identifier: Apache-2.0
// Files of rules about wait sites.
#include "config/lists.h"
#include "fuzz.h"
#include "sites/site_rule_keys.h"
#include "sites/site_rules.h"
#include "text.h"
#include "yaml_files.h"

namespace offcpud::fuzz {
namespace {

void require_error(std::string_view input, const std::string& why) {
  require(why.starts_with("file.yaml:"), "an error says where");
  require(!is_utf8(input) || is_printable(why), "in one line of text");
}

}  // namespace

void test(std::string_view input) {
  const auto rules = parse_site_rules(std::string(input), "file.yaml");
  if (!rules) return require_error(input, rules.error().message());
  if (rules->empty()) return;
  std::string written = "sites:\n";
  for (const SiteRule& rule : *rules) {
    require(!rule.name.empty() && rule.line >= 1, "a rule has a name and a line");
    written += "- " + rule_text(site_rule_keys(), rule) + "\n";
  }
  const auto again = parse_site_rules(written, "again.yaml");
  require(static_cast<bool>(again) && again->size() == rules->size(),
          "what is written is read back");
  for (std::size_t i = 0; i < rules->size(); ++i) {
    require(rule_text(site_rule_keys(), (*rules)[i]) == rule_text(site_rule_keys(), (*again)[i]),
            "and means the same");
  }
  const auto made = SiteRules::make(*rules);
  if (!made) return require_error(input, made.error().message());
  require((*made)->rules().size() == rules->size(), "all are tried");
  for (const PreparedRule& each : (*made)->rules()) {
    require((*made)->sites()[each.site] == WaitSite{each.rule.name, each.rule.wait_for},
            "each is of a site");
  }
}

std::vector<std::string> seeds() {
  return site_rule_files();
}

}  // namespace offcpud::fuzz
