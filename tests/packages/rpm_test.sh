#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: rpm_test.sh FOLDER. Builds the RPM and installs it into a root of its own, without what it
# requires: that the programs run is shown for the other packages.
set -euo pipefail

folder=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/system/service.sh
source "$here/../system/service.sh"

root=''
trap 'rm -rf "$root"' EXIT
rm -f "$folder"/*.rpm
"$here/../../packaging/build-rpm" --output "$folder"
package=$(find "$folder" -name 'offcpud-[0-9]*.rpm')
query() { rpm --query --package "$@" "$package" 2>/dev/null; }

script_is_valid() { query --queryformat "%{$1}" | sh -n; }
script_says() { query --queryformat "%{$1}" | grep -q -- "$2"; }
check "the configuration is one to rpm" test "$(query --configfiles)" = /etc/offcpud/offcpud.yaml
for script in POSTIN PREUN POSTUN; do check "$script is a valid script" script_is_valid "$script"; done
check "installing makes the user" script_says POSTIN 'systemd-sysusers offcpud.conf'
check "and goes by the presets" script_says POSTIN 'offcpud.service'
check "removing stops the service" script_says PREUN 'offcpud.service'
check "it requires the shared libraries" grep -q '^libmicrohttpd\.so' <(query --requires)

root=$(mktemp -d /var/tmp/offcpud-rpm.XXXXXX)
in_root() { rpm --root "$root" "$@"; }
change() { in_root --nodeps --noscripts "$@"; }
check "it installs" change --install "$package"
check "the files are as they were packed" in_root --nodeps --verify offcpud
check "the program is the one of this tree" \
  grep -q "^offcpud $(in_root --query --queryformat '%{VERSION}' offcpud) " <("$root/usr/bin/offcpud" --version)
check "the unit names it" grep -q '^ExecStart=/usr/bin/offcpud ' "$root/usr/lib/systemd/system/offcpud.service"
for page in man1/offcpuctl.1 man5/offcpud.yaml.5 man7/offcpud-metrics.7 man8/offcpud.8; do
  check "it has ${page##*/}" test -n "$(find "$root/usr/share/man/${page%/*}" -name "${page##*/}*")"
done
documents_are_complete() (
  # shellcheck source=tests/unit/packaging/installed.sh
  source "$here/../unit/packaging/installed.sh"
  check_documents "$root/usr/share/doc/offcpud"
  ((failures == 0))
)
check "what its documents name is there" documents_are_complete
echo '# edited' >>"$root/etc/offcpud/offcpud.yaml"
check "it installs anew" change --upgrade --replacepkgs "$package"
check "an edited configuration stays" grep -q '^# edited' "$root/etc/offcpud/offcpud.yaml"
check "it is erased" change --erase offcpud
left=$(find "$root" -path "$root/var/lib/rpm" -prune -o -name '*offcpud*' ! -type d -printf '%P ')
check "of its files the edited one is left (seen: $left)" test "$left" = 'etc/offcpud/offcpud.yaml.rpmsave '
((service_failures == 0))
