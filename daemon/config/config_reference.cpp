// SPDX-License-Identifier: Apache-2.0
#include "config/config_reference.h"

#include "config/config_files.h"
#include "config/config_loader.h"
#include "config/config_schema.h"
#include "config/rule_keys.h"

namespace offcpud {
namespace {

constexpr std::string_view kIntroduction = R"(# Configuration

<!-- Generated from daemon/config/config_schema.cpp. After a change there:
     OFFCPUD_UPDATE_GOLDEN=1 build-test/plain/bin/offcpud_unit_tests --gtest_filter='ConfigReference*' -->

A value comes from the last of these that sets it:

1. the default below;
2. the main file, `@FILE@` or the one named by `--config`;
3. the files `conf.d/*.yaml` beside the main file, in lexical order;
4. `--set KEY=VALUE`, in the order of the command line;
5. `--listen` and `--state-dir`.

The default main file may be absent, also where `--config` names it; another file may not. Nor may the default file
where other hosts reach the daemon and no `web.config_file` is set, or where `push.url` sends stacks to another host,
because the file may have held what protects them. A file of one line of comment is enough then. An unknown key, a key
set twice in one file, or a value that is not allowed is an error (exit code 78) that names file, line, key and what is
allowed. `offcpud --check-config` and `offcpuctl check-config` find them without starting anything.

The files are YAML: UTF-8, one document, a map of options, without anchors, aliases and tags. A dot
in a key below stands for a nested map. A file is at most @KIB@ KiB, `conf.d` holds at most @DROPINS@
files. A file of comments only sets nothing; a file that is empty is taken for a failed write and
refused. Durations are whole numbers with a unit (`ms`, `s`, `min` or `m`, `h`, `d`), combined from larger
to smaller: `500ms`, `10s`, `1h30min`. Sizes are whole numbers with one of `B`, `KiB`, `MiB`, `GiB`,
`TiB`. Lists are written with brackets or dashes. Durations of blocks also have the unit `us`.

The rules of [wait sites](wait-sites.md), `wait-sites/*.yaml` beside the main file and those that are shipped, are read
with it: a mistake in them counts as one in it.

A reload (`SIGHUP`, `systemctl reload offcpud`) reads the same sources again. If anything in them is
wrong, the running configuration stays. Options marked *restart* keep their value until the daemon
is restarted; the log and the status name those that were changed.

| option | default | allowed | takes effect | meaning |
|---|---|---|---|---|
)";

constexpr std::string_view kRules = R"(
## Rules

A rule is a map. It matches when each of its keys matches; a key that is left out matches everything.
Expressions are [RE2](https://github.com/google/re2/wiki/Syntax) and must match the whole text:
`nginx` is that name and no other, `nginx.*` all names that begin with it. In double quotes a
backslash is written twice, in single quotes once: `'redis-\d+'`.

```yaml
stalls:
  rules:
    - {cgroup: /system\.slice/backup.*, threshold: never}  # may wait as long as it likes
    - {comm: postgres, reason: condvar, threshold: 1min}   # idle-prone: counts because it is named
    - {reason: disk, threshold: 2s}
processes:
  rules:
    - unit: '(nginx|postgresql@.*)\.service'
snapshots:
  cgroups:
    - {cgroup: /system\.slice/backup.*, keep: false}       # all but these
    # - {cgroup: '/kubepods\.slice/.*', keep: true}        # or: these ...
    # - {keep: false}                                      # ... and no others
```

On the command line a list is on one line: `--set 'stalls.rules=[{comm: cp, threshold: never}]'`. A
list replaces the list of an earlier source. Other values may be in quotes, as in the file:
`--set 'web.local_socket=""'`. `comm` of a stall rule is the name of the thread or of its
process.
)";

void replace(std::string& text, std::string_view mark, const std::string& value) {
  text.replace(text.find(mark), mark.size(), value);
}

// A table with one line for each key of a rule.
template <class Rule>
std::string rule_table(std::string_view option, std::span<const Setting<Rule>> keys) {
  std::string text = "\n| key of `" + std::string(option) + "` | allowed |\n|---|---|\n";
  for (const Setting<Rule>& key : keys) {
    text.append("| `").append(key.name).append("` | ").append(key.allowed).append(" |\n");
  }
  return text;
}

}  // namespace

std::string configuration_reference() {
  std::string text(kIntroduction);
  replace(text, "@FILE@", kDefaultConfigFile);
  replace(text, "@KIB@", std::to_string(kMaxConfigFileBytes / 1024));
  replace(text, "@DROPINS@", std::to_string(kMaxDropIns));
  const Config defaults;
  for (const Option& option : config_options()) {
    const bool live = option.takes_effect == TakesEffect::OnReload;
    const std::string value = option.text(defaults);
    text.append("| `").append(option.name).append("` | `").append(value.empty() ? "\"\"" : value);
    text.append("` | ").append(option.allowed).append(live ? " | reload" : " | restart");
    text.append(" | ").append(option.help).append(" |\n");
  }
  text += kRules;
  text += rule_table("stalls.rules", stall_rule_keys());
  text += rule_table("processes.rules", process_rule_keys());
  text += rule_table("snapshots.cgroups", cgroup_rule_keys());
  return text;
}

std::string config_text(const Config& config) {
  std::string text;
  for (const Option& option : config_options()) {
    text.append(option.name).append(": ");
    const std::string value = option.text(config);
    text.append(option.is_list() ? value : yaml_scalar(value)).append("\n");
  }
  return text;
}

}  // namespace offcpud
