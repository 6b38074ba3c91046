#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: installed_documents_test.sh BUILD. What examples and documents name exists once they are
# installed: `cmake --install` of BUILD puts them below a folder of this test's own.
set -euo pipefail

build=$1
# shellcheck source=tests/unit/packaging/installed.sh
source "$(dirname "${BASH_SOURCE[0]}")/installed.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
DESTDIR=$work cmake --install "$build" --prefix /usr --component documents >/dev/null

check_documents "$work/usr/share/doc/offcpud"
((failures == 0))
