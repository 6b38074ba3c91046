#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: packages_agree_test.sh. What the packages say themselves agrees with the one place that says
# it: the version with project() in CMakeLists.txt, what the build takes with packaging/build-depends.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../../../packaging"
failures=0
same() { # WHAT EXPECTED SEEN
  if [[ -n $2 && $2 == "$3" ]]; then
    echo "ok   $1"
  else
    printf 'FAIL %s: expected %s, seen %s\n' "$1" "$2" "$3"
    failures=$((failures + 1))
  fi
}

version=$(sed -n 's/^project(offcpud VERSION \([0-9.]*\).*/\1/p' ../CMakeLists.txt)
same "debian/changelog" "$version" "$(sed -n '1s/^offcpud (\([^)]*\)).*/\1/p' debian/changelog)"
same "rpm/offcpud.spec" "$version" "$(sed -n 's/^Version: *//p' rpm/offcpud.spec)"
same "its changelog" "$version-1" "$(sed -n '/^%changelog/{n;s/.* - //p}' rpm/offcpud.spec)"
same "container/Containerfile" "$version" \
  "$(sed -n 's/.*image\.version="\([^"]*\)".*/\1/p' container/Containerfile)"
same "tags in documents" "$version" "$(grep -ohE '(offcpud:|newTag: )[0-9]+[.][0-9.]*[0-9]' ../docs/packages.md \
  container/Containerfile | sed -E 's/.*[: ]//' | sort -u | tr '\n' ' ' | sed 's/ $//')"
same "kubernetes/base" "$version" "$(sed -n 's/^ *newTag: //p' kubernetes/base/kustomization.yaml)"

# g++ is a part of what every Debian package is built with.
listed=$(sed -e 's/#.*//' -e '/^ *$/d' -e '/^g++$/d' build-depends | sort)
control=$(sed -n '/^Build-Depends:/,/^[A-Z].*:/s/^ \([a-z0-9.+-]*\).*/\1/p' debian/control |
  grep -v -e '^debhelper-compat$' -e '^dh-sequence-' | sort)
same "Build-Depends of debian/control" "$listed" "$control"

curl=$(sed -n 's/^find_package(CURL \([0-9.]*\) .*/\1/p' ../daemon/transfer/CMakeLists.txt)
same "libcurl of debian/control" "$curl" \
  "$(sed -n 's/^ libcurl4-openssl-dev (>= \([0-9.]*\)).*/\1/p' debian/control)"
same "libcurl of rpm/offcpud.spec" "$curl" \
  "$(sed -n 's/^BuildRequires: *libcurl-devel >= //p' rpm/offcpud.spec)"

revision=$(cat revision)
# shellcheck disable=SC2016 # git puts the commit there
case $revision in
  '$Format:%H$') echo "ok   a clone" ;;
  *) same "revision of an archive" 40 "$(tr -d '\n' <revision | wc -c)" ;;
esac
((failures == 0))
