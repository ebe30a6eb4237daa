#!/usr/bin/env bash
# Lets clang read sources of the product each by itself, without generating code. Finds a lock
# that is not held where annotations ask for it (-Wthread-safety), and what a unity build
# hides, such as a missing include. Needs a build folder, for the generated headers.
#
#   tests/checks/check_sources.sh BUILD_FOLDER [--all]
#
# Reads those that have a Mutex in themselves or in their header; with --all every one.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:?usage: $0 BUILD_FOLDER [--all]}

flags=(
  -std=c++20 -fsyntax-only -Wall -Wextra -Wthread-safety -Werror -I. -Iclient/cpp/include
  -DTTL_SIDECAR_VERSION='"0"'
  -isystem "$build/protos/generated" -isystem "$build/client/examples/generated"
  -isystem "$build/client/postgres/store/generated"
  -isystem "$(pg_config --includedir)"
)
if [[ ${2:-} == --all ]]; then
  git ls-files 'service/*.cc' 'client/*.cc' 'deploy/*.cc'
else
  git grep -lE 'Mutex' -- 'service/*.h' 'service/*.cc' 'client/*.h' 'client/*.cc' |
    sed 's/\.h$/.cc/' | sort -u | while IFS= read -r source; do
      [[ ! -f $source ]] || echo "$source"
    done
fi | xargs --verbose -n 1 -P "$(nproc)" clang++ "${flags[@]}"
