#!/bin/sh
# Makes of a bare Debian the root of an image, within its Dockerfile: installs the packages that a
# file lists, makes folders for the user of the image, and leaves no traces. Removes /tmp/*, where
# it and the list may be.
#
#   install_runtime.sh PACKAGE_LIST FOLDER...
#
# With SOURCE_DATE_EPOCH, in Unix seconds, no file is younger than that.
set -eu

packages=$1
shift
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
xargs -a "$packages" apt-get install -y -qq --no-install-recommends
apt-get clean
install -d -o 65532 -g 65532 -m 0770 "$@"
rm -rf /tmp/* /var/lib/apt/lists/* /var/log/* /var/cache/ldconfig/aux-cache \
  /var/cache/apt/*.bin /var/cache/debconf/*-old /var/lib/dpkg/*-old
if [ -n "${SOURCE_DATE_EPOCH:-}" ]; then
  find / -xdev -newermt "@$SOURCE_DATE_EPOCH" -exec touch -h -d "@$SOURCE_DATE_EPOCH" '{}' +
fi
