#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: service_test.sh BUILD_DIR. The installed service, under a real systemd, from enable to stop.
set -euo pipefail

here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=tests/system/container.sh
source "$here/container.sh"
# shellcheck source=tests/system/service.sh
source "$here/service.sh"

conf=/etc/offcpud/conf.d/50-test.yaml
bad=/etc/offcpud/conf.d/60-bad.yaml

configure() { # TEXT [FILE]
  inside mkdir -p "${conf%/*}"
  printf '%s\n' "$1" | inside tee "${2:-$conf}" >/dev/null
}

message_id() { # NAME
  grep -o "$1 = \"[^\"]*" "$here/../../daemon/runtime/message_ids.h" | cut -d'"' -f2
}

# The files that the daemon says are in force, a line each.
files_in_force() {
  inside curl -sS -f --max-time 10 http://127.0.0.1:19435/api/v1/status | sed -n '/"files"/,/]/p'
}

# A first view may be too young to have seen a wait end.
measures() { [[ -n $(metric offcpud_blocked_seconds_count) ]]; }

starts_and_measures() {
  check "enable --now succeeds" inside systemctl enable -q --now offcpud
  check "it is active" has_property ActiveState active
  check "its status is a sentence" test -n "$(property StatusText)"
  ready_entry() {
    inside journalctl -q -u offcpud "MESSAGE_ID=$(message_id kReadyId)" -o json --no-pager |
      grep -q '"OFFCPUD_LISTEN":"127.0.0.1:19435"'
  }
  check "the journal has the ready message under its id, with its field" eventually 5 ready_entry
  check "/metrics has blocked time" eventually 15 measures
}

