#!/usr/bin/env python3
"""Runs the tests of this folder, or those that are named as in "test_status_page.Held", counted as
those of the Python client are. TTL_BIN says where the binaries are, TTL_SCREENSHOTS where
screenshots go."""

import importlib.util
import pathlib
import sys

FOLDER = pathlib.Path(__file__).parent
RUNNER = FOLDER.parent / "interop" / "python" / "run_tests.py"


def main():
    sys.path.insert(0, str(FOLDER))
    spec = importlib.util.spec_from_file_location("runner", RUNNER)
    runner = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(runner)
    runner.main(FOLDER, "browser_test")


if __name__ == "__main__":
    main()
