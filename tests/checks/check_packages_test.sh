#!/usr/bin/env bash
# Proves that deploy/install_packages.sh and deploy/find_packages.cmake name at once all that is
# missing or too old, and install nothing then. Stand-ins for apt and dpkg come first on the PATH.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

# stand_in NAME: makes a program of the standard input.
stand_in() {
  { echo '#!/bin/bash'; cat; } >"$work/bin/$1"
  chmod +x "$work/bin/$1"
}

mkdir "$work/bin"
stand_in sudo <<<'exec "$@"'
stand_in apt-get <<<"echo \"\$*\" >>$work/calls"
stand_in dpkg-query <<<"sed 's/ / installed /' $work/installed"
stand_in apt-cache <<<"awk '{ print \$1 \":\\n  Installed: (none)\\n  Candidate: \" \$2 }' $work/candidates"
# With nothing but what the script itself uses.
mkdir "$work/no-apt"
for program in awk dirname uname; do ln -s "$(command -v $program)" "$work/no-apt/"; done

# packages_of PURPOSE...: with the least versions that will do, as dpkg and apt say them.
packages_of() {
  local purpose
  for purpose in "$@"; do
    awk -v purpose="$purpose" '/^[^#]/ && index("," $2 ",", "," purpose ",") {
      print $1, ($3 == "" ? "0~1" : "4:" $3 "-1") }' "$root/deploy/packages.txt"
  done
}

# A case: what is expected of $work/output, between begin and judge.
begin() { name=$1 problems=(); }
has() { grep -qF -- "$1" "$work/output" || problems+=("it does not say: $1"); }
lacks() { ! grep -qF -- "$1" "$work/output" || problems+=("it says: $1"); }
ends_with() { [[ $code == "$1" ]] || problems+=("exit code $code, not $1"); }
calls() {
  local expected=$1 actual
  actual=$(cat "$work/calls")
  [[ $actual == "$expected" ]] || problems+=("it called apt-get with: $actual")
}
judge() {
  if ((${#problems[@]} == 0)); then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $name"
    printf '  %s\n' "${problems[@]}"
    sed 's/^/  | /' "$work/output"
  fi
}

# install_with PATH PURPOSE: runs the script.
install_with() {
  : >"$work/calls"
  code=0
  PATH=$1 /bin/bash "$root/deploy/install_packages.sh" "$2" >"$work/output" 2>&1 || code=$?
}
with_apt=$work/bin:$PATH
install_options='install -y -qq --no-install-recommends -o Dpkg::Use-Pty=0'

begin "all is there"
packages_of build >"$work/installed"
: >"$work/candidates"
install_with "$with_apt" build
ends_with 0
has "are installed"
calls ""
judge

begin "what is missing is installed, and what is too old"
packages_of build | sed '/^libleveldb-dev /d; s/^cmake .*/cmake 3.24.9-1/' >"$work/installed"
packages_of build >"$work/candidates"
install_with "$with_apt" build
ends_with 0
calls "update -qq
$install_options cmake libleveldb-dev"
judge

begin "all that apt lacks is named, and nothing is installed"
packages_of build | sed '/^libleveldb-dev /d; /^libgrpc++-dev /d; /^libyaml-cpp-dev /d
  /^libjemalloc-dev /d; s/^cmake .*/cmake 3.22.1-1ubuntu1/' >"$work/installed"
packages_of build | sed '/^libleveldb-dev /d; s/^libjemalloc-dev .*/libjemalloc-dev (none)/
  s/^libgrpc++-dev .*/libgrpc++-dev 1.30.2-3build6/; s/^cmake .*/cmake 3.22.1-1ubuntu1/' \
  >"$work/candidates"
install_with "$with_apt" build
ends_with 1
has "  libleveldb-dev 1.23 or later: apt has none"
has "  libjemalloc-dev: apt has none"
has "  libgrpc++-dev 1.51 or later: apt has 1.30.2-3build6"
has "  cmake 3.25 or later: apt has 3.22.1-1ubuntu1"
lacks "libyaml-cpp-dev"
calls "update -qq"
judge

begin "what only tests need is missing for tests alone"
packages_of build >"$work/installed"
packages_of build test | sed '/^postgresql-15 /d' >"$work/candidates"
install_with "$with_apt" build
ends_with 0
install_with "$with_apt" test
ends_with 1
has "  postgresql-15: apt has none"
calls "update -qq"
judge

begin "without apt all that is needed is named"
install_with "$work/no-apt" build
ends_with 1
while read -r package _; do has "  $package"; done < <(packages_of build)
has "  libgrpc++-dev 1.51 or later"
lacks "postgresql-15"
calls ""
judge

# configure ARGUMENT...: of the whole project, with the compiler at hand.
configure() {
  code=0
  rm -rf "$work/build"
  cmake -S "$root" -B "$work/build" -G Ninja -DTTL_BUILD_TESTS=ON "$@" >"$work/output" 2>&1 ||
    code=$?
}

begin "CMake names all that it does not find"
configure -DCMAKE_DISABLE_FIND_PACKAGE_leveldb=ON -DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON \
  -DCMAKE_DISABLE_FIND_PACKAGE_PostgreSQL=ON -DGRPC_CPP_PLUGIN=OFF -DPOSTGRES_SERVER=OFF -DPG_DUMP=OFF
ends_with 1
has "libleveldb-dev 1.23 or later: not found"
has "libgtest-dev 1.12 or later: not found"
has "libpq-dev 15 or later: not found"
has "protobuf-compiler-grpc 1.51 or later: not found"
has "postgresql-15: not found"
[[ $(grep -c postgresql-15 "$work/output") == 1 ]] || problems+=("it names postgresql-15 twice")
lacks "libspdlog-dev"
judge

begin "CMake names what is too old, with the version that it has found"
mkdir "$work/leveldb"
: >"$work/leveldb/leveldbConfig.cmake"
echo 'set(PACKAGE_VERSION 1.20)' >"$work/leveldb/leveldbConfigVersion.cmake"
configure -Dleveldb_DIR="$work/leveldb" -DCMAKE_DISABLE_FIND_PACKAGE_spdlog=ON
ends_with 1
has "libleveldb-dev 1.23 or later: found 1.20"
has "libspdlog-dev 1.10 or later: not found"
judge

begin "the C++ client alone needs nothing of the programs"
without=()
for package in leveldb CLI11 spdlog yaml-cpp prometheus-cpp nlohmann_json PostgreSQL GTest; do
  without+=("-DCMAKE_DISABLE_FIND_PACKAGE_$package=ON")
done
configure -DTTL_BUILD_SERVICE=OFF -DJEMALLOC_LIBRARY=OFF "${without[@]}"
ends_with 0
configure -DJEMALLOC_LIBRARY=OFF "${without[@]}"
ends_with 1
judge

echo "packages: $passed passed, $failed failed"
((failed == 0))
