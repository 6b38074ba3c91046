# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced in the root of the tree, after apt.sh: the tree as packages are built from it.

# Git of this tree, which may be that of the user who called sudo.
tree_git() { git -c "safe.directory=$PWD" "$@"; }

# export_tree FOLDER: the last commit; where there is no git, as in an archive of one, what is here.
export_tree() {
  mkdir -p "$1"
  if [[ -e .git ]] && tree_git rev-parse -q --verify HEAD >/dev/null 2>&1; then
    if [[ -n $(tree_git status --porcelain) ]]; then
      say "what is not committed does not get into the package"
    fi
    tree_git archive HEAD | tar -C "$1" -xf -
  else
    tar --exclude='./build*' --exclude=./.git -cf - . | tar -C "$1" -xf -
  fi
}

project_version() { sed -n 's/^project(offcpud VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt; }

# package_options USAGE ARGUMENT...: sets $output and $suffix.
package_options() {
  local usage=$1
  shift
  while (($# > 0)); do
    case $1 in
      --output) output=${2:-} && shift ;;
      --suffix) suffix=${2:-} && shift ;;
      -h | --help) echo "$usage" && exit 0 ;;
      *) echo "$usage" >&2 && exit 64 ;;
    esac
    shift || break
  done
  if [[ -z $output || ! $suffix =~ ^([+~][a-z0-9.+~]+)?$ ]]; then echo "$usage" >&2 && exit 64; fi
  mkdir -p "$output"
  output=$(cd "$output" && pwd)
}
