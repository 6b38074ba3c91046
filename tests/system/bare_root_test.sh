#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: sudo tests/system/bare_root_test.sh. The two commands of README.md, packaging/quickstart and
# tests/run unit, in a fresh Debian where nothing is installed. Not run by tests/run: it fetches some
# hundred megabytes and builds everything twice (10 minutes on two cores).
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/system/container.sh
source "$here/container.sh"
container_requirements

root=$(mktemp -d /var/tmp/offcpud-bare.XXXXXX)
mounted=()
cleanup() {
  local target
  for target in "${mounted[@]}"; do umount -l "$target"; done
  rm -rf --one-file-system "$root"
}
trap cleanup EXIT

echo "==> a bare root"
codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
debian_sources | mmdebstrap --quiet --variant=minbase "$codename" "$root" -
# Like a new machine: package lists that were never fetched.
find "$root/var/lib/apt/lists" -type f -delete
if [[ -e /etc/resolv.conf ]]; then cp -L /etc/resolv.conf "$root/etc/resolv.conf"; fi
for folder in proc sys; do
  mount --rbind "/$folder" "$root/$folder"
  mount --make-rslave "$root/$folder"
  mounted+=("$root/$folder")
done

# The tree as a user gets it: no build folders, no git.
mkdir "$root/offcpud"
tar -C "$here/../.." --exclude='./build*' --exclude=./.git -cf - . | tar -C "$root/offcpud" -xf -

in_root() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@"; }

if [[ -e $here/../../daemon/main.cpp ]]; then
  echo "==> packaging/quickstart --no-run, from another directory"
  in_root /offcpud/packaging/quickstart --no-run
  in_root /offcpud/build/bin/offcpud --version
fi
echo "==> tests/run unit"
in_root /offcpud/tests/run unit
echo "==> again, without a network: everything is there"
in_root unshare --net /offcpud/tests/run unit