# CAP_BPF is bit 39, CAP_PERFMON bit 38; the first may stay, for old kernels want it to read maps.
# The threads that sample stacks keep CAP_DAC_READ_SEARCH (2), CAP_SYS_PTRACE (19) and
# CAP_CHECKPOINT_RESTORE (40) as well.
holds_least_capabilities() {
  local pid caps
  pid=$(main_pid)
  caps=$(inside grep '^Cap' "/proc/$pid/status")
  echo "$caps"
  capability_set() { awk -v set="$1:" '$1 == set {print $2}' <<<"$caps"; }
  check "permitted: CAP_BPF at most" \
    grep -qxE '0000000000000000|0000008000000000' <<<"$(capability_set CapPrm)"
  check "effective is permitted" test "$(capability_set CapEff)" = "$(capability_set CapPrm)"
  check "nothing is inheritable" test "$(capability_set CapInh)" = 0000000000000000
  check "nothing is ambient" test "$(capability_set CapAmb)" = 0000000000000000
  check "bounding: what the unit gives at most" \
    test $((16#$(capability_set CapBnd) & ~16#1c000080004)) -eq 0
  local task name sampling=0 comm reading=0
  for task in $(inside ls "/proc/$pid/task"); do
    name=$(inside cat "/proc/$pid/task/$task/comm")
    caps=$(inside grep '^Cap' "/proc/$pid/task/$task/status")
    case $name in offcpud-stacks | offcpud-symbols) sampling=$((sampling + 1)) ;; esac
    if [[ $name == offcpud-symbols ]]; then
      check "thread $task ($name): none" test "$(capability_set CapPrm)" = 0000000000000000
      check "thread $task ($name): others go first" \
        test "$(inside cut -d' ' -f19 "/proc/$pid/task/$task/stat")" = 10
    else
      check "thread $task ($name): CAP_BPF at most" \
        grep -qxE '0000000000000000|0000008000000000' <<<"$(capability_set CapPrm)"
    fi
    check "thread $task ($name): nothing is ambient" test "$(capability_set CapAmb)" = 0000000000000000
  done
  check "two threads sample stacks" test "$sampling" -eq 2
  for comm in $(inside sh -c 'grep -lxE "offcpud-(spawner|reader)" /proc/[0-9]*/comm'); do
    reading=$((reading + 1))
    caps=$(inside grep '^Cap' "${comm%/comm}/status")
    check "process $(inside cat "$comm"): what opens the files of others, no more" \
      test "$(capability_set CapPrm)" = 0000010000080004
    check "process $(inside cat "$comm"): nothing is ambient" \
      test "$(capability_set CapAmb)" = 0000000000000000
  done
  check "a spawner and a reader read what belongs to others" test "$reading" -ge 2
  check "it does not run as root" test "$(inside stat -c %U "/proc/$pid")" = offcpud
}

restarted_unit_keeps_its_series() {
  local labels='cgroup="/system.slice/sleeper.service"' before after last=0 now went_down=no
  inside systemd-run -q --unit=sleeper sh -c 'while :; do sleep 0.05; done'
  sleeper_seen() { [[ -n $(metric offcpud_blocked_seconds_count "$labels") ]]; }
  check "a new unit gets a series" eventually 30 sleeper_seen
  before=$(inside stat -c %i /sys/fs/cgroup/system.slice/sleeper.service)
  for round in 1 2 3 4 5 6; do
    now=$(metric offcpud_blocked_seconds_count "$labels")
    if ((${now:-0} < last)); then went_down="yes, from $last to ${now:-nothing}"; fi
    last=${now:-0}
    if ((round == 3)); then
      inside systemctl stop -q sleeper
      inside systemd-run -q --unit=sleeper sh -c 'while :; do sleep 0.05; done'
    fi
    sleep 1.5
  done
  after=$(inside stat -c %i /sys/fs/cgroup/system.slice/sleeper.service)
  check "the restart gave it a new cgroup" test "$before" != "$after"
  check "its counter never went down (went down: $went_down)" test "$went_down" = no
  now=$(metric offcpud_blocked_seconds_count "$labels")
  check "and it goes on counting ($last, then $now)" test "$now" -gt "$last"
  inside systemctl stop -q sleeper
}

bounds() { scrape | grep -o 'le="[^"]*"' | sort -u | wc -l; }

reloads() {
  local since before
  since=$(date +%s) before=$(bounds)
  configure 'classic_buckets: 14'
  check "reload succeeds" inside systemctl reload offcpud
  fewer_bounds() { (($(bounds) < before)); }
  check "the new value is in force (fewer bounds than $before)" eventually 15 fewer_bounds
  check "the log says so" eventually 5 log_says "$since" 'reload'
  check "the metric says so" metric_is offcpud_config_last_reload_successful 1

  check "the status names the file" grep -q 50-test <<<"$(files_in_force)"

  since=$(date +%s)
  configure 'classic_buckets: many' "$bad"
  inside systemctl reload offcpud || true
  reload_refused() { metric_is offcpud_config_last_reload_successful 0; }
  check "a bad file is refused" eventually 15 reload_refused
  check "the log names the key" eventually 5 log_says "$since" 'classic_buckets'
  check "the status shows the error" grep -q 'classic_buckets' <<<"$(property StatusText)"
  check "the service stays active" has_property ActiveState active
  check "the values before stay in force" fewer_bounds
  check "and the files before" test -z "$(files_in_force | grep 60-bad)"

  inside rm "$conf" "$bad"
  inside systemctl reload offcpud
  reload_accepted() { metric_is offcpud_config_last_reload_successful 1; }
  check "a good file ends the error" eventually 15 reload_accepted
}

comes_back_after_kill() {
  local pid
  pid=$(main_pid)
  inside kill -KILL "$pid"
  new_and_active() { [[ $(main_pid) != 0 && $(main_pid) != "$pid" ]] && has_property ActiveState active; }
  check "after kill -9 systemd starts another one" eventually 30 new_and_active
  check "which measures" eventually 15 measures
}

well_confined() {
  local report rc=0
  report=$(inside systemd-analyze security --no-pager --threshold=30 offcpud) || rc=$?
  tail -n 1 <<<"$report"
  return "$rc"
}

stops_and_leaves_nothing() {
  local began took objects
  objects=$(inside sh -c "cat /proc/$(main_pid)/fdinfo/* 2>/dev/null || true" | held_objects)
  check "the kernel holds programs and links of it while it runs" exist "$objects"
  began=$(date +%s%N)
  inside systemctl stop offcpud
  took=$((($(date +%s%N) - began) / 1000000))
  check "stop takes less than 2 s ($took ms)" test "$took" -lt 2000
  check "it stopped with success" has_property Result success
  none_exist() { ! exist "$1"; }
  # The kernel frees programs after a grace period.
  check "and none of them afterwards" eventually 5 none_exist "$objects"
}

# Where the v2 hierarchy has the memory controller MemoryMax= does it; else a v1 one may.
limit_memory() { # SIZE
  local v1
  inside mkdir -p /run/systemd/system/offcpud.service.d
  printf '[Service]\nRestart=no\nMemoryMax=%s\n' "$1" |
    inside tee /run/systemd/system/offcpud.service.d/memory.conf >/dev/null
  inside systemctl daemon-reload
  if inside grep -qw memory /sys/fs/cgroup/cgroup.controllers; then return; fi
  v1=$(findmnt -n -t cgroup -O memory -o TARGET | head -n 1)
  if [[ -z $v1 ]]; then return 1; fi
  memory_cgroup=$v1/offcpud-test.$$
  mkdir "$memory_cgroup"
  echo "$1" >"$memory_cgroup/memory.limit_in_bytes"
  echo "$container_leader" >"$memory_cgroup/cgroup.procs" # whose children inherit it
}

says_what_to_do_without_memory() {
  local since
  since=$(date +%s)
  limit_memory 150M || return 0
  configure 'max_cgroups: 16384'
  refused() { ! inside systemctl start offcpud 2>/dev/null; }
  check "it does not start with less memory than max_cgroups takes" refused
  check "its exit code is that of an internal error" has_property ExecMainStatus 70
  # Not by unit: the journal may look for the process's cgroup when the process is gone.
  names_both() {
    inside journalctl -q -o cat -t offcpud --since "@$since" | grep -q 'max_cgroups.*MemoryMax'
  }
  check "the log names both options" eventually 5 names_both
}

container_requirements
memory_cgroup=''
cleanup() {
  container_remove
  if [[ -n $memory_cgroup ]]; then rmdir "$memory_cgroup"; fi
}
trap cleanup EXIT
service_install "$1"
starts_and_measures
holds_least_capabilities
restarted_unit_keeps_its_series
reloads
comes_back_after_kill
check "systemd-analyze security is at most 3.0" well_confined
stops_and_leaves_nothing
says_what_to_do_without_memory
service_report
