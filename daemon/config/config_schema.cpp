// SPDX-License-Identifier: Apache-2.0
#include "config/config_schema.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "config/duration.h"
#include "config/listen_address.h"
#include "config/lists.h"
#include "config/push_keys.h"
#include "config/reason_names.h"
#include "config/refusal.h"
#include "config/rule_keys.h"
#include "kept_off.h"
#include "offcpud.h"

namespace offcpud {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using namespace std::chrono_literals;
using enum TakesEffect;

using Stalls = Config::Stalls;
using Processes = Config::Processes;
using Snapshots = Config::Snapshots;
using Goroutines = Config::Goroutines;
using Web = Config::Web;
using Push = Config::Push;

Status check_listen(std::string_view text) {
  TRY_VOID(parse_listen_address(text));
  return {};
}

Status check_state_dir(std::string_view text) {
  constexpr std::size_t kLongest = 1024;  // leaves room below PATH_MAX for the files inside
  if (!text.starts_with('/')) return refusal(text, "is not an absolute path");
  if (text.find_first_not_of('/') == std::string_view::npos)
    return refusal(text, "is the root directory");
  if ((std::string(text) + "/").find("/../") != std::string::npos)
    return refusal(text, "contains ..");
  if (text.size() > kLongest) return refusal(text, "is too long");
  return {};
}

Status check_optional_file(std::string_view text) {
  if (text.empty() || text.starts_with('/')) return {};
  return refusal(text, "is not an absolute path");
}

// Checks a name in a Host header, without the port.
Status check_host(std::string_view text) {
  const bool name = !text.empty() && text.find_first_of("/@,[]:* ") == std::string_view::npos;
  if (name) return {};
  return refusal(text, "is not a host name");
}

Status check_local_socket(std::string_view text) {
  if (text.empty()) return {};
  const auto address = parse_listen_address("unix:" + std::string(text));
  return address ? Status{} : Status(address.error());
}

Status check_group(std::string_view text) {
  if (text.find_first_of("/:, ") == std::string_view::npos) return {};
  return refusal(text, "is not the name of a group");
}

constexpr const char* kFileOrNone = "an absolute path, or \"\"";
constexpr std::array<std::string_view, 3> kBlockStates = {"interruptible", "uninterruptible",
                                                          "stopped"};
static_assert(Snapshots::kAllStates == (1U << kBlockStates.size()) - 1);
static_assert(Snapshots::kAllReasons == (1U << OFFCPUD_BLOCKED_KINDS) - 1);
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
constexpr std::size_t kMostOver = 8;  // kMaxStallBounds of the View

Notation<std::uint32_t> bucket_count() {
  const auto number = any_number<std::uint32_t>();
  const auto parse = [=](std::string_view text) -> Result<std::uint32_t> {
    TRY(const auto count, number.parse(text));
    if (count != 14 && count != 28) return refusal(text, "is not allowed");
    return count;
  };
  return {parse, number.text, "14 or 28"};
}

template <class Access, class AnyNotation>
Option option(std::string_view name, Access access, const AnyNotation& notation,
              TakesEffect takes_effect, std::string_view help) {
  const auto copy = [=](Config& to, const Config& from) { access(to) = access(from); };
  return {setting<Config>(name, access, notation, help), takes_effect, copy};
}

static_assert(sizeof(offcpud_subject) + sizeof(offcpud_kept_off_times) == 19152,
              "the help of max_cgroups names this size");

std::vector<Option> general_options() {
  return {
      option("listen", member(&Config::listen),
             text_that(
                 check_listen,
                 "HOST:PORT, \"[IPV6]:PORT\" (in quotes) or unix:/PATH; port 0 takes a free one"),
             OnRestart, "Address of the HTTP server: metrics, status and the page."),
      option(
          "state_dir", member(&Config::state_dir),
          text_that(check_state_dir, "an absolute path such as /var/lib/offcpud"), OnRestart,
          "Directory for data that outlives a restart: snapshots, in its subdirectory snapshots."),
      option("log_level", member(&Config::log_level),
             one_of({"trace", "debug", "info", "warning", "error"}), OnReload,
             "Messages of this level and above are logged."),
      option("pass_interval", member(&Config::pass_interval),
             duration_between<milliseconds>(100ms, 5min), OnReload,
             "The kernel maps are read at least this often, scraped or not."),
      option("min_pass_interval", member(&Config::min_pass_interval),
             duration_between<milliseconds>(10ms, 5min), OnReload,
             "A scrape reads the kernel maps again when the last read is older than this; at most "
             "pass_interval."),
      option("linger", member(&Config::linger), duration_between<seconds>(10s, 7 * 24h), OnReload,
             "A removed cgroup keeps its series this long; then its totals move to the nearest "
             "living ancestor."),
      option("max_cgroups", member(&Config::max_cgroups), whole_number<std::uint32_t>(16, 16'384),
             OnRestart,
             "Cgroups that are measured separately. Each takes at least 19152 bytes of kernel "
             "memory: 19 MiB for "
             "1024, 299 MiB for 16384."),
      option(
          "max_takers", member(&Config::max_takers), whole_number<std::uint32_t>(0, 100), OnRestart,
          "Other cgroups that are named for each one in offcpud_kept_off_seconds_total. 0: nobody "
          "notes who has the CPU while threads wait for it; there is no such metric."),
      option("disk_loads", member(&Config::disk_loads), one_of({"trace", "io_stat", "off"}),
             OnRestart,
             "How it is known which cgroups load a disk. trace: kernel programs follow every "
             "request. io_stat: from io.stat, where the io controller of cgroup v2 is on; also "
             "where the kernel cannot trace."),
      option("max_series", member(&Config::max_series), whole_number<std::uint32_t>(10, 1'000'000),
             OnReload,
             "Histogram series on /metrics. What does not fit is summed under cgroup=\"(other)\"."),
      option("classic_buckets", member(&Config::classic_buckets), bucket_count(), OnReload,
             "Buckets of a classic histogram: 28 are the powers of two of a second, 14 the powers "
             "of four."),
      option("walk_cpu_budget", member(&Config::walk_cpu_budget),
             duration_between<milliseconds>(5ms, 1s), OnReload,
             "CPU time that a pass may spend on walking over all threads. If it does not suffice, "
             "a walk is spread over several passes."),
  };
}

std::vector<Option> stalls_options() {
  return {
      option("stalls.threshold", member(&Config::stalls, &Stalls::threshold),
             duration_between<seconds>(1s, 24h), OnReload,
             "A block that lasts longer than this is a stall if its stack says that somebody can "
             "act on it. A rule of stalls.rules that matches decides the time instead."),
      option("stalls.rules", member(&Config::stalls, &Stalls::rules),
             rules<StallRule>(stall_rule_keys(), "threshold"), OnReload,
             "The first rule whose keys all match decides after which time a block is a stall. A "
             "rule that names an idle-prone reason makes stalls of its blocks, whatever their "
             "stacks say."),
      option("stalls.over", member(&Config::stalls, &Stalls::over),
             rising_durations(100ms, 24h, kMostOver), OnReload,
             "For each of these, offcpud_stalled_threads counts the threads that are blocked for "
             "longer."),
      option("stalls.keep", member(&Config::stalls, &Stalls::keep),
             whole_number<std::uint32_t>(0, 10'000), OnReload,
             "How many ended stalls are still shown; those in progress always are."),
      option("stalls.unusual", member(&Config::stalls, &Stalls::unusual),
             whole_number<std::uint32_t>(0, 1'000'000), OnReload,
             "A wait of which nobody can tell what it is for is shown as unusual, apart from "
             "stalls, if it is as long as a stall, so many times as long as 99 % of the waits at "
             "its place were, and its unit has work to do. 0: none is."),
  };
}

std::vector<Option> processes_options() {
  return {
      option("processes.max", member(&Config::processes, &Processes::max),
             whole_number<std::uint32_t>(64, 65'536), OnRestart,
             "Processes that are measured separately. Each takes 72 bytes of kernel memory, and 3 "
             "histograms of "
             "1216 bytes: 15 MiB for 4096, 233 MiB for 65536."),
      option("processes.top", member(&Config::processes, &Processes::top),
             whole_number<std::uint32_t>(0, 1'000), OnReload,
             "This many processes, those that wait most, get series of their own on /metrics."),
      option("processes.rules", member(&Config::processes, &Processes::rules),
             rules<ProcessRule>(process_rule_keys(), ""), OnReload,
             "A process that matches all keys of a rule gets series of its own on /metrics."),
  };
}

std::vector<Option> snapshots_options() {
  return {
      option("snapshots.enabled", member(&Config::snapshots, &Snapshots::enabled), flag(),
             OnRestart, "Whether stacks of blocked threads are sampled and kept."),
      option("snapshots.interval", member(&Config::snapshots, &Snapshots::interval),
             duration_between<seconds>(1s, 1h), OnReload,
             "Each snapshot holds the stacks of this much time."),
      option("snapshots.keep_for", member(&Config::snapshots, &Snapshots::keep_for),
             duration_between<seconds>(1min, 90 * 24h), OnReload, "Older snapshots are removed."),
      option("snapshots.keep_bytes", member(&Config::snapshots, &Snapshots::keep_bytes),
             size_between(kMiB, kMiB << 20U), OnReload,
             "The oldest snapshots are removed when all together exceed this size."),
      option("snapshots.stacks_per_second",
             member(&Config::snapshots, &Snapshots::stacks_per_second),
             whole_number<std::uint32_t>(1, 100'000), OnReload,
             "Target for the stacks taken per second: when there are more blocks, fewer of the "
             "short ones are sampled."),
      option("snapshots.reasons", member(&Config::snapshots, &Snapshots::reasons),
             word_set(kReasonNames), OnReload,
             "Only blocks for these reasons are sampled for snapshots."),
      option("snapshots.cgroups", member(&Config::snapshots, &Snapshots::cgroups),
             rules<CgroupRule>(cgroup_rule_keys(), "keep"), OnReload,
             "The first rule that matches a cgroup decides whether snapshots keep its blocks; if "
             "none matches, they are kept. All blocks are sampled nevertheless."),
      option("snapshots.min_duration", member(&Config::snapshots, &Snapshots::min_duration),
             or_word("none", fine_duration_between(1us, 24h)), OnReload,
             "Only blocks that last at least this long go into snapshots."),
      option("snapshots.max_duration", member(&Config::snapshots, &Snapshots::max_duration),
             or_word("none", fine_duration_between(1us, 24h)), OnReload,
             "Only blocks that last at most this long go into snapshots. A block in progress may "
             "still become longer, so it goes whole into the snapshot in which it ends."),
      option("snapshots.kernel_threads", member(&Config::snapshots, &Snapshots::kernel_threads),
             flag(), OnReload, "Whether blocks of kernel threads go into snapshots."),
      option("snapshots.states", member(&Config::snapshots, &Snapshots::states),
             word_set(kBlockStates), OnReload,
             "Only blocks of threads that left the CPU in one of these states go into snapshots."),
  };
}

std::vector<Option> goroutines_options() {
  return {
      option("goroutines.enabled", member(&Config::goroutines, &Goroutines::enabled), flag(),
             OnReload,
             "Whether the daemon looks at the goroutines of all Go programs, and says what they "
             "wait for. It needs snapshots.enabled."),
      option("goroutines.interval", member(&Config::goroutines, &Goroutines::interval),
             duration_between<milliseconds>(100ms, 1min), OnReload,
             "Each Go program is looked at once in this time, at a random moment of it."),
      option("goroutines.cpu_budget", member(&Config::goroutines, &Goroutines::cpu_budget),
             duration_between<milliseconds>(1ms, 500ms), OnReload,
             "CPU time of each second that looking at goroutines may take. If it does not suffice, "
             "looks come later, and see a part of a program's goroutines."),
  };
}

std::vector<Option> web_options() {
  return {
      option(
          "web.config_file", member(&Config::web, &Web::config_file),
          text_that(check_optional_file,
                    "an absolute path, or \"\" for plain HTTP without passwords"),
          OnRestart,
          "File with TLS and users of the HTTP server, in the format of other Prometheus "
          "exporters. A change of the file takes effect without a restart. See docs/security.md."),
      option("web.details", member(&Config::web, &Web::details),
             one_of({"auto", "open", "auth", "off"}), OnReload,
             "Who sees stacks, processes and threads: open, whoever may see /metrics; auth, those "
             "who log in, while /metrics needs no password; off, nobody; auto, everybody on "
             "loopback and unix sockets, elsewhere those who log in."),
      option(
          "web.hosts", member(&Config::web, &Web::hosts),
          texts(text_that(check_host, "host names"), 32), OnReload,
          "Names that requests may ask for in their Host header, besides IP addresses, localhost "
          "and the name of this host. Empty: these three on loopback, any name elsewhere."),
      option("web.local_socket", member(&Config::web, &Web::local_socket),
             text_that(check_local_socket, "an absolute path, or \"\" for none"), OnRestart,
             "A unix socket in addition to listen. Everybody on this host may connect: root, the "
             "user of the daemon and members of web.socket_group see everything without a login, "
             "others what they see over listen. offcpuctl tries it first."),
      option("web.socket_group", member(&Config::web, &Web::socket_group),
             text_that(check_group, "the name of a group, or \"\" for that of the daemon"),
             OnRestart,
             "Group of listen if that is a unix socket, which then has mode 0660; the daemon must "
             "belong to the group. Members see everything over unix sockets."),
  };
}

std::vector<Option> push_options() {
  return {
      option("push.url", member(&Config::push, &Push::url),
             secret_text_that(
                 check_push_url,
                 "a base URL such as https://pyroscope.example:4040, or \"\" to send nothing"),
             OnReload,
             "Pyroscope server to which each finished snapshot is sent; /ingest is appended. See "
             "docs/fleet.md."),
      option("push.tenant", member(&Config::push, &Push::tenant),
             text_that(check_push_tenant, "letters, digits and !-_.*'(), 150 at most, or \"\""),
             OnReload, "Tenant, sent as X-Scope-OrgID."),
      option("push.application", member(&Config::push, &Push::application),
             text_that(check_push_application, "letters, digits and -_./, 128 at most"), OnReload,
             "Application name: service_name of the profiles."),
      option("push.labels", member(&Config::push, &Push::labels),
             texts(text_that(check_push_label, "labels name=value"), 16), OnReload,
             "Labels of the profiles. instance is the name of this host unless it is given here."),
      option("push.username", member(&Config::push, &Push::username),
             text_that(check_push_username,
                       "a name without colon, or \"\" for no basic authentication"),
             OnReload, "User for basic authentication; needs push.password_file."),
      option("push.password_file", member(&Config::push, &Push::password_file),
             text_that(check_optional_file, kFileOrNone), OnReload,
             "File with the password of push.username, read for each attempt. The password is "
             "never shown."),
      option("push.token_file", member(&Config::push, &Push::token_file),
             text_that(check_optional_file, kFileOrNone), OnReload,
             "File with a bearer token, in place of user and password; read for each attempt."),
      option("push.ca_file", member(&Config::push, &Push::ca_file),
             text_that(check_optional_file, kFileOrNone), OnReload,
             "Certificates (PEM) that must have issued the server's, in place of those that the "
             "host trusts."),
      option("push.timeout", member(&Config::push, &Push::timeout),
             duration_between<seconds>(1s, 5min), OnReload,
             "An attempt to send a snapshot ends after this time and is repeated."),
      option("push.queue_bytes", member(&Config::push, &Push::queue_bytes),
             size_between(kMiB >> 4U, kMiB << 10U), OnReload,
             "Snapshots that wait to be sent take at most this much memory; then the oldest is "
             "dropped."),
  };
}

std::vector<Option> all_options() {
  std::vector<Option> all;
  for (auto part : {general_options(), stalls_options(), processes_options(), snapshots_options(),
                    goroutines_options(), web_options(), push_options()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace

std::span<const Option> config_options() {
  static const std::vector<Option> kOptions = all_options();
  return kOptions;
}

const Option* find_option(std::string_view name) {
  return find_setting(config_options(), name);
}

std::string settings_text(const Config& config, std::span<const std::string_view> names) {
  const Config defaults;
  std::string text;
  for (const std::string_view name : names) {
    const Option* const option = find_option(name);
    if (option == nullptr) continue;
    const std::string value = option->text(config);
    if (value == option->text(defaults)) continue;
    text.append(text.empty() ? "" : "; ").append(name).append("=").append(value);
  }
  return text;
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
