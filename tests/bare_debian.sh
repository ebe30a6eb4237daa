#!/usr/bin/env bash
# Proves both commands of the README on a machine with nothing on it: makes a bare
# Debian 12 root, puts a clean clone of HEAD into it, and runs there
# deploy/quickstart.sh and tests/run.sh. Says how long each took.
#
#   tests/bare_debian.sh [--keep] [COMMAND...]
#
# COMMAND: commands to run instead of the two, in the clone, each one argument.
# --keep leaves the root for looking around. Needs root and debootstrap; not part
# of tests/run.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/bare_root.sh

keep=false
if [[ ${1:-} == --keep ]]; then
  keep=true
  shift
fi
commands=("$@")
((${#commands[@]})) || commands=(deploy/quickstart.sh tests/run.sh)

work=$(mktemp -d "${TMPDIR:-/var/tmp}/bare-debian.XXXXXX")
root=$work/root

finish() {
  umount -R "$root/dev" "$root/sys" "$root/proc" 2>/dev/null || true
  if $keep; then
    echo "root: $root (processes, devices and system are no longer mounted)"
  else
    rm -rf --one-file-system "$work"
  fi
}
trap finish EXIT

mount_system() {
  mount -t proc proc "$root/proc"
  mount -t sysfs sysfs "$root/sys"
  mount --rbind /dev "$root/dev"
  mount --make-rslave "$root/dev"
}

inside() {
  chroot "$root" env -i HOME=/root LANG=C.UTF-8 \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

start=$SECONDS
echo "Making a bare Debian 12 in $root"
make_bare_root "$root" "$work/debootstrap.log"
mount_system
git clone -q . "$root/src/ttl-sidecar"
times=("debootstrap: $((SECONDS - start)) s")

failed=0
for command in "${commands[@]}"; do
  echo
  echo "==== in a bare Debian 12: $command"
  start=$SECONDS
  inside bash -c "cd /src/ttl-sidecar && $command" && verdict=ok || verdict=FAILED
  [[ $verdict == ok ]] || failed=1
  times+=("$command: $((SECONDS - start)) s, $verdict")
done

echo
printf '%s\n' "${times[@]}"
exit "$failed"
