#!/usr/bin/env bash
# Builds the example of the C++ client as projects of others do, by find_package, by pkg-config and
# by add_subdirectory, and calls a sidecar with each.
#
#   tests/deploy/client_library_test.sh BUILD_DIR [PREFIX]
#
# BUILD_DIR is a finished build, of which the client library is installed into a folder. With PREFIX
# the library is what is installed there, and BUILD_DIR may have ttl-sidecar's program alone.
# The third way compiles the client; what it has compiled stays in BUILD_DIR for the next time.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(cd "${1:?usage: $0 BUILD_DIR [PREFIX]}" && pwd)
root=$PWD
# shellcheck source=tests/deploy/cases.sh
. tests/deploy/cases.sh

prefix=${2:-$work/prefix}
[[ -n ${2:-} ]] || cmake --install "$build" --component libttl-client-dev --prefix "$prefix" >/dev/null
example=$prefix/share/doc/libttl-client-dev/examples
PKG_CONFIG_PATH=$(find "$prefix/lib" -path '*/pkgconfig/ttl-client.pc' -printf %h)
export PKG_CONFIG_PATH

# Every public header by itself, with nothing but what is installed.
headers_are_complete() {
  local header
  mkdir -p "$work/headers"
  for header in "$prefix"/include/ttl/*.h; do
    echo "#include \"ttl/${header##*/}\"" >"$work/headers/$(basename "$header" .h).cc"
  done
  # shellcheck disable=SC2046
  printf '%s\0' "$work"/headers/*.cc | xargs -0 -n 1 -P "$(nproc)" \
    g++ -fsyntax-only $(pkg-config --cflags ttl-client)
}
names_nothing_private() {
  ! grep -rnE '#include "(service|client|tests|deploy)/' "$prefix/include/ttl"
}
# Who has the installed library alone has no other header to look into.
pages_name_public_headers() {
  local header named
  named=$(grep -ohE '[a-z0-9_./]+\.h\b' client/cpp/*.md | grep -v '^tests/')
  for header in $named; do
    [[ -f $prefix/include/$header ]] || { echo "not installed: $header" && return 1; }
  done
}
check "public headers need nothing else" headers_are_complete
check "public headers name nothing private" names_nothing_private
check "pages name public headers" pages_name_public_headers
check "the protos are there" protoc -I"$prefix/share/ttl-sidecar/protos" --descriptor_set_out=/dev/null \
  ttl/v1/item_service.proto ttl/v1/primary_store_service.proto ttl/errors/v1/error_details.proto

by_find_package() {
  cmake -S "$example" -B "$work/found" -DCMAKE_PREFIX_PATH="$prefix" &&
    cmake --build "$work/found" --parallel
}
refuses_other_versions() {
  mkdir "$work/later"
  sed 's/ttl_client REQUIRED/ttl_client 0.2 REQUIRED/' "$example/CMakeLists.txt" >"$work/later/CMakeLists.txt"
  cp "$example/main.cc" "$work/later/"
  ! cmake -S "$work/later" -B "$work/later/build" -DCMAKE_PREFIX_PATH="$prefix" &&
    grep -q "version: 0" "$work/output"
}
by_pkg_config() {
  # shellcheck disable=SC2046
  g++ $(pkg-config --cflags ttl-client) "$example/main.cc" -o "$work/packaged" \
    $(pkg-config --libs --static ttl-client)
}
# Into a shared object too, which needs code that can be anywhere.
in_a_shared_object() {
  # shellcheck disable=SC2046
  g++ -shared -fPIC $(pkg-config --cflags ttl-client) "$example/main.cc" -o "$work/shared.so" \
    -Wl,--no-undefined $(pkg-config --libs ttl-client)
}
# configure_outside DIR OPTION...: with none of what the programs are made of.
configure_outside() {
  local package disabled=()
  for package in leveldb CLI11 spdlog yaml-cpp prometheus-cpp nlohmann_json PostgreSQL GTest; do
    disabled+=("-DCMAKE_DISABLE_FIND_PACKAGE_$package=ON")
  done
  cmake -S tests/deploy/outside -B "$1" -G Ninja -DTTL_SIDECAR_SOURCE="$root" \
    -DCMAKE_BUILD_TYPE=Debug -DCMAKE_UNITY_BUILD=ON -DCMAKE_CXX_FLAGS_DEBUG=-O0 "${disabled[@]}" \
    "${@:2}"
}
by_add_subdirectory() {
  configure_outside "$build/outside" && cmake --build "$build/outside"
}
# Up to the code that the project's own compilers generate.
uses_the_projects_own_grpc() {
  configure_outside "$work/own" -DOUTSIDE_HAS_GRPC=ON &&
    cmake --build "$work/own" --target ttl-sidecar/protos/generated/ttl/v1/item_service.grpc.pb.cc
}
# How ttl-sidecar is compiled does not become how its users are.
leaves_flags_alone() {
  local command
  command=$(grep '"command".* CMakeFiles/outside.dir/' "$build/outside/compile_commands.json")
  echo "$command"
  [[ $command == *" -O0 "* && ! $command =~ " -W"|" -f"|" -std=c++" ]]
}
check "find_package builds the example" by_find_package
check "find_package refuses another version" refuses_other_versions
check "pkg-config builds the example" by_pkg_config
check "pkg-config makes a shared object" in_a_shared_object
check "add_subdirectory builds the example" by_add_subdirectory
check "add_subdirectory leaves flags alone" leaves_flags_alone
check "add_subdirectory uses the project's own gRPC" uses_the_projects_own_grpc

socket=unix:$work/sidecar.sock
"$build/bin/ttl-sidecar" --listen-socket "$work/sidecar.sock" --data-dir "$work/data" \
  --store "unix:$work/store.sock" >"$work/sidecar.log" 2>&1 &
sidecar=$!
timeout 60 bash -c 'until [[ -S $0 ]]; do sleep 0.1; done' "$work/sidecar.sock" || cat "$work/sidecar.log"

sees_an_expired_item() { [[ $("$1" "$socket") == expired ]]; }
tells_that_nobody_listens() {
  local said code=0
  said=$("$1" "unix:$work/nobody.sock" 2>&1) || code=$?
  echo "exit code $code: $said"
  [[ $code == 1 && $said == UNAVAILABLE:*"$work/nobody.sock"* ]]
}
for program in found/ttl-client-example packaged outside/outside; do
  path=$work/$program
  [[ $program != outside/* ]] || path=$build/$program
  check "$program sees that an item is expired" sees_an_expired_item "$path"
  check "$program tells that nobody listens" tells_that_nobody_listens "$path"
done

deletes_its_session() { [[ $("$work/found/ttl-store-example" "$socket" "unix:$work/store.sock") == deleted ]]; }
check "the sidecar deletes from the example store" deletes_its_session

echo "$passed passed, $failed failed"
((failed == 0))
