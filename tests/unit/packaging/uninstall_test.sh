#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: uninstall_test.sh. What packaging/install and uninstall say of their arguments, and what
# uninstall removes: in a mount namespace with an /etc, a /run and a /var/lib of its own. Status 77
# where there may be no such namespace.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
packaging=$here/../../../packaging
# shellcheck source=tests/unit/packaging/check.sh
source "$here/check.sh"
run() { # COMMAND...: its output and status
  local rc=0
  "$@" 2>&1 || rc=$?
  echo "status $rc"
}

for script in install uninstall; do
  check "$script --help" "usage: *packaging/$script*status 0" "$(run "$packaging/$script" --help)"
done
check "a suite that there is none of" 'tests/run: there is no suite called unitt*usage: *status 64' \
  "$(run "$here/../../run" unitt)"

if ! refusal=$(unshare -rm true 2>&1); then
  ((failures == 0)) || exit 1
  echo "SKIP: what uninstall removes was not tried, as it needs a user and a mount namespace: $refusal"
  exit 77
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
units=$prefix/lib/systemd/system
mkdir "$work"/{etc,run,lib,bin}
cp /etc/passwd /etc/group "$work/etc/"
printf '#!/bin/sh\necho "userdel $*"\n' >"$work/bin/userdel"
# shellcheck disable=SC2016 # the stand-in expands it
printf '#!/bin/sh\n[ "$2" = offcpud ] && echo offcpud:x:1:1::/:/bin/false\n' >"$work/bin/getent"
chmod 755 "$work/bin"/*
installed() { # as packaging/install leaves it, and enabled
  local wants=$work/etc/systemd/system/multi-user.target.wants
  mkdir -p "$prefix/bin" "$units" "$prefix"/lib/sysusers.d "$prefix"/share/man/man{1,5,7,8} \
    "$prefix/share/doc/offcpud" "$prefix/share/bash-completion/completions" "$wants"
  touch "$prefix"/bin/offcpud "$units"/offcpud.service "$prefix"/share/man/man8/offcpud.8
  ln -sf "$units/offcpud.service" "$wants/"
  ln -sf /usr/lib/systemd/system/cron.service "$wants/"
}
# shellcheck disable=SC2016 # the inner shell expands it
namespace='mount --bind "$0/etc" /etc && mount --bind "$0/run" /run && mount --bind "$0/lib" /var/lib && exec "${@:1}"'
# In the namespace also where nothing is to be changed: a fault must not reach the host.
apart() { # SCRIPT ARGUMENT...
  run env "PREFIX=$prefix" "PATH=$work/bin:$PATH" unshare -rm bash -c "$namespace" "$work" "$packaging/$1" "${@:2}"
}
uninstall() { apart uninstall "$@"; }
below() { (cd "$1" && find . -mindepth 1 | sort | tr '\n' ' '); }

for script in install uninstall; do
  check "$script of something else" "$script: not expected: extra*usage: *status 64" "$(apart "$script" extra)"
done
check "a word after --purge" 'uninstall: not expected: extra*status 64' "$(uninstall --purge extra)"

installed
check "nothing is left" $'offcpud is gone.\nstatus 0' "$(uninstall)"
check "the link of systemctl enable" './systemd ./systemd/system */cron.service ' \
  "$(cd "$work/etc" && find ./systemd -mindepth 0 | sort | tr '\n' ' ')"
check "empty folders stay without --purge" '*./lib/systemd/system *' "$(below "$prefix")"
installed
mkdir "$work/lib/offcpud"
check "the state is left" 'offcpud is gone; --purge also removes /var/lib/offcpud.'$'\nstatus 0' "$(uninstall)"
mkdir "$work/etc/offcpud"
check "both are left" '*removes /etc/offcpud and /var/lib/offcpud.'$'\nstatus 0' "$(uninstall)"
installed
touch "$units/other.service"
check "--purge" 'userdel offcpud'$'\n''offcpud, its configuration and its state are gone.'$'\nstatus 0' \
  "$(uninstall --purge)"
check "what --purge leaves" './bin ./lib ./lib/systemd ./lib/systemd/system ./lib/systemd/system/other.service ./share ./share/man ' \
  "$(below "$prefix")"
check "configuration and state after --purge" '' "$(ls -d "$work"/{etc,lib}/offcpud 2>/dev/null)"
((failures == 0))
