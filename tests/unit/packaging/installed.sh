# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced: checks of what a package puts below share/doc/offcpud.

failures=0

# check_named WHAT FOLDER NAME...: each of the names, relative to FOLDER, is a file; one is named.
check_named() {
  local what=$1 folder=$2 name missing=()
  shift 2
  for name in "$@"; do [[ -f $folder/$name ]] || missing+=("$name"); done
  if (($# > 0 && ${#missing[@]} == 0)); then
    echo "ok   $what ($#)"
  else
    printf 'FAIL %s: of %d these are missing: %s\n' "$what" $# "${missing[*]}"
    failures=$((failures + 1))
  fi
}

check_rule_files() { # EXAMPLES
  local example names
  for example in "$1"/prometheus.yaml "$1"/prometheus-edge.yaml; do
    mapfile -t names < <(sed -n '/^rule_files:/,/^$/s/^ *- //p' "$example")
    check_named "rule files of ${example##*/}" "$1" "${names[@]}"
  done
}

check_with_promtool() { # EXAMPLES
  local said
  if ! command -v promtool >/dev/null; then
    echo "skip: promtool is not installed (Debian package prometheus)"
  elif said=$(promtool check config "$1"/prometheus*.yaml 2>&1); then
    echo "ok   promtool takes the examples"
  else
    printf 'FAIL promtool: %s\n' "$said"
    failures=$((failures + 1))
  fi
}

# Links between documents. Those to sources lead nowhere.
check_links() { # FOLDER
  local names=() page link
  while IFS=: read -r page link; do
    link=${link#](}
    names+=("$(realpath -m --relative-to="$1" "$(dirname "$page")/${link%%#*}")")
  done < <(grep -oHrE '\]\([A-Za-z0-9_./-]+\.(md|png)' "$1/docs")
  check_named "links of documents" "$1" "${names[@]}"
}

# What the programs, their manual pages and the configuration file of this tree refer to.
check_references() { # FOLDER
  local tree names
  tree=$(dirname "${BASH_SOURCE[0]}")/../../..
  mapfile -t names < <(grep -ohrE 'docs/[a-z/-]+\.md' "$tree/config/offcpud.yaml" "$tree/docs/man" \
    "$tree/daemon" --include='*.cpp' --include='*.in' --include='*.yaml' | sort -u)
  check_named "documents that are referred to" "$1" "${names[@]}"
}

check_runbooks() { # FOLDER
  local names
  mapfile -t names < <(sed -n 's/^ *runbook_url: //p' "$1/config/prometheus/alerts.rules.yaml")
  check_named "runbooks of alerts" "$1" "${names[@]}"
}

check_documents() { # FOLDER
  check_runbooks "$1"
  check_references "$1"
  check_links "$1"
  check_rule_files "$1/config/examples"
  check_with_promtool "$1/config/examples"
}
