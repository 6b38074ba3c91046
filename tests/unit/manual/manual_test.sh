#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: manual_test.sh BUILD_DIR. The manual pages pass man's checks, and pages and completions name
# what the programs' own --help names, no more and no less.
set -euo pipefail

build=$1
failures=0
fail() {
  echo "FAIL $*"
  failures=$((failures + 1))
}

# Of COMMAND... --help: long options, sorted.
options_in_help() { "$@" --help | grep -oE '^ +(-[a-zA-Z],)?--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort -u; }

# complete FUNCTION WORD...: what bash offers for the last word.
complete_words() {
  local function=$1
  shift
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  # shellcheck disable=SC2317 # the completion calls it
  compopt() { :; } # takes effect in a completion only
  "$function"
  printf '%s\n' "${COMPREPLY[@]}"
}
same() { # WHAT EXPECTED SEEN
  if [[ $2 != "$3" ]]; then fail "$1: $(diff <(echo "$2") <(echo "$3"))"; fi
}

for program in offcpud offcpuctl; do
  # shellcheck source=/dev/null
  source "$build/man/$program.bash"
  if command -v shellcheck >/dev/null; then shellcheck -s bash "$build/man/$program.bash" || fail "shellcheck"; fi
done

same "options of offcpud" "$(options_in_help "$build/bin/offcpud")" "$(complete_words _offcpud offcpud -- | sort)"
mapfile -t commands < <("$build/bin/offcpuctl" --help | sed -n '/^Subcommands/,/^$/s/^  \([a-z-]\+\) .*/\1/p')
((${#commands[@]} > 5)) || fail "commands in the help of offcpuctl: ${commands[*]}"
same "commands" "$(printf '%s\n' "${commands[@]}" | sort)" \
  "$(complete_words _offcpuctl offcpuctl '' | grep -v '^-' | sort)"
page=$(MANWIDTH=200 man -l "$build/man/offcpuctl.1" | col -bx)
for name in "${commands[@]}"; do
  expected=$(options_in_help "$build/bin/offcpuctl" "$name")
  same "options of $name" "$expected" "$(complete_words _offcpuctl offcpuctl "$name" -- | sort)"
  section=$(sed -n "/^   $name /,/^   [a-z]\|^[A-Z]/p" <<<"$page")
  same "options of $name in the page" "$(grep -v -x -- --help <<<"$expected")" \
    "$(grep -oE -- '^ +(-[a-zA-Z], )?--[a-z-]+' <<<"$section" | grep -oE -- '--[a-z-]+' | sort -u)"
done
page=$(MANWIDTH=200 man -l "$build/man/offcpud.8" | col -bx)
for option in $(options_in_help "$build/bin/offcpud"); do
  grep -qE "^ +(-h, )?$option" <<<"$page" || fail "offcpud(8) has no $option"
done

same "choices" $'ended\nin_progress' "$(complete_words _offcpuctl offcpuctl stalls --state '' | sort)"
same "choices after =" ended "$(complete_words _offcpuctl offcpuctl stalls --state = e)"
same "reasons" lock "$(complete_words _offcpuctl offcpuctl flame --reason lo)"
same "what for" answer "$(complete_words _offcpuctl offcpuctl snapshot --for an)"
same "keys" log_level= "$(complete_words _offcpud offcpud --set log)"
same "no keys for a number" '' "$(complete_words _offcpuctl offcpuctl top --pid '')"
cd "$build"
same "files" bin/offcpuctl "$(complete_words _offcpud offcpud --config bin/offcpuc)"

for page in offcpud.8 offcpuctl.1 offcpud.yaml.5 offcpud-metrics.7; do
  said=$(MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "man/$page" 2>&1 >/dev/null)
  said+=$(groff -ww -man -Tutf8 "man/$page" 2>&1 >/dev/null)
  [[ -z $said ]] || fail "$page: $said"
  # apropos(1) finds a page by its NAME section.
  lexgrog "man/$page" >/dev/null || fail "$page: lexgrog finds no name"
done
((failures == 0))
