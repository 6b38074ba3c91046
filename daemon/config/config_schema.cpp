// SPDX-License-Identifier: Apache-2.0
#include "config/config_schema.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <vector>

#include "base/hist_kind.h"
#include "base/printable.h"
#include "config/duration.h"
#include "config/listen_address.h"
#include "config/push_keys.h"
#include "config/rule_keys.h"

namespace offcpud {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using namespace std::chrono_literals;

Status check_listen(std::string_view text) {
  TRY_VOID(parse_listen_address(text));
  return {};
}

Status check_state_dir(std::string_view text) {
  constexpr std::size_t kLongest = 1024;  // leaves room below PATH_MAX for the files inside
  const auto refusal = [&](const char* why) {
    return Error(quotation(text) + " " + why, ErrorKind::Configuration);
  };
  if (!text.starts_with('/')) return refusal("is not an absolute path");
  if (text.find_first_not_of('/') == std::string_view::npos)
    return refusal("is the root directory");
  if ((std::string(text) + "/").find("/../") != std::string::npos) return refusal("contains ..");
  if (text.size() > kLongest) return refusal("is too long");
  return {};
}

Status check_optional_file(std::string_view text) {
  if (text.empty() || text.starts_with('/')) return {};
  return Error(quotation(text) + " is not an absolute path", ErrorKind::Configuration);
}

// What stands in a Host header, without the port.
Status check_host(std::string_view text) {
  const bool name = !text.empty() && text.find_first_of("/@,[]:* ") == std::string_view::npos;
  if (name) return {};
  return Error(quotation(text) + " is no host name", ErrorKind::Configuration);
}

Status check_local_socket(std::string_view text) {
  if (text.empty()) return {};
  const auto address = parse_listen_address("unix:" + std::string(text));
  return address ? Status{} : Status(address.error());
}

Status check_group(std::string_view text) {
  if (text.find_first_of("/:, ") == std::string_view::npos) return {};
  return Error(quotation(text) + " is no name of a group", ErrorKind::Configuration);
}

constexpr std::array<std::string_view, 4> kDetails = {"auto", "open", "auth", "off"};
constexpr std::size_t kMostHosts = 32;
constexpr std::size_t kMostPushLabels = 16;
constexpr std::string_view kSecretFile = "an absolute path, or \"\"";
constexpr std::array<std::string_view, 5> kLogLevels = {"trace", "debug", "info", "warning",
                                                        "error"};
constexpr std::array<std::uint32_t, 2> kClassicBuckets = {14, 28};

constexpr std::array<std::string_view, 3> kBlockStates = {"interruptible", "uninterruptible",
                                                          "stopped"};
static_assert(Config::Snapshots::kAllStates == (1U << kBlockStates.size()) - 1);
constexpr std::span kReasons(kHistKindNames.data(), OFFCPUD_BLOCKED_KINDS);
static_assert(Config::Snapshots::kAllReasons == (1U << OFFCPUD_BLOCKED_KINDS) - 1);

using Stalls = Config::Stalls;
using Processes = Config::Processes;
using Snapshots = Config::Snapshots;
using Web = Config::Web;
using Push = Config::Push;
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
constexpr std::size_t kMostOver = 8;  // kMaxStallBounds of the views

using Milliseconds = DurationOption<milliseconds>;
using Seconds = DurationOption<seconds>;

constexpr std::array kOptions = {
    Option{
        "listen", TakesEffect::OnRestart,
        TextOption{field<&Config::listen>(), check_listen,
                   "HOST:PORT, \"[IPV6]:PORT\" (in quotes) or unix:/PATH; port 0 takes a free one"},
        "Address of the HTTP server: metrics, status and the page."},
    Option{"state_dir", TakesEffect::OnRestart,
           TextOption{field<&Config::state_dir>(), check_state_dir,
                      "an absolute path such as /var/lib/offcpud"},
           "Directory for what outlives a restart: snapshots are kept in its subdirectory "
           "snapshots."},
    Option{"log_level", TakesEffect::OnReload,
           ChoiceOption{field<&Config::log_level>(), kLogLevels},
           "Messages of this level and above are logged."},
    Option{"pass_interval", TakesEffect::OnReload,
           Milliseconds{field<&Config::pass_interval>(), 100ms, 5min},
           "The kernel maps are read at least this often, scraped or not."},
    Option{"min_pass_interval", TakesEffect::OnReload,
           Milliseconds{field<&Config::min_pass_interval>(), 10ms, 5min},
           "A scrape reads the kernel maps again when the last read is older than this; at most "
           "pass_interval."},
    Option{"linger", TakesEffect::OnReload, Seconds{field<&Config::linger>(), 10s, 7 * 24h},
           "A removed cgroup keeps its series this long; then its totals move to the nearest "
           "living ancestor."},
    Option{"max_cgroups", TakesEffect::OnRestart,
           NumberOption{field<&Config::max_cgroups>(), 16, 16'384},
           "Cgroups measured apart. Each takes at least 17040 bytes of kernel memory: 17 MiB for "
           "1024, 266 MiB for 16384."},
    Option{"max_series", TakesEffect::OnReload,
           NumberOption{field<&Config::max_series>(), 10, 1'000'000},
           "Histogram series on /metrics. What does not fit is summed under cgroup=\"(other)\"."},
    Option{"classic_buckets", TakesEffect::OnReload,
           NumberChoiceOption{field<&Config::classic_buckets>(), kClassicBuckets},
           "Buckets of a classic histogram: 28 are the powers of two of a second, 14 the powers "
           "of four."},
    Option{"walk_cpu_budget", TakesEffect::OnReload,
           Milliseconds{field<&Config::walk_cpu_budget>(), 5ms, 1s},
           "CPU time of a pass for walking over all threads; on a host with more threads than that "
           "suffices for, a walk is spread over several passes."},
    Option{"stalls.threshold", TakesEffect::OnReload,
           Seconds{field<&Config::stalls, &Stalls::threshold>(), 1s, 24h},
           "A thread that is blocked longer than this, in a reason that is not idle-prone, is a "
           "stall, unless one of stalls.rules says otherwise."},
    Option{"stalls.rules", TakesEffect::OnReload,
           RulesOption<StallRule>{field<&Config::stalls, &Stalls::rules>(), stall_rule_keys,
                                  "threshold"},
           "The first rule whose every key matches decides from when on a blocked thread is a "
           "stall. One without reason leaves the idle-prone reasons alone."},
    Option{"stalls.over", TakesEffect::OnReload,
           DurationListOption{field<&Config::stalls, &Stalls::over>(), 100ms, 24h, kMostOver},
           "Ages over which offcpud_stalled_threads counts the threads that are blocked."},
    Option{"stalls.keep", TakesEffect::OnReload,
           NumberOption{field<&Config::stalls, &Stalls::keep>(), 0, 10'000},
           "Stalls that are still shown when they are over; those in progress always are."},
    Option{"processes.max", TakesEffect::OnRestart,
           NumberOption{field<&Config::processes, &Processes::max>(), 64, 65'536},
           "Processes measured apart. Each takes 72 bytes of kernel memory, and 3 histograms of "
           "1216 bytes: 15 MiB for 4096, 233 MiB for 65536."},
    Option{"processes.top", TakesEffect::OnReload,
           NumberOption{field<&Config::processes, &Processes::top>(), 0, 1'000},
           "The processes that wait most get series of their own on /metrics: this many."},
    Option{"processes.rules", TakesEffect::OnReload,
           RulesOption<ProcessRule>{field<&Config::processes, &Processes::rules>(),
                                    process_rule_keys, ""},
           "A process whose every key of a rule matches gets series of its own on /metrics."},
    Option{"snapshots.enabled", TakesEffect::OnRestart,
           SwitchOption{field<&Config::snapshots, &Snapshots::enabled>()},
           "Whether stacks of blocked threads are sampled and kept."},
    Option{"snapshots.interval", TakesEffect::OnReload,
           Seconds{field<&Config::snapshots, &Snapshots::interval>(), 1s, 1h},
           "Each snapshot holds the stacks of so much time."},
    Option{"snapshots.keep_for", TakesEffect::OnReload,
           Seconds{field<&Config::snapshots, &Snapshots::keep_for>(), 1min, 90 * 24h},
           "Older snapshots are removed."},
    Option{"snapshots.keep_bytes", TakesEffect::OnReload,
           SizeOption{field<&Config::snapshots, &Snapshots::keep_bytes>(), kMiB, kMiB << 20U},
           "The oldest snapshots are removed when all together are larger."},
    Option{"snapshots.stacks_per_second", TakesEffect::OnReload,
           NumberOption{field<&Config::snapshots, &Snapshots::stacks_per_second>(), 1, 100'000},
           "Stacks that are taken a second, about: of the shorter blocks fewer are sampled when "
           "there are more."},
    Option{"snapshots.reasons", TakesEffect::OnReload,
           WordSetOption{field<&Config::snapshots, &Snapshots::reasons>(), kReasons},
           "Only blocks in these reasons go into snapshots, and no others are sampled for them."},
    Option{"snapshots.cgroups", TakesEffect::OnReload,
           RulesOption<CgroupRule>{field<&Config::snapshots, &Snapshots::cgroups>(),
                                   cgroup_rule_keys, "keep"},
           "The first rule whose every key matches decides whether snapshots keep the blocks of a "
           "cgroup; those that none matches are kept. Blocks are sampled all the same."},
    Option{"snapshots.min_duration", TakesEffect::OnReload,
           BlockLengthOption{field<&Config::snapshots, &Snapshots::min_duration>(), 24h},
           "Only blocks that last at least so long go into snapshots."},
    Option{
        "snapshots.max_duration", TakesEffect::OnReload,
        BlockLengthOption{field<&Config::snapshots, &Snapshots::max_duration>(), 24h},
        "Only blocks that last at most so long go into snapshots: into the one in which they end, "
        "whole, as what lasts may become longer."},
    Option{"snapshots.kernel_threads", TakesEffect::OnReload,
           SwitchOption{field<&Config::snapshots, &Snapshots::kernel_threads>()},
           "Whether blocks of kernel threads go into snapshots."},
    Option{"snapshots.states", TakesEffect::OnReload,
           WordSetOption{field<&Config::snapshots, &Snapshots::states>(), kBlockStates},
           "Only blocks of threads that left the CPU in one of these states go into snapshots."},
    Option{"web.config_file", TakesEffect::OnRestart,
           TextOption{field<&Config::web, &Web::config_file>(), check_optional_file,
                      "an absolute path, or \"\" for plain HTTP without passwords"},
           "TLS and users of the HTTP server, in the format of other Prometheus exporters; what is "
           "in the file takes effect when it changes. See docs/security.md."},
    Option{"web.details", TakesEffect::OnReload,
           ChoiceOption{field<&Config::web, &Web::details>(), kDetails},
           "Who sees stacks, processes and threads: open, whoever may see /metrics; auth, those "
           "who log in, while /metrics needs no password; off, nobody; auto, everybody on "
           "loopback and unix sockets, elsewhere those who log in."},
    Option{"web.hosts", TakesEffect::OnReload,
           NameListOption{field<&Config::web, &Web::hosts>(), check_host, "host names", kMostHosts},
           "Names that requests may ask for in their Host header, besides IP addresses, localhost "
           "and the name of this host. Empty: these three on loopback, any name elsewhere."},
    Option{"web.local_socket", TakesEffect::OnRestart,
           TextOption{field<&Config::web, &Web::local_socket>(), check_local_socket,
                      "an absolute path, or \"\" for none"},
           "A unix socket besides listen, to which everybody on this host may connect: root, the "
           "user of the daemon and web.socket_group see everything there without a login; the "
           "others what they see over listen. offcpuctl asks there first."},
    Option{
        "web.socket_group", TakesEffect::OnRestart,
        TextOption{field<&Config::web, &Web::socket_group>(), check_group,
                   "the name of a group, or \"\" for that of the daemon"},
        "Group of listen when that is a unix socket, which then has mode 0660 and takes a daemon "
        "that belongs to the group; its members see everything over unix sockets."},
    Option{
        "push.url", TakesEffect::OnReload,
        TextOption{field<&Config::push, &Push::url>(), check_push_url,
                   "a base URL such as https://pyroscope.example:4040, or \"\" to send nothing",
                   false},
        "Pyroscope server that each snapshot is sent to when it is finished; /ingest is appended. "
        "See docs/fleet.md."},
    Option{"push.tenant", TakesEffect::OnReload,
           TextOption{field<&Config::push, &Push::tenant>(), check_push_tenant,
                      "letters, digits and !-_.*'(), 150 at most, or \"\""},
           "Tenant, sent as X-Scope-OrgID."},
    Option{"push.application", TakesEffect::OnReload,
           TextOption{field<&Config::push, &Push::application>(), check_push_application,
                      "letters, digits and -_./, 128 at most"},
           "Application name: service_name of the profiles."},
    Option{"push.labels", TakesEffect::OnReload,
           NameListOption{field<&Config::push, &Push::labels>(), check_push_label,
                          "labels name=value", kMostPushLabels},
           "Labels of the profiles. instance is the name of this host unless it is given here."},
    Option{"push.username", TakesEffect::OnReload,
           TextOption{field<&Config::push, &Push::username>(), check_push_username,
                      "a name without colon, or \"\" for no basic authentication"},
           "User for basic authentication; it takes push.password_file."},
    Option{
        "push.password_file", TakesEffect::OnReload,
        TextOption{field<&Config::push, &Push::password_file>(), check_optional_file, kSecretFile},
        "File with the password of push.username, read for each attempt; nothing else shows what "
        "is "
        "in it."},
    Option{"push.token_file", TakesEffect::OnReload,
           TextOption{field<&Config::push, &Push::token_file>(), check_optional_file, kSecretFile},
           "File with a bearer token, in place of user and password; read for each attempt."},
    Option{"push.ca_file", TakesEffect::OnReload,
           TextOption{field<&Config::push, &Push::ca_file>(), check_optional_file, kSecretFile},
           "Certificates (PEM) that the server's must lead to, in place of those that the host "
           "trusts."},
    Option{"push.timeout", TakesEffect::OnReload,
           Seconds{field<&Config::push, &Push::timeout>(), 1s, 5min},
           "An attempt to send ends after this time; it is repeated."},
    Option{
        "push.queue_bytes", TakesEffect::OnReload,
        SizeOption{field<&Config::push, &Push::queue_bytes>(), kMiB >> 4U, kMiB << 10U},
        "Snapshots that wait to be sent take this much memory at most: beyond, the oldest is given "
        "up."},
};

// Levenshtein distance; both words are short.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

// PassInterval and pass-interval are meant as pass_interval.
std::string normalised(std::string_view key) {
  std::string out;
  bool after_lower = false;
  for (const char c : key) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (upper && after_lower) out += '_';
    after_lower = c >= 'a' && c <= 'z';
    if (upper) {
      out += static_cast<char>(c - 'A' + 'a');
    } else {
      out += c == '-' ? '_' : c;
    }
  }
  return out;
}

}  // namespace

std::span<const Option> config_options() {
  return kOptions;
}

const Option* find_option(std::string_view key) {
  const auto* const found =
      std::find_if(kOptions.begin(), kOptions.end(), [&](const Option& o) { return o.key == key; });
  return found == kOptions.end() ? nullptr : found;
}

bool is_list(const Option& option) {
  return std::holds_alternative<DurationListOption>(option.type) ||
         std::holds_alternative<NameListOption>(option.type) ||
         std::holds_alternative<RulesOption<StallRule>>(option.type) ||
         std::holds_alternative<RulesOption<ProcessRule>>(option.type) ||
         std::holds_alternative<RulesOption<CgroupRule>>(option.type) ||
         std::holds_alternative<WordSetOption>(option.type);
}

bool is_option_group(std::string_view key) {
  return std::any_of(kOptions.begin(), kOptions.end(), [&](const Option& option) {
    return option.key.size() > key.size() && option.key.starts_with(key) &&
           option.key[key.size()] == '.';
  });
}

std::string_view nearest_key(std::string_view key) {
  constexpr std::size_t kLongestKey = 64;
  if (key.size() > kLongestKey) return {};
  const std::string wanted = normalised(key);
  std::string_view nearest;
  std::size_t least = std::max<std::size_t>(2, wanted.size() / 3) + 1;
  for (const Option& option : kOptions) {
    const std::size_t distance = edit_distance(wanted, option.key);
    if (distance >= least || distance >= option.key.size()) continue;
    least = distance;
    nearest = option.key;
  }
  return nearest;
}

std::optional<Conflict> find_conflict(const Config& config) {
  if (config.min_pass_interval > config.pass_interval) {
    return Conflict{"min_pass_interval", "pass_interval",
                    "min_pass_interval (" + format_duration(config.min_pass_interval) +
                        ") is longer than pass_interval (" + format_duration(config.pass_interval) +
                        "); lower the first or raise the second"};
  }
  const Snapshots& snapshots = config.snapshots;
  if (snapshots.min_duration && snapshots.max_duration &&
      *snapshots.min_duration > *snapshots.max_duration) {
    return Conflict{"snapshots.min_duration", "snapshots.max_duration",
                    "snapshots.min_duration (" + format_fine_duration(*snapshots.min_duration) +
                        ") is longer than snapshots.max_duration (" +
                        format_fine_duration(*snapshots.max_duration) +
                        "): no block is both; lower the first or raise the second"};
  }
  if (config.web.details == "auth" && config.web.config_file.empty()) {
    return Conflict{"web.details", "web.config_file",
                    "nobody can log in without web.config_file, which names the users; set it, or "
                    "use off"};
  }
  return find_push_conflict(config);
}

}  // namespace offcpud
