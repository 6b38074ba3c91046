# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced: installs what lists like packaging/build-depends name, and nothing when all is there.

say() { printf '==> %s\n' "$*"; }
fail() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# read_arguments USAGE OPTION ARGUMENT...: prints USAGE for --help, and refuses what is not OPTION.
read_arguments() {
  local usage=$1 option=$2 argument
  shift 2
  for argument in "$@"; do
    case $argument in
      -h | --help) echo "$usage" && exit 0 ;;
      "$option") ;;
      *) printf '%s: not expected: %s\n%s\n' "${0##*/}" "$argument" "$usage" >&2 && exit 64 ;;
    esac
  done
}

fail_without_root() { (fail "$@") || exit 77; } # as the daemon does

# report_progress LOG: every 15 s the last line of LOG that holds anything, and the seconds, which
# show that a silent command is running, too. Ends when this script does.
report_progress() {
  local begin=$SECONDS line
  while sleep "${progress_interval:-15}" >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do
    line=$(tail -n 50 "$1" | awk 'NF {last = $0} END {print substr(last, 1, 96)}')
    printf '    [%d s] %s\n' "$((SECONDS - begin))" "${line:-it has said nothing so far}"
  done
}

# with_progress LOG COMMAND...: appends the output to LOG while report_progress shows where it is. The
# command stays in the foreground, where Ctrl-C reaches it.
with_progress() {
  local log=$1 reporter rc=0
  shift
  report_progress "$log" &
  reporter=$!
  "$@" >>"$log" 2>&1 </dev/null || rc=$?
  kill "$reporter" 2>/dev/null || true
  wait "$reporter" 2>/dev/null || true
  return "$rc"
}

packages_in() { sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$@"; }

is_installed() {
  [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

# Whether it is installed, or apt on this host could install it.
is_offered() {
  is_installed "$1" || LC_ALL=C apt-cache policy "$1" 2>/dev/null | grep -q '^  Candidate: [^(]'
}

run_apt() { # LOG COMMAND...
  local log=$1
  shift
  with_progress "$log" env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
    -o DPkg::Lock::Timeout=120 -o Acquire::Retries=3 "$@"
}

apt_failed() { # LOG
  printf '%s\n' "--- end of $1:" >&2
  tail -n 15 "$1" >&2
  fail "apt-get could not install what is missing; the lines above say why"
}

# install_packages LOG LIST...: the package lists are fetched only when those at hand are missing or
# too old for the installation to succeed.
install_packages() {
  local log=$1 package missing=()
  shift
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    fail "this host has no apt-get; install these yourself (Debian names), then build with" \
      "'cmake -S . -B build -G Ninja && cmake --build build': $(packages_in "$@" | tr '\n' ' ')"
  fi
  for package in $(packages_in "$@"); do
    is_installed "$package" || missing+=("$package")
  done
  if ((${#missing[@]} == 0)); then
    printf '    %s\n' "all packages are there already"
    return
  fi
  if ((EUID != 0)); then
    fail_without_root "installing packages needs root: run it with sudo. Missing: ${missing[*]}"
  fi
  say "installing ${#missing[@]} packages with apt-get (log: $log): ${missing[*]}"
  : >"$log"
  if ! run_apt "$log" install --no-install-recommends "${missing[@]}"; then
    say "fetching the package lists and trying once more"
    # The second time without the check of dates, in case it is the clock of this host that is off;
    # signatures are checked either way.
    run_apt "$log" update || run_apt "$log" -o Acquire::Check-Date=false update ||
      apt_failed "$log"
    run_apt "$log" install --no-install-recommends "${missing[@]}" || apt_failed "$log"
  fi
}
