#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: deb_test.sh FOLDER NEXT_FOLDER. Builds the Debian package twice, the second time as its own
# successor, and takes it through its life in a fresh Debian with systemd.
set -euo pipefail

first=$1 next=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/system/container.sh
source "$here/../system/container.sh"
# shellcheck source=tests/system/service.sh
source "$here/../system/service.sh"
# shellcheck source=tests/system/activation.sh
source "$here/../system/activation.sh"

container_requirements
trap container_remove EXIT

# Both in the same folder, so that a compiler cache finds what it has seen.
build_both() {
  rm -rf "$first" "$next"
  "$here/../../packaging/build-deb" --output "$first" --suffix +1
  mv "$first" "$next"
  "$here/../../packaging/build-deb" --output "$first"
}

package_in() { find "$1" -name 'offcpud_*.deb'; }

# The names of what the package depends on; of alternatives the first.
dependencies() { # DEB
  dpkg-deb -f "$1" Pre-Depends Depends | sed 's/^[A-Za-z-]*: //; s/, /\n/g' | sed 's/[ (|].*//' | sort -u
}

well_built() {
  local package=$1 symbols files file
  lintian_is_silent() {
    local said
    said=$(lintian --allow-root --fail-on error,warning "$first"/*.changes 2>&1) && [[ -z $said ]] && return
    printf '%s\n' "$said" >&2
    return 1
  }
  check "lintian has no error and no warning" lintian_is_silent
  symbols=$(find "$first" -name 'offcpud-dbgsym_*.deb')
  check "there are debug symbols of both programs" \
    test "$(dpkg-deb -c "$symbols" | grep -c '\.build-id/.*\.debug$')" -eq 2
  check "the configuration is a conffile" grep -qx /etc/offcpud/offcpud.yaml \
    <(dpkg-deb --ctrl-tarfile "$package" | tar -xO ./conffiles)
  files=$(dpkg-deb -c "$package")
  has_file() { grep -q " \\./$1" <<<"$files"; }
  for file in usr/share/man/man{1/offcpuctl.1,5/offcpud.yaml.5,7/offcpud-metrics.7,8/offcpud.8}.gz \
    usr/share/bash-completion/completions/{offcpud,offcpuctl} \
    usr/share/offcpud/wait-sites/kernel.yaml usr/lib/sysusers.d/offcpud.conf; do
    check "it has /$file" has_file "$file"
  done
  documents_are_complete() (
    # shellcheck source=tests/unit/packaging/installed.sh
    source "$here/../unit/packaging/installed.sh"
    unpacked=$(mktemp -d)
    trap 'rm -rf "$unpacked"' EXIT
    dpkg-deb -x "$package" "$unpacked"
    check_documents "$unpacked/usr/share/doc/offcpud"
    ((failures == 0))
  )
  check "what its documents name is there" documents_are_complete
}

in_container() { # DEB COMMAND...: where the container sees the package as its last argument
  local name=/root/${1##*/}
  cp "$1" "$container_root$name"
  shift
  inside "$@" "$name"
  rm "$container_root$name"
}
install_package() { in_container "$1" env DEBIAN_FRONTEND=noninteractive dpkg --install >/dev/null; }

measures() { [[ -n $(metric offcpud_blocked_seconds_count 'cgroup="/system.slice/sleeper.service"') ]]; }

installs_and_measures() {
  check "it installs" install_package "$1"
  check "the service is enabled" inside systemctl -q is-enabled offcpud
  check "and runs" has_property ActiveState active
  inside systemctl -q disable --now offcpud
  check "systemctl enable --now succeeds" inside systemctl -q enable --now offcpud
  inside systemd-run -q --unit=sleeper sh -c 'while :; do sleep 0.05; done'
  check "it measures a unit" eventually 30 measures
  check "offcpuctl status is content" inside sh -c 'offcpuctl status >/dev/null'
  check "snapshots are kept" eventually 90 inside sh -c 'ls /var/lib/offcpud/snapshots/* >/dev/null 2>&1'
  check "it runs as its user" test "$(inside stat -c %U "/proc/$(main_pid)")" = offcpud
}

# shellcheck disable=SC2016 # dpkg expands it
field() { inside dpkg-query -W -f '${'"$1"'}' offcpud 2>/dev/null; }
setting() { inside offcpuctl check-config | sed -n "s/^$1: //p"; }

is_another_than() { # PID
  [[ $(main_pid) != 0 && $(main_pid) != "$1" ]] && has_property ActiveState active
}

upgrade_keeps_the_configuration() {
  local old_pid
  inside sed -i 's/^max_series: .*/max_series: 3999/' /etc/offcpud/offcpud.yaml
  echo 'linger: 11min' | inside tee /etc/offcpud/conf.d/50-local.yaml >/dev/null
  old_pid=$(main_pid)
  check "it upgrades" install_package "$1"
  check "to the next version" test "$(field Version)" = "$(dpkg-deb -f "$1" Version)"
  check "an edited option stays" test "$(setting max_series)" = 3999
  check "and a file in conf.d" test "$(setting linger)" = 11min
  check "the service is still enabled" inside systemctl -q is-enabled offcpud
  check "and was restarted" eventually 10 is_another_than "$old_pid"
  check "it measures" eventually 30 measures

  inside systemctl -q disable --now offcpud
  check "it installs once more" install_package "$1"
  check "what was disabled stays so" test "$(inside systemctl is-enabled offcpud)" = disabled
  check "and stopped" has_property ActiveState inactive
  inside systemctl -q enable --now offcpud
}

upgrade_refuses_nobody_behind_the_socket() {
  local old_pid
  activate_socket
  old_pid=$(main_pid)
  start_asking
  check "it upgrades" install_package "$1"
  check "and was restarted" eventually 30 is_another_than "$old_pid"
  sleep 1
  stop_asking
  check_that_nobody_was_refused 1
  check "offcpud.socket is still enabled" inside systemctl -q is-enabled offcpud.socket
}

# What has the name, but for the journal.
left_behind() {
  find "$container_root" -xdev -name '*offcpud*' | sed "s|^$container_root||" |
    grep -v -e '^/var/log/journal/' -e '^/proc/' -e '^/sys/'
}

removal_leaves_nothing() {
  local objects left
  objects=$(inside sh -c "cat /proc/$(main_pid)/fdinfo/*" | held_objects)
  check "the kernel holds its programs" exist "$objects"
  check "it is removed" inside sh -c 'dpkg --remove offcpud >/dev/null'
  none_exist() { ! exist "$1"; }
  check "no program is left in the kernel" eventually 5 none_exist "$objects"
  check "nobody listens any more" test -z "$(listening_inode)"
  check "the edited configuration is left" inside grep -q 3999 /etc/offcpud/offcpud.yaml
  check "and the snapshots" inside test -d /var/lib/offcpud/snapshots
  check "it is purged" inside sh -c 'dpkg --purge offcpud >/dev/null'
  left=$(left_behind) || true
  check "nothing is left (seen: ${left:-nothing})" test -z "$left"
  check "dpkg knows it no more" test -z "$(field Package)"
}

build_both
package=$(package_in "$first")
well_built "$package"
mapfile -t needed < <(dependencies "$package")
container_create "${needed[@]}"
container_boot
installs_and_measures "$package"
upgrade_keeps_the_configuration "$(package_in "$next")"
upgrade_refuses_nobody_behind_the_socket "$(package_in "$next")"
removal_leaves_nothing
service_report
