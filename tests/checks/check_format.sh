#!/usr/bin/env bash
# Fails if clang-format would change a C++ file of the repository. To mend:
#   git ls-files '*.h' '*.cc' | xargs clang-format -i
set -euo pipefail
cd "$(dirname "$0")/../.."
git ls-files -z --cached --others --exclude-standard '*.h' '*.cc' |
  xargs -0 clang-format --dry-run --Werror
