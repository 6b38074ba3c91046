# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced: one check of what a script says. The test ends with ((failures == 0)).

failures=0
check() { # WHAT EXPECTED SEEN: SEEN matches the pattern EXPECTED
  # shellcheck disable=SC2053 # a pattern is meant
  if [[ $3 == $2 ]]; then
    echo "ok   $1"
  else
    printf 'FAIL %s: expected %s, seen %s\n' "$1" "$2" "$3"
    failures=$((failures + 1))
  fi
}
