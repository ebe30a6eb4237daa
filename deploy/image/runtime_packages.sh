#!/usr/bin/env bash
# Prints the Debian packages that hold the shared libraries of some programs, one a line.
# Libraries of packages that every Debian has (libc6, libgcc-s1, zlib1g) are left out.
#
#   deploy/image/runtime_packages.sh PROGRAM...
set -euo pipefail
(($#)) || { echo "usage: $0 PROGRAM..." >&2; exit 2; }

everywhere='^(libc6|libgcc-s1|zlib1g)$'

# package_of LIBRARY: a library is known to dpkg by its path before or after /lib was
# merged into /usr/lib.
package_of() {
  local real
  real=$(readlink -f "$1")
  dpkg-query -S "$real" 2>/dev/null || dpkg-query -S "${real#/usr}" ||
    { echo "error: no package holds $1" >&2; return 1; }
}

libraries=$(ldd "$@")
if missing=$(grep 'not found' <<<"$libraries"); then
  echo "error: libraries are missing: $missing" >&2
  exit 1
fi
packages=$(awk '$3 ~ /^\// { print $3 }' <<<"$libraries" | sort -u |
  while read -r library; do package_of "$library" || exit 1; done)
cut -d: -f1 <<<"$packages" | sort -u | grep -vE "$everywhere"
