#!/usr/bin/env bash
# Makes the Debian packages from a finished build and tests what is in them: lintian, the units,
# the man pages, the completions, and the command line of the sidecar's unit in the unpacked tree.
#
#   tests/deploy/packages_test.sh BUILD_DIR
#
# prove_packages.sh installs them in a bare Debian 12.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:?usage: $0 BUILD_DIR}
# shellcheck source=tests/deploy/cases.sh
. tests/deploy/cases.sh

deploy/make_packages.sh "$build" "$work/packages" >"$work/make.log" 2>&1 || {
  cat "$work/make.log"
  exit 1
}
root=$work/root
for package in "$work"/packages/*.deb; do dpkg-deb -x "$package" "$root"; done

is_lintian_clean() { lintian --allow-root --fail-on error,warning "$work"/packages/*.deb; }
check "lintian finds no error and no warning" is_lintian_clean

# The units name the programs where they will be installed; here they are below $root.
units_are_sound() {
  mkdir -p "$work/units"
  local unit
  for unit in ttl-sidecar ttl-postgres; do
    sed "s#^ExecStart=/usr#ExecStart=$root/usr#" "$root/lib/systemd/system/$unit@.service" \
      >"$work/units/$unit@.service"
  done
  systemd-analyze verify --man=no "$work"/units/*@.service 2>"$work/verify.log"
  [[ ! -s $work/verify.log ]] || { cat "$work/verify.log"; return 1; }
}
check "systemd accepts the units" units_are_sound

# is_sound_page NAME: man formats the page without a warning.
is_sound_page() {
  MANWIDTH=80 LC_ALL=C.UTF-8 man --warnings --local-file --encoding=UTF-8 \
    "$root/usr/share/man/man1/$1.1.gz" >"$work/page" 2>"$work/page.log"
  [[ -s $work/page && ! -s $work/page.log ]] || { cat "$work/page.log"; return 1; }
}
for program in ttl-sidecar ttlctl ttl-postgres; do
  check "man accepts the page of $program" is_sound_page "$program"
  check "$program has a man page" test -s "$root/usr/share/man/man1/$program.1.gz"
  check "$program has a completion" test -s "$root/usr/share/bash-completion/completions/$program"
done
library_is_where_it_is_said() {
  local said=("$root"/usr/lib/*/pkgconfig/ttl-client.pc)
  [[ -f $root$(pkg-config --variable=libdir "${said[0]}")/libttl-client.a &&
    -f $root$(pkg-config --variable=includedir "${said[0]}")/ttl/client.h ]]
}
check "pkg-config says where the C++ client is" library_is_where_it_is_said
check "no unit is enabled" test ! -e "$root/etc/systemd"

# completions PROGRAM WORD...: what completing the last word offers, in one line.
completions() {
  PATH=$root/usr/bin:$PATH bash -c '
    . "$1/usr/share/bash-completion/completions/$2"
    COMP_WORDS=("${@:2}") COMP_CWORD=$(($# - 2))
    _ttl "$2" "${@: -1}"
    echo "${COMPREPLY[*]}"' bash "$root" "$@"
}
offers() {
  local expected=$1 offered
  shift
  offered=$(completions "$@")
  [[ " $offered " == *" $expected "* ]] || { echo "offered: $offered"; return 1; }
}
check "a subcommand is completed" offers preview ttl-postgres pre
check "an option of a subcommand is completed" offers --default-ttl ttl-postgres preview --def
check "an option is completed" offers --data-dir ttl-sidecar --data
check "a subcommand after an option is completed" offers preview ttl-postgres --config x.yaml pre

check "bash, zsh and fish complete ttlctl" tests/deploy/completion_test.py "$root/usr/bin" "$root/usr"

# The sidecar's unit runs with the example settings, whose paths are put below $root.
starts_as_the_unit_says() {
  mkdir -p "$root"/{etc/ttl-sidecar,run/ttl-sidecar,var/lib/ttl-sidecar}
  sed "s#\"/\(run/ttl-sidecar\)#\"$root/\1#" "$root/usr/share/doc/ttl-sidecar/examples/sidecar.example.toml" \
    >"$root/etc/ttl-sidecar/first.toml"
  local line
  line=$(sed -n 's/^ExecStart=//p' "$root/lib/systemd/system/ttl-sidecar@.service" |
    sed "s#%i#first#g; s# /# $root/#g; s#^/#$root/#")
  read -ra command <<<"$line"
  "${command[@]}" >"$work/sidecar.log" 2>&1 &
  sidecar=$!
  local address=unix:$root/run/ttl-sidecar/sidecar.sock
  timeout 60 bash -c 'until "$0" --server "$1" health >/dev/null 2>&1; do sleep 0.1; done' \
    "$root/usr/bin/ttlctl" "$address" || { cat "$work/sidecar.log"; return 1; }
  "$root/usr/bin/ttlctl" --server "$address" containers create c --default-ttl 60
  [[ -d $root/var/lib/ttl-sidecar/first ]]
  kill "$sidecar"
  wait "$sidecar"
  sidecar=
}
check "the sidecar starts and stops as its unit says" starts_as_the_unit_says

echo "$passed passed, $failed failed"
((failed == 0))
