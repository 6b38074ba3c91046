# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced after service.sh: offcpud behind offcpud.socket, and clients that ask it all the time.

activation_socket='' # inode of the socket that listens
activation_stop=/run/offcpud-test-stop
activation_answers=/run/offcpud-test-answers

# The inode of what listens on port 19435 (hexadecimal 4BEB), whoever holds it.
# shellcheck disable=SC2016 # awk's
listening_inode() { inside awk '$2 ~ /:4BEB$/ && $4 == "0A" {print $10}' /proc/net/tcp; }
socket_is_active() { [[ $(inside systemctl show -P ActiveState offcpud.socket) == active ]]; }
answers() { inside curl -sS -f --max-time 60 -o /dev/null http://127.0.0.1:19435/-/healthy; }

# As docs/security.md says it.
activate_socket() {
  inside systemctl stop offcpud
  check "offcpud.socket can be enabled" inside systemctl -q enable --now offcpud.socket
  check "and the service started behind it" inside systemctl start offcpud
  check "it answers" answers
  activation_socket=$(listening_inode)
  check "one socket listens" test "$(wc -w <<<"$activation_socket")" -eq 1
}

# Four clients, each with a new connection for every request.
start_asking() {
  inside rm -f "$activation_stop" "$activation_answers"
  # shellcheck disable=SC2016 # the container's shell expands them
  inside sh -c 'for client in 1 2 3 4; do
    while ! [ -e '"$activation_stop"' ]; do
      curl -s -o /dev/null --max-time 60 -w "%{http_code} %{exitcode}\n" http://127.0.0.1:19435/-/healthy
      sleep 0.01
    done >>'"$activation_answers"' 2>&1 &
  done'
  sleep 1
}

clients_are_gone() { ! inside pgrep -x curl >/dev/null; }

stop_asking() {
  inside touch "$activation_stop"
  sleep 0.5
  eventually 60 clients_are_gone
  echo "answers, as status and exit code of curl, with their number:"
  inside sort "$activation_answers" | uniq -c
}

# A request whose connection was accepted just as the daemon ended may be cut off (52, 56); the others
# wait for the next one.
check_that_nobody_was_refused() { # RESTARTS
  local refused cut
  refused=$(inside grep -vxcE '200 0|000 (52|56)' "$activation_answers") || true
  cut=$(inside grep -xcE '000 (52|56)' "$activation_answers") || true
  check "no request was refused" test "$refused" -eq 0
  check "one for each restart was cut off at most ($cut for $1)" test "$cut" -le "$1"
  check "and many were answered" test "$(inside grep -xc '200 0' "$activation_answers")" -ge 50
  check "the socket is active" socket_is_active
  check "and the same as before" test "$(listening_inode)" = "$activation_socket"
}
