#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: quickstart_test.sh. What packaging/quickstart says, refuses and hands on, in a copy of
# packaging/ with stand-ins for apt, cmake and the daemon; and what a long step shows meanwhile.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/unit/packaging/check.sh
source "$here/check.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/tree" "$work/bin"
cp -r "$here/../../../packaging" "$work/tree/"
stand_in() { # FILE: the script from standard input
  { echo '#!/bin/sh' && cat; } >"$1"
  chmod 755 "$1"
}
stand_in "$work/bin/apt-get" <<<'exit 1'
stand_in "$work/bin/dpkg-query" <<<'echo installed'
stand_in "$work/daemon" <<'E2'
echo "the daemon got:"
printf ' <%s>' "$@"
E2
stand_in "$work/bin/cmake" <<E2
mkdir -p build/bin && cp '$work/daemon' build/bin/offcpud
E2

# quickstart ARGUMENT...: its output and status, as a user who is root, if only in a namespace.
namespace=()
if ((EUID != 0)); then namespace=(unshare -r); fi
quickstart() {
  local rc=0
  env -u SUDO_UID PATH="$work/bin:$PATH" "${namespace[@]}" "$work/tree/packaging/quickstart" "$@" 2>&1 || rc=$?
  echo "status $rc"
}

check "--help" 'usage: *[-- OPTION...]*status 0' "$(quickstart --help)"
check "an option that it does not have" 'quickstart: unknown option --listen; *after --*usage: *status 64' \
  "$(quickstart --listen 127.0.0.1:1)"
check "options for a daemon that is not run" 'quickstart: --no-run *: --listen x*usage: *status 64' "$(quickstart --no-run -- --listen x)"
chmod 755 "$work"
not_root=()
if ((EUID == 0)); then not_root=(setpriv --reuid 65534 --regid 65534 --clear-groups); fi
rc=0
said=$("${not_root[@]}" "$work/tree/packaging/quickstart" 2>&1) || rc=$?
check "without root" 'quickstart: *run it as root*77' "$said$rc"

if ((EUID == 0)) || unshare -r true 2>/dev/null; then
  said=$(quickstart --no-run)
  check "--no-run builds" '*built build/bin/offcpud*Next: *status 0' "$said"
  check "that all packages are there is no step" $'*\n    all packages are there already\n*' "$said"
  said=$(quickstart -- --listen '127.0.0.1:9435' --set 'stalls.over=1s, 2s')
  check "options after -- go to the daemon" \
    "*got:* <--set> <state_dir=$work/tree/build/state> <--listen> <127.0.0.1:9435> <--set> <stalls.over=1s, 2s>status 0" \
    "$said"
else
  echo "skip: what needs root, or a user namespace"
fi

# shellcheck source=packaging/apt.sh
source "$work/tree/packaging/apt.sh"
progress() { # SCRIPT: what with_progress shows while it runs
  : >"$work/log"
  progress_interval=0.2 with_progress "$work/log" sh -c "$1"
}
check "a silent step" $'    [[]* s] it has said nothing so far\n*' "$(progress 'sleep 2')"
check "empty lines are skipped" $'    [[]* s] one\n*' "$(progress 'printf "one\n\n  \n"; sleep 2')"
check "a short step" '' "$(progress true)"
((failures == 0))
