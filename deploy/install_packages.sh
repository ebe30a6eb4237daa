#!/usr/bin/env bash
# Installs the Debian 12 packages that ttl-sidecar is built and tested with.
#
#   deploy/install_packages.sh          what building and running need
#   deploy/install_packages.sh test     what tests/run.sh needs as well
#   deploy/install_packages.sh long     what tests/run.sh --long needs as well
#   deploy/install_packages.sh bench    what tests/bench/run.sh and growth.sh need
#
# If everything is there it says so without touching the network. Needs root, or
# sudo. On another distribution install the packages' counterparts by hand.
set -euo pipefail

build_packages=(
  ca-certificates ccache cmake g++ git ninja-build pkg-config
  libabsl-dev libcli11-dev libgrpc++-dev libjemalloc-dev libleveldb-dev libpq-dev libprotobuf-dev
  libsnappy-dev libspdlog-dev libssl-dev libyaml-cpp-dev nlohmann-json3-dev prometheus-cpp-dev
  protobuf-compiler protobuf-compiler-grpc zlib1g-dev
)
test_packages=(
  # llvm names the functions in what sanitizers report, for readers and for suppressions.
  clang clang-format libclang-rt-14-dev libgmock-dev libgtest-dev librapidcheck-dev llvm python3
  # What clients in other languages are generated, checked and run with.
  mypy protobuf-compiler-grpc-java-plugin protoc-gen-go protoc-gen-go-grpc python3-grpcio
  python3-protobuf python3-setuptools
  # The store of client/postgres. postgresql-common comes first, see below.
  postgresql-common postgresql-15
)
# What stubs are compiled and called with. Of the two that gRPC for Go may have, only
# golang/protobuf 1.5 reads messages that protoc-gen-go makes.
stub_packages=(
  default-jdk-headless golang-github-golang-protobuf-1-5-dev golang-go golang-google-grpc-dev
  golang-google-protobuf-dev libgeronimo-annotation-1.3-spec-java libgrpc-java libguava-java
  libnetty-java libperfmark-java libprotobuf-java
  php-bcmath php-cli php-curl php-google-protobuf ruby-google-protobuf ruby-grpc
)
# redis-tools has the server too, without a service that would be started.
bench_packages=(
  libgmock-dev libgtest-dev librapidcheck-dev postgresql-common postgresql-15 python3 redis-tools
)

packages=("${build_packages[@]}")
case "${1:-build}" in
  build) ;;
  bench) packages+=("${bench_packages[@]}") ;;
  test | long)
    packages+=("${test_packages[@]}")
    # Node.js may come from elsewhere than Debian, which then brings npm with it.
    command -v npm >/dev/null || packages+=(nodejs npm)
    [[ $1 == test ]] || packages+=(clang-tidy debootstrap "${stub_packages[@]}")
    ;;
  *)
    echo "usage: $0 [build|test|long|bench]" >&2
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

install() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends -o Dpkg::Use-Pty=0 "$@"
}

echo "packages: installing ${#missing[@]} of ${#packages[@]}: ${missing[*]}"
"${as_root[@]}" apt-get update -qq
if [[ " ${missing[*]} " == *" postgresql-common "* ]]; then
  # Tests start servers of their own; without this, installing one would start another.
  install postgresql-common
  "${as_root[@]}" sed -i 's/^#\?create_main_cluster *=.*/create_main_cluster = false/' \
    /etc/postgresql-common/createcluster.conf
fi
install "${missing[@]}"
