#!/usr/bin/env bash
# Lets clang check the lock annotations of service/ and client/ (-Wthread-safety),
# without generating code. Needs a build folder, for the generated headers.
#
#   tests/checks/check_thread_safety.sh BUILD_FOLDER
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:?usage: $0 BUILD_FOLDER}

flags=(
  -std=c++20 -fsyntax-only -Wall -Wextra -Wthread-safety -Werror -I.
  -isystem "$build/protos/generated" -isystem "$build/client/examples/generated"
)
find service client -name '*.cc' -print0 |
  xargs -0 -n 1 -P "$(nproc)" clang++ "${flags[@]}"
