# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced: boots Debian with systemd as PID 1 in a container, on the kernel of this host. The
# container has its own network (loopback only) and, below a fresh v2 cgroup, its own hierarchy.
#
#   container_create [PACKAGE...]   an unpacked root in $container_root
#   container_boot                  returns when systemd has started everything
#   inside COMMAND...               runs it in the container, as root
#   container_remove                powers off, removes the root and the cgroup; safe to repeat

# shellcheck source=tests/system/debian_root.sh
source "$(dirname "${BASH_SOURCE[0]}")/debian_root.sh"

container_root=''
container_nspawn=''
container_leader=''
container_cgroup=''

skip() {
  echo "SKIP: $*"
  exit 77
}

container_requirements() {
  ((EUID == 0)) || skip "needs root"
  local tool
  for tool in mmdebstrap systemd-nspawn nsenter findmnt pgrep apt-get bpftool; do
    command -v "$tool" >/dev/null || skip "$tool is not installed"
  done
  [[ -n $(findmnt -n -t cgroup2 -o TARGET) ]] || skip "no cgroup v2 hierarchy is mounted"
}

# Packages of this host that own the shared libraries of PROGRAM...
library_packages() {
  local library owner
  ldd "$@" | awk '$3 ~ /^\// {print $3}' | sort -u | while read -r library; do
    # With a merged /usr the package may name the library by its old path.
    for owner in "$library" "/usr$library" "${library#/usr}"; do
      if dpkg-query -S "$owner" 2>/dev/null; then break; fi
    done
  done | cut -d: -f1 | sort -u
}

container_create() { # PACKAGE...
  local codename cache tar new packages
  codename=$(host_codename)
  packages=$(printf '%s,' systemd systemd-sysv dbus procps curl "$@")
  if [[ -z $(debian_sources) ]]; then apt-get -q update >/dev/null 2>&1 || true; fi
  [[ -n $(debian_sources) ]] || skip "apt on this host has no Debian mirror"

  cache=$(offcpud_cache)
  tar=$cache/root-$codename-$(printf '%s' "$packages" | sha256sum | cut -c1-16).tar
  if [[ ! -f $tar ]]; then
    new=${tar%.tar}.new.$$.tar # mmdebstrap goes by the ending
    mkdir -p "$cache"
    echo "building the container's root, once: $tar"
    if ! debian_sources | mmdebstrap --quiet --variant=minbase --include="${packages%,}" \
      "$codename" "$new" - 2>"$cache/mmdebstrap.log"; then
      rm -f "$new"
      tail -n 5 "$cache/mmdebstrap.log"
      skip "mmdebstrap could not build a root (no network?)"
    fi
    mv "$new" "$tar"
  fi
  container_root=$(mktemp -d /var/tmp/offcpud-test.XXXXXX)
  tar -C "$container_root" -xf "$tar" --exclude='./dev/*'
  : >"$container_root/etc/machine-id"
}

# The container's PID 1 is the child of systemd-nspawn in another PID namespace. The other child, a
# short-lived one, shares ours: what ran inside() of it would run on the host.
find_leader() {
  local child namespace
  for child in $(pgrep -P "$container_nspawn"); do
    namespace=$(readlink "/proc/$child/ns/pid") || continue # gone meanwhile
    if [[ $namespace != "$(readlink /proc/self/ns/pid)" ]]; then container_leader=$child; fi
  done
}

container_boot() {
  container_cgroup=$(findmnt -n -t cgroup2 -o TARGET | head -n 1)/offcpud-test.$$
  mkdir "$container_cgroup"
  # --keep-unit and --register=no: without them it asks the host's systemd for a scope, and there
  # may be none. bpf and perf_event_open are not in its default filter. The payload's cgroup goes
  # below the one of this subshell.
  (
    echo "$BASHPID" >"$container_cgroup/cgroup.procs"
    export SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1
    exec systemd-nspawn --quiet --directory="$container_root" --boot --register=no --keep-unit \
      --private-network --capability=all --system-call-filter='bpf perf_event_open' \
      --bind-ro=/sys/kernel/btf --link-journal=no --resolv-conf=off --timezone=off --console=pipe
  ) </dev/null >"$container_root.log" 2>&1 &
  container_nspawn=$!

  local state=''
  for _ in $(seq 600); do
    if [[ -z $container_leader ]]; then
      find_leader
    else
      state=$(inside systemctl is-system-running 2>/dev/null) || true
      if [[ $state == running || $state == degraded ]]; then return; fi
    fi
    kill -0 "$container_nspawn" 2>/dev/null || break
    sleep 0.1
  done
  cat "$container_root.log"
  skip "systemd does not boot in a container here (state: ${state:-none})"
}

inside() {
  # With its root: that of the mount namespace is another one where the container runs in a chroot.
  nsenter --target "$container_leader" --all --root --wd -- /usr/bin/env -i \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "$@"
}

container_remove() {
  if [[ -n $container_nspawn ]] && kill -0 "$container_nspawn" 2>/dev/null; then
    # Power off; then whatever of it is left.
    if [[ -n $container_leader ]]; then inside kill -s RTMIN+4 1 || true; fi
    for _ in $(seq 150); do
      kill -0 "$container_nspawn" 2>/dev/null || break
      sleep 0.1
    done
    if kill -0 "$container_nspawn" 2>/dev/null; then kill -KILL "$container_nspawn"; fi
    wait "$container_nspawn" 2>/dev/null || true
  fi
  if [[ -d $container_cgroup ]]; then
    if [[ -e $container_cgroup/cgroup.kill ]]; then echo 1 >"$container_cgroup/cgroup.kill"; fi
    sleep 0.2
    find "$container_cgroup" -depth -type d -exec rmdir {} + 2>/dev/null || true
  fi
  if [[ -n $container_root ]]; then rm -rf "$container_root" "$container_root.log"; fi
  container_nspawn='' container_leader='' container_cgroup='' container_root=''
}
