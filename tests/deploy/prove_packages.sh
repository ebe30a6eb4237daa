#!/usr/bin/env bash
# Installs the Debian packages in a bare Debian 12 with apt, runs the sidecar by the command line of
# its unit as the user that the package creates, builds projects of others with the C++ client, and
# removes everything again.
#
#   tests/deploy/prove_packages.sh BUILD_DIR
#
# Needs root and debootstrap; part of tests/run.sh --long.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/bare_root.sh
build=$(cd "${1:?usage: $0 BUILD_DIR}" && pwd)

work=$(mktemp -d "${TMPDIR:-/var/tmp}/prove-packages.XXXXXX")
trap 'rm -rf --one-file-system "$work"' EXIT
deploy/make_packages.sh "$build" "$work/packages" >"$work/make.log" 2>&1 || {
  cat "$work/make.log"
  exit 1
}
make_bare_root "$work/debian" "$work/debootstrap.log"
cp "$work"/packages/*.deb "$work/debian/tmp/"
mkdir "$work/debian/tmp/source"
git ls-files -z | tar --create --null --files-from=- | tar --extract --directory "$work/debian/tmp/source"
cat >"$work/debian/tmp/prove.sh" <<'PROOF'
set -euxo pipefail
export DEBIAN_FRONTEND=noninteractive
update-ca-certificates >/dev/null 2>&1 || true
apt-get update -q
apt-get install -q -y /tmp/*.deb

# What the packages create; no unit is enabled.
getent passwd ttl-sidecar
[[ $(stat -c '%a %U' /var/lib/ttl-sidecar) == "700 ttl-sidecar" ]]
[[ $(stat -c '%a %U %G' /etc/ttl-sidecar) == "750 root ttl-sidecar" ]]
[[ $(stat -c '%a %U %G' /etc/ttl-postgres) == "750 root ttl-sidecar" ]]
[[ -z $(find /etc/systemd/system -name 'ttl-*') ]]

cp /usr/share/doc/ttl-sidecar/examples/sidecar.example.toml /etc/ttl-sidecar/first.toml
read -ra command < <(sed -n 's/^ExecStart=//p' /lib/systemd/system/ttl-sidecar@.service | sed 's/%i/first/g')
setpriv --reuid ttl-sidecar --regid ttl-sidecar --init-groups --no-new-privs "${command[@]}" &
timeout 60 bash -c 'until ttlctl health >/dev/null 2>&1; do sleep 0.1; done'
ttlctl containers create c --default-ttl 60
[[ $(stat -c %U /var/lib/ttl-sidecar/first) == ttl-sidecar ]]
kill %1
wait %1

# The C++ client, with what its package depends on and a compiler; nothing of what the programs are
# compiled with is there.
apt-get install -q -y --no-install-recommends cmake g++ ninja-build
for package in libleveldb-dev libpq-dev libspdlog-dev libcli11-dev libyaml-cpp-dev; do
  ! dpkg-query --show "$package"
done
mkdir -p /tmp/build/bin
ln -s /usr/bin/ttl-sidecar /tmp/build/bin/
/tmp/source/tests/deploy/client_library_test.sh /tmp/build /usr

# A purge leaves the data, which is not the package's.
apt-get purge -q -y ttl-sidecar ttlctl ttl-postgres libttl-client-dev
[[ -d /var/lib/ttl-sidecar/first && ! -e /usr/bin/ttl-sidecar && ! -e /usr/include/ttl ]]
PROOF
# shellcheck disable=SC2016  # for the inner shell
unshare --mount --pid --fork --kill-child bash -c \
  'mount -t proc proc "$0/proc" && exec chroot "$0" bash /tmp/prove.sh' "$work/debian"
echo "OK"
