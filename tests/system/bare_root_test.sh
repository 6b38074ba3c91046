#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: sudo tests/system/bare_root_test.sh [--quickstart] [CODENAME]. What README.md promises of a
# new machine, in a fresh Debian where nothing is installed, on this kernel: packaging/quickstart up
# to a scrape and Ctrl-C, then, without --quickstart, tests/run, systemd in a container and all. Of
# this host's release, or of another one, such as sid. Not run by tests/run: it fetches some hundred
# megabytes and builds everything twice.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/system/container.sh
source "$here/container.sh"
# shellcheck source=tests/system/service.sh
source "$here/service.sh"
container_requirements
all=yes
if [[ ${1:-} == --quickstart ]]; then all=no && shift; fi
codename=${1:-$(host_codename)}

root=$(mktemp -d /var/tmp/offcpud-bare.XXXXXX)
quickstart=''
mounted=()
cleanup() {
  local i
  if [[ -n $quickstart ]]; then kill -KILL "$quickstart" 2>/dev/null || true; fi
  for ((i = ${#mounted[@]} - 1; i >= 0; i--)); do umount -l "${mounted[i]}"; done
  rm -rf --one-file-system "$root" "$root.log"
}
trap cleanup EXIT

make_root() {
  local folder
  # systemd-nspawn in there changes the root, which it can where the root is a mount.
  mount --bind "$root" "$root"
  mount --make-private "$root"
  mounted+=("$root")
  debian_root_create "$codename" "$root"
  debian_root_clean "$root"
  for folder in proc sys dev; do
    mount --rbind "/$folder" "$root/$folder"
    mount --make-rslave "$root/$folder"
    mounted+=("$root/$folder")
  done
  # The tree as a user gets it: no build folders, no git.
  mkdir "$root/offcpud"
  tar -C "$here/../.." --exclude='./build*' --exclude='./.git' -cf - . | tar -C "$root/offcpud" -xf -
}

# The shell makes its background jobs ignore Ctrl-C; a terminal does not.
enter=(chroot "$root" /usr/bin/env -i --default-signal=INT PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root)
in_root() { "${enter[@]}" "$@"; }

timed() { # WHAT COMMAND...
  local what=$1 began=$SECONDS
  shift
  check "$what" "$@"
  echo "        ($((SECONDS - began)) s)"
}

# Ready, or ended.
quickstart_decided() { grep -q 'ready: ' "$root.log" || ! kill -0 "$quickstart" 2>/dev/null; }

scrape_printed_address() {
  local address text
  address=$(grep -o 'ready: .*' "$root.log" | cut -d' ' -f2)
  text=$(curl -sS -f --max-time 20 "$address") || return
  grep -q '^offcpud_blocked_seconds_count' <<<"$text"
}

ended_with_success() {
  wait "$quickstart" && quickstart=''
}

quickstart_to_a_scrape() {
  local objects
  : >"$root.log" # read from now on
  # Every program on the way replaces itself, so this is the daemon's process in the end.
  "${enter[@]}" /offcpud/packaging/quickstart >"$root.log" 2>&1 &
  quickstart=$!
  timed "packaging/quickstart gets ready" eventually 3600 quickstart_decided
  sed 's/^/        /' "$root.log"
  if ! grep -q 'ready: ' "$root.log"; then
    echo "NOT OK  it ended without getting ready"
    tell_toolchain
    exit 1
  fi
  check "the address that it prints has metrics" eventually 15 scrape_printed_address
  objects=$( (cat "/proc/$quickstart/fdinfo/"* 2>/dev/null || true) | held_objects)
  check "the kernel holds its programs and links" exist "$objects"
  kill -INT "$quickstart"
  check "Ctrl-C ends it with success" ended_with_success
  none_exist() { ! exist "$1"; }
  check "and leaves no program and no link" eventually 5 none_exist "$objects"
}

tell_toolchain() {
  # shellcheck disable=SC2016 # dpkg-query expands it
  in_root dpkg-query -W -f 'package ${Package} ${Version}\n' g++ clang libbpf-dev 2>/dev/null || true
  echo "warnings $(grep -c 'warning:' "$root/offcpud/build/quickstart.log" 2>/dev/null || true)"
}

echo "==> a bare root of Debian $codename"
make_root
echo "==> packaging/quickstart, from another directory"
quickstart_to_a_scrape
tell_toolchain
if [[ $all == no ]]; then exit $((service_failures > 0)); fi
echo "==> tests/run"
timed "tests/run passes" in_root /offcpud/tests/run
if ((service_failures > 0)); then cat "$root/offcpud/build-test/logs/"{unit,integration,system}.log 2>/dev/null || true; fi
echo "==> again, without a network: everything is there"
without_network() {
  # shellcheck disable=SC2016 # the inner shell expands it
  unshare --net sh -c 'ip link set lo up && exec "$@"' _ "${enter[@]}" "$@"
}
timed "tests/run unit passes" without_network /offcpud/tests/run unit
((service_failures == 0))
