#!/usr/bin/env bash
# Runs clang-tidy (see .clang-tidy) on C++ files; slow, so only with tests/run.sh --long.
# Needs the package clang-tidy and a build folder, for the generated headers.
#
#   tests/checks/check_tidy.sh BUILD_FOLDER [FILE...]     FILE: default all of ours
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:?usage: $0 BUILD_FOLDER [FILE...]}
shift

files=("$@")
((${#files[@]})) || mapfile -t files < <(git ls-files 'service/*.cc' 'client/*.cc' 'deploy/*.cc')
flags=(
  -std=c++20 -I. -Iclient/cpp/include -DTTL_SIDECAR_VERSION='"0"'
  -isystem "$build/protos/generated" -isystem "$build/client/examples/generated"
  -isystem "$build/client/postgres/store/generated"
  -isystem "$(pg_config --includedir)"
)
printf '%s\0' "${files[@]}" |
  xargs -0 -P "$(nproc)" -I '{}' clang-tidy --quiet '{}' -- "${flags[@]}"
