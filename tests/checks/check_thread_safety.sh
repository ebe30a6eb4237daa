#!/usr/bin/env bash
# Lets clang check the lock annotations of the service and the client
# (-Wthread-safety) in the files that have a Mutex in themselves or in their header,
# without generating code. Needs a build folder, for the generated headers.
#
#   tests/checks/check_thread_safety.sh BUILD_FOLDER
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:?usage: $0 BUILD_FOLDER}

flags=(
  -std=c++20 -fsyntax-only -Wall -Wextra -Wthread-safety -Werror -I.
  -isystem "$build/protos/generated" -isystem "$build/client/examples/generated"
  -isystem "$(pg_config --includedir)"
)
mapfile -t holders < <(grep -lrE 'Mutex' service client --include='*.h' --include='*.cc')
for file in "${holders[@]}"; do
  source=${file%.*}.cc
  [[ ! -f $source ]] || echo "$source"
done | sort -u | xargs --verbose -n 1 -P "$(nproc)" clang++ "${flags[@]}"
