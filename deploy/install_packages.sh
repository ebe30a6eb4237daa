#!/usr/bin/env bash
# Installs the Debian 12 packages that ttl-sidecar is built and tested with.
#
#   deploy/install_packages.sh          what building and running need
#   deploy/install_packages.sh test     what tests/run.sh needs as well
#   deploy/install_packages.sh long     what tests/run.sh --long needs as well
#
# If everything is there it says so without touching the network. Needs root, or
# sudo. On another distribution install the packages' counterparts by hand.
set -euo pipefail

build_packages=(
  ca-certificates ccache cmake g++ git ninja-build pkg-config
  libabsl-dev libcli11-dev libgrpc++-dev libleveldb-dev libprotobuf-dev libsnappy-dev libspdlog-dev
  libyaml-cpp-dev nlohmann-json3-dev protobuf-compiler protobuf-compiler-grpc
)
test_packages=(
  clang clang-format libgmock-dev libgtest-dev librapidcheck-dev python3
)

packages=("${build_packages[@]}")
case "${1:-build}" in
  build) ;;
  test | long)
    packages+=("${test_packages[@]}")
    # Node.js may come from elsewhere than Debian, which then brings npm with it.
    command -v npm >/dev/null || packages+=(nodejs npm)
    [[ $1 == test ]] || packages+=(clang-tidy)
    ;;
  *)
    echo "usage: $0 [build|test|long]" >&2
    exit 2
    ;;
esac

installed() { dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null | grep -qx installed; }

missing=()
for package in "${packages[@]}"; do
  installed "$package" || missing+=("$package")
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

echo "packages: installing ${#missing[@]} of ${#packages[@]}: ${missing[*]}"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends -o Dpkg::Use-Pty=0 "${missing[@]}"
