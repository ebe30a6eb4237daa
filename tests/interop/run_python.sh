#!/usr/bin/env bash
# Builds the Python package as its users would and runs the tests of it.
#
#   tests/interop/run_python.sh BIN_FOLDER BUILD_FOLDER [TEST...]
#
# BIN_FOLDER has ttl-sidecar; TEST as in "test_rules.TtlTable".
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
binaries=$(realpath "$1")
mkdir -p "$2"
build=$(realpath "$2")
shift 2
# Debian's: another Python on the PATH does not have Debian's gRPC.
python=/usr/bin/python3

# The READMEs call it by its name.
"$root/tests/checks/buf.sh" --version
PATH=$PATH:$root/build/checks/node_modules/.bin

rm -rf "$build/lib"
(cd "$root/client/python" && "$python" -W ignore setup.py -q build --build-base "$build")
echo "types"
MYPYPATH=$build/lib /usr/bin/mypy --config-file "$root/tests/interop/python/mypy.ini" \
  --cache-dir "$build/mypy" "$root/tests/interop/python/types_of_package.py" "$build/lib/ttl_sidecar"
export TTL_BIN=$binaries PYTHONPATH=$build/lib
exec "$python" -B "$root/tests/interop/python/run_tests.py" "$@"
