# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced: roots of Debian's releases, from the mirrors of this host's own apt, whose signatures are checked.
#
#   debian_sources [CODENAME]        lines of sources.list; of this host's release, or of another one
#   debian_root_create CODENAME DIR  a minimal root there; fails with the end of the log on stderr
#   debian_root_clean DIR            like a new machine: no package lists, no settings of ours
#   host_codename                    such as bookworm

offcpud_cache() { echo "${XDG_CACHE_HOME:-/var/cache}/offcpud-tests"; }

host_codename() { (. /etc/os-release && echo "${VERSION_CODENAME:-sid}"); }

# No address is written down here.
debian_sources() { # [CODENAME]
  local release=${1:-} own
  own=$(host_codename)
  # shellcheck disable=SC2016 # apt-get expands them
  apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' \
    'Created-By: Packages' 'Origin: Debian' | sort -u |
    if [[ -z $release || $release == "$own" ]]; then
      cat
    else
      # sid has neither updates nor security of its own.
      awk -v own="$own" -v other="$release" '
        index($3, own) != 1 || $4 != "main" { next }
        { suffix = substr($3, length(own) + 1) }
        suffix == "" || (other != "sid" && (suffix == "-updates" || suffix == "-security")) {
          print $1, $2, other suffix, $4
        }'
    fi
}

# Where this host's apt does not look at the dates of package lists, because its clock is off, that of the root must
# not either.
date_options() {
  local option value
  for option in Acquire::Check-Date Acquire::Check-Valid-Until; do
    value=$(apt-config dump --format '%v' "$option")
    if [[ -n $value ]]; then echo "--aptopt=$option \"$value\""; fi
  done
}

# Kept as an archive for a week: what has become newer since, apt fetches in the root.
debian_root_create() { # CODENAME DIR
  local codename=$1 folder=$2 cache tar new options
  cache=$(offcpud_cache)
  tar=$cache/debian-$codename.tar
  if [[ -z $(find "$tar" -mtime -7 2>/dev/null) ]]; then
    new=${tar%.tar}.new.$$.tar # mmdebstrap goes by the ending
    mkdir -p "$cache"
    mapfile -t options < <(date_options)
    if ! debian_sources "$codename" | mmdebstrap --quiet --variant=minbase "${options[@]}" "$codename" "$new" - \
      2>"$cache/mmdebstrap-$codename.log"; then
      rm -f "$new"
      tail -n 5 "$cache/mmdebstrap-$codename.log" >&2
      return 1
    fi
    mv "$new" "$tar"
  fi
  mkdir -p "$folder"
  tar -C "$folder" -xf "$tar" --exclude='./dev/*'
  if [[ -e /etc/resolv.conf ]]; then cp -L --remove-destination /etc/resolv.conf "$folder/etc/resolv.conf"; fi
}

debian_root_clean() { # DIR
  find "$1/var/lib/apt/lists" -type f -delete
  rm -f "$1/etc/apt/apt.conf.d/99mmdebstrap"
}
