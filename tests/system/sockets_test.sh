#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: sockets_test.sh BUILD_DIR. The sockets of the installed service under a real systemd: one of
# its own that belongs to a group, and one that the service manager holds while it restarts.
set -euo pipefail

here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=tests/system/container.sh
source "$here/container.sh"
# shellcheck source=tests/system/service.sh
source "$here/service.sh"
# shellcheck source=tests/system/activation.sh
source "$here/activation.sh"

own_socket=/run/offcpud/metrics.sock
dropin=/etc/systemd/system/offcpud.service.d/50-group.conf

listen_on_own_socket() {
  printf 'listen: unix:%s\nweb: {socket_group: scraper}\n' "$own_socket" |
    inside tee /etc/offcpud/conf.d/50-test.yaml >/dev/null
}

ask_as() { # USER
  inside setpriv --reuid "$1" --regid "$(inside id -g "$1")" --init-groups \
    curl -sS -f --max-time 10 -o /dev/null --unix-socket "$own_socket" http://localhost/metrics 2>/dev/null
}

group_needs_membership() {
  local since
  since=$(date +%s)
  listen_on_own_socket
  refused() { ! inside systemctl start offcpud 2>/dev/null; }
  check "a group that the user is not in: it does not start" refused
  check "its exit code is that of the configuration" has_property ExecMainStatus 78
  says_what_to_do() { inside journalctl -q -o cat -t offcpud --since "@$since" | grep -q "$1"; }
  check "the log names the group" eventually 5 says_what_to_do 'to the group scraper'
  check "and what to add to the unit" eventually 5 says_what_to_do 'SupplementaryGroups='
  check "no socket is left" inside test ! -e "$own_socket"
}

group_owns_the_socket() {
  inside mkdir -p "${dropin%/*}"
  printf '[Service]\nSupplementaryGroups=scraper\n' | inside tee "$dropin" >/dev/null
  inside systemctl daemon-reload
  check "with a drop-in of SupplementaryGroups= it starts" inside systemctl start offcpud
  check "as its own user" test "$(inside stat -c %U "/proc/$(main_pid)")" = offcpud
  check "the socket belongs to the group" \
    test "$(inside stat -c '%U %G %a' "$own_socket")" = 'offcpud scraper 660'
  check "a member of the group may ask" ask_as scraper
  not_answered() { ! ask_as stranger; }
  check "another user may not" not_answered
  inside systemctl stop offcpud
  inside rm -r "${dropin%/*}"
  inside systemctl daemon-reload
}

# What an administrator does who gives the user itself the group.
membership_of_the_user_is_enough() {
  printf 'm offcpud scraper\n' | inside systemd-sysusers - >/dev/null
  check "with the user in the group it needs no drop-in" inside systemctl start offcpud
  check "and the socket belongs to the group, too" test "$(inside stat -c %G "$own_socket")" = scraper
  inside systemctl stop offcpud
  inside rm /etc/offcpud/conf.d/50-test.yaml
}

restarts_behind_the_socket() {
  local first
  activate_socket
  first=$(main_pid)
  start_asking
  for _ in 1 2 3; do
    check "it restarts" inside systemctl restart offcpud
    sleep 1
  done
  stop_asking
  check "it was restarted" test "$(main_pid)" != "$first"
  check_that_nobody_was_refused 3
  inside systemctl stop offcpud
  check "without the service the socket is still there" socket_is_active
  check "and a request starts the service" answers
  check "which measures" eventually 15 has_property ActiveState active
}

container_requirements
trap container_remove EXIT
service_install "$1"
printf 'u scraper - "Scraper"\nu stranger - "Nobody of its groups"\n' | inside systemd-sysusers - >/dev/null
group_needs_membership
group_owns_the_socket
membership_of_the_user_is_enough
restarts_behind_the_socket
service_report
