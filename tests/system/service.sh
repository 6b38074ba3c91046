# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced after container.sh: offcpud as a service in the container, and what the tests ask of it.

service_failures=0

# check WHAT COMMAND...: one expectation; the test goes on after a failure.
check() {
  local what=$1
  shift
  if "$@"; then
    echo "ok      $what"
  else
    echo "NOT OK  $what"
    service_failures=$((service_failures + 1))
  fi
}

# eventually SECONDS COMMAND...
eventually() {
  local deadline=$((SECONDS + $1))
  shift
  until "$@"; do
    if ((SECONDS >= deadline)); then return 1; fi
    sleep 0.2
  done
}

# shellcheck disable=SC2154 # container_root: container.sh
service_install() { # BUILD_DIR
  local build=$1
  [[ -x $build/bin/offcpud ]] || skip "$build/bin/offcpud has not been built"
  local -a libraries
  mapfile -t libraries < <(library_packages "$build/bin/offcpud")
  container_create "${libraries[@]}"
  DESTDIR=$container_root cmake --install "$build" >/dev/null
  container_boot
  inside systemd-sysusers
  inside systemctl daemon-reload
}

property() { inside systemctl show -P "$1" offcpud; }
has_property() { [[ $(property "$1") == "$2" ]]; }
main_pid() { property MainPID; }
log_since() { inside journalctl -q -o cat -u offcpud --since "@$1" --no-pager; }
log_says() { log_since "$1" | grep -qiE -- "$2"; }

scrape() { inside curl -sS -f --max-time 10 http://127.0.0.1:19435/metrics; }

# metric NAME [TEXT]: sum over the series of NAME whose labels contain TEXT; empty when there is none.
metric() {
  scrape | awk -v name="$1" -v text="${2:-}" '
    { head = $0; sub(/[{ ].*/, "", head) }
    head == name && index($0, text) { sum += $NF; found = 1 }
    END { if (found) printf "%.0f\n", sum }'
}
metric_is() { [[ $(metric "$1" "${3:-}") == "$2" ]]; }

# "prog ID" and "link ID", a line each, of what a process holds in the kernel, from its fdinfo files.
held_objects() {
  awk '$1 == "prog_id:" {print "prog", $2} $1 == "link_id:" {print "link", $2}' | sort -u
}

# exist OBJECTS: whether the kernel still knows one of them, whoever holds it.
exist() {
  local kind id
  while read -r kind id; do
    if bpftool "$kind" show id "$id" >/dev/null 2>&1; then return; fi
  done <<<"$1"
  return 1
}

service_report() {
  if ((service_failures == 0)); then return; fi
  echo "--- systemctl status offcpud"
  inside systemctl --no-pager status offcpud || true
  echo "--- journal"
  inside journalctl -q -u offcpud --no-pager -n 60 || true
  exit 1
}
