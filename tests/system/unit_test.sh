#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: unit_test.sh BUILD_DIR. The unit is valid and its exposure, by systemd's own measure, stays
# at 3.0 or below.
set -euo pipefail

build=$1
if ! command -v systemd-analyze >/dev/null; then
  echo "SKIP: systemd-analyze is not installed"
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# verify wants the program to exist where the unit says; it is not installed on this host.
unit=$folder/offcpud.service
sed 's|^ExecStart=[^ ]*|ExecStart=/bin/true|' "$build/systemd/offcpud.service" >"$unit"
complaints=$(systemd-analyze verify --man=no "$unit" 2>&1)
if [[ -n $complaints ]]; then
  echo "systemd-analyze verify complains: $complaints"
  exit 1
fi
systemd-analyze security --offline=true --no-pager --threshold=30 "$unit"
