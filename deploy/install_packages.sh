#!/usr/bin/env bash
# Installs the packages of packages.txt, which ttl-sidecar is built and tested with.
#
#   deploy/install_packages.sh          what building and running need
#   deploy/install_packages.sh test     what tests/run.sh needs as well
#   deploy/install_packages.sh long     what tests/run.sh --long needs as well
#   deploy/install_packages.sh bench    what tests/bench/run.sh and growth.sh need
#
# If everything is there it says so without touching the network. Needs root, or
# sudo. Meant for Debian 12. Where apt lacks a package, or has an older one than it
# takes, it names all such at once and installs nothing; where there is no apt, all
# that is needed.
set -euo pipefail
list=$(dirname "$0")/packages.txt

case "${1:-build}" in
  build) purposes=(build) ;;
  test) purposes=(build test) ;;
  long) purposes=(build test long) ;;
  bench) purposes=(build bench) ;;
  *)
    echo "usage: $0 [build|test|long|bench]" >&2
    exit 2
    ;;
esac

# packages_for PURPOSE...: package and least version, if it has one, one a line.
packages_for() {
  awk -v wanted=" $* " '
    /^[^#]/ {
      count = split($2, purposes, ",")
      for (i = 1; i <= count; i++)
        if (index(wanted, " " purposes[i] " ")) { print $1, $3; next }
    }' "$list"
}

system_name() { (. /etc/os-release && echo "$PRETTY_NAME") 2>/dev/null || uname -s; }

declare -A least installed candidate
packages=()
while read -r package version; do
  # Node.js may come from elsewhere than Debian, which then brings npm with it.
  case "$package" in nodejs | npm) ! command -v npm >/dev/null || continue ;; esac
  packages+=("$package")
  least[$package]=$version
done < <(packages_for "${purposes[@]}")

# needed PACKAGE: as readers see it.
needed() { echo "$1${least[$1]:+ ${least[$1]} or later}"; }

if ! command -v apt-get >/dev/null; then
  {
    echo "error: $(system_name) has no apt. ttl-sidecar is built and tested on Debian 12, with these"
    echo "packages; install their counterparts by hand:"
    for package in "${packages[@]}"; do echo "  $(needed "$package")"; done
  } >&2
  exit 1
fi

# suffices PACKAGE VERSION: whether this version of it will do, empty for none. The upstream's
# part counts, without Debian's epoch.
suffices() {
  [[ -n $2 ]] || return
  [[ -z ${least[$1]} ]] || dpkg --compare-versions "${2#*:}" ge "${least[$1]}"
}

while read -r package status version; do
  [[ $status != installed ]] || installed[$package]=$version
done < <(dpkg-query -W -f '${Package} ${db:Status-Status} ${Version}\n' "${packages[@]}" 2>/dev/null)

missing=()
for package in "${packages[@]}"; do
  suffices "$package" "${installed[$package]:-}" || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
  echo "packages: all ${#packages[@]} are installed"
  exit 0
fi

as_root=()
if ((EUID != 0)); then
  command -v sudo >/dev/null || { echo "error: installing packages needs root or sudo" >&2; exit 1; }
  as_root=(sudo)
fi
"${as_root[@]}" apt-get update -qq

# What apt would install.
while read -r package version; do
  candidate[$package]=$version
done < <(LC_ALL=C apt-cache policy "${missing[@]}" |
  awk '/^[^ ]/ { package = substr($1, 1, length($1) - 1) }
    $1 == "Candidate:" && $2 != "(none)" { print package, $2 }')

problems=()
for package in "${missing[@]}"; do
  suffices "$package" "${candidate[$package]:-}" ||
    problems+=("$(needed "$package"): apt has ${candidate[$package]:-none}")
done
if ((${#problems[@]} > 0)); then
  {
    echo "error: $(system_name) lacks packages that ttl-sidecar needs; nothing was installed:"
    printf '  %s\n' "${problems[@]}"
    echo "It is built and tested on Debian 12. All that is needed is in $list;"
    echo "install by hand what comes from elsewhere, and what find_packages.cmake still misses."
  } >&2
  exit 1
fi

install() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends -o Dpkg::Use-Pty=0 "$@"
}

echo "packages: installing ${#missing[@]} of ${#packages[@]}: ${missing[*]}"
if [[ " ${missing[*]} " == *" postgresql-common "* ]]; then
  # Tests start servers of their own; without this, installing one would start another.
  install postgresql-common
  "${as_root[@]}" sed -i 's/^#\?create_main_cluster *=.*/create_main_cluster = false/' \
    /etc/postgresql-common/createcluster.conf
fi
install "${missing[@]}"
