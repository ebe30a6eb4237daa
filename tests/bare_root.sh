# shellcheck shell=bash
# Sourced by scripts that prove something in a bare Debian 12: makes its root folder.
# Needs root and debootstrap.

# make_bare_root ROOT LOG: debootstrap's smallest variant, whose package clients reach what
# those outside do.
make_bare_root() {
  local root=$1 log=$2
  ((EUID == 0)) || { echo "error: chroot and mount need root" >&2; return 1; }
  command -v debootstrap >/dev/null || { echo "error: apt-get install debootstrap" >&2; return 1; }
  debootstrap --variant=minbase bookworm "$root" >"$log" 2>&1 || { tail "$log"; return 1; }
  copy_network_settings "$root"
}

# copy_network_settings ROOT: names, package sources, certificate authorities.
copy_network_settings() {
  local root=$1
  cp -L /etc/resolv.conf "$root/etc/resolv.conf"
  if [[ -f /etc/apt/sources.list.d/debian.sources ]]; then
    rm -f "$root/etc/apt/sources.list"
    cp /etc/apt/sources.list.d/debian.sources "$root/etc/apt/sources.list.d/"
  fi
  mkdir -p "$root/usr/local/share/ca-certificates"
  cp -r /usr/local/share/ca-certificates/. "$root/usr/local/share/ca-certificates/"
}
