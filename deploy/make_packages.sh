#!/usr/bin/env bash
# Makes the Debian packages of ttl-sidecar, ttlctl, ttl-postgres and the C++ client from a finished
# build.
#
#   deploy/make_packages.sh BUILD_DIR OUTPUT_DIR
#
# For example: deploy/make_packages.sh build/release packages. BUILD_DIR is of the preset release or
# ci, built with help2man installed; the packages are for this Debian release and this processor.
# Needs debhelper.
set -euo pipefail

if (($# != 2)) || [[ ! -f $1/CMakeCache.txt ]]; then
  echo "usage: $0 BUILD_DIR OUTPUT_DIR; BUILD_DIR is a finished build" >&2
  exit 2
fi
root=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$1" && pwd)
mkdir -p "$2"
output=$(cd "$2" && pwd)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/ttl-sidecar"
cp -r "$root/deploy/debian" "$work/ttl-sidecar/debian"
cd "$work/ttl-sidecar"
TTL_BUILD=$build dpkg-buildpackage --build=binary --no-sign --no-check-builddeps
mv ../*.deb "$output/"
ls "$output"/*.deb
