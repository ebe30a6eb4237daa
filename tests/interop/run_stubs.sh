#!/usr/bin/env bash
# Compiles the Go and Java stubs with the libraries that Debian packages, loads those of Ruby
# and PHP, and calls the real sidecar through them. What they need: deploy/install_packages.sh
# long. Debian has no gRPC for PHP, so its calls go over curl.
#
#   tests/interop/run_stubs.sh BIN_FOLDER BUILD_FOLDER
#
# BIN_FOLDER has ttl-sidecar.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/tests/interop/stubs
sidecar=$(realpath "$1")/ttl-sidecar
mkdir -p "$2"
build=$(realpath "$2")
package=github.com/ttl-sidecar/ttl-sidecar/protos

make_go() {
  rm -rf "$build/go"
  local stubs=$build/go/src/$package
  mkdir -p "$stubs"
  (cd "$root" && protoc -Iprotos --go_out="$stubs" --go_opt=paths=source_relative \
    --go-grpc_out="$stubs" --go-grpc_opt=paths=source_relative protos/ttl/v1/*.proto)
  GO111MODULE=off GOPATH=$build/go:/usr/share/gocode GOCACHE=$build/go-cache \
    /usr/bin/go build -o "$build/go/calls" "$here/calls.go"
}

make_java() {
  rm -rf "$build/java"
  mkdir -p "$build/java/src" "$build/java/classes"
  (cd "$root" && protoc -Iprotos --java_out="$build/java/src" --grpc_out="$build/java/src" \
    --plugin=protoc-gen-grpc="$(command -v grpc_java_plugin)" protos/ttl/v1/*.proto)
  find "$build/java/src" -name '*.java' >"$build/java/files"
  javac -nowarn -d "$build/java/classes" -cp "$java_libraries" "@$build/java/files" \
    "$here/Calls.java"
}

# make_plain LANGUAGE: stubs that are loaded as they are.
make_plain() {
  rm -rf "$build/$1"
  mkdir -p "$build/$1"
  (cd "$root" && protoc -Iprotos "--$1_out=$build/$1" --grpc_out="$build/$1" \
    --plugin=protoc-gen-grpc="$(command -v "grpc_$1_plugin")" protos/ttl/v1/*.proto)
}

# Every file of a language is loaded, not only what the calls use.
load_all() {
  find "$build/php" -name '*.php' -print0 | xargs -0 -n 1 /usr/bin/php -l >"$build/php.lint"
  (cd "$build/ruby" && find . -name '*.rb' -print0 | sort -z |
    xargs -0 -I{} /usr/bin/ruby -I . -e 'load ARGV[0]' {})
}

java_libraries=
for library in protobuf grpc-{api,context,core,netty,protobuf,protobuf-lite,stub} guava \
  geronimo-annotation-1.3-spec opencensus-api perfmark-api \
  netty-{buffer,codec,codec-http,codec-http2,common,handler,resolver,transport}; do
  java_libraries+=/usr/share/java/$library.jar:
done

# start_sidecar FOLDER: on a port of its own choice, which it sets `address` to.
start_sidecar() {
  "$sidecar" --listen-socket "$1/sidecar.sock" --data-dir "$1/data" --insecure-tcp \
    --listen-tcp 127.0.0.1:0,roles=store+admin >"$1/log" 2>&1 &
  sidecar_pid=$!
  local deadline=$((SECONDS + 30))
  until grep -qs 'msg="ready"' "$1/log"; do
    if ! kill -0 "$sidecar_pid" || ((SECONDS > deadline)); then
      cat "$1/log"
      return 1
    fi
    sleep 0.05
  done
  address=127.0.0.1:$(sed -n 's/.* tcp=.* port=\([0-9]*\) .*/\1/p' "$1/log")
}

make_go
make_java
make_plain ruby
make_plain php
load_all
folder=$(mktemp -d -t ttl-stubs-XXXXXX)
sidecar_pid=
clean_up() {
  [[ -z $sidecar_pid ]] || { kill "$sidecar_pid" && wait "$sidecar_pid"; } || true
  rm -rf "$folder"
}
trap clean_up EXIT
start_sidecar "$folder"
timeout 60 "$build/go/calls" "$address"
echo "Go: the stubs compile, and their calls are answered right"
timeout 60 java -cp "$build/java/classes:$java_libraries" Calls "$address"
echo "Java: the stubs compile, and their calls are answered right"
timeout 60 /usr/bin/ruby -I "$build/ruby" "$here/calls.rb" "$address"
echo "Ruby: the stubs load, and their calls are answered right"
timeout 60 /usr/bin/php "$here/calls.php" "$build/php" "$address"
echo "PHP: the stubs load, and their calls are answered right"
