#!/usr/bin/env python3
"""Counts what one run of ctest has passed and failed, test case by test case.

usage: tally.py CTEST_JUNIT_XML GTEST_XML_FOLDER

Prints "PASSED FAILED", then the failed ones, one a line. An executable that wrote
GoogleTest results counts by its cases; one that wrote none, or that failed although
all its cases passed (a crash, a sanitizer's report, a timeout), counts once more as
failed. A case that was skipped counts as failed: nothing here may be skipped.
"""

import pathlib
import sys
import xml.etree.ElementTree as ET


def tally_cases(path):
    """Returns the number of passed cases and the names of the others."""
    passed, failed = 0, []
    for case in ET.parse(path).getroot().iter("testcase"):
        good = case.get("result") == "completed" and case.find("failure") is None
        if good:
            passed += 1
        else:
            failed.append(f"{case.get('classname')}.{case.get('name')}")
    return passed, failed


def tally(junit, folder):
    passed, failed = 0, []
    for entry in ET.parse(junit).getroot().iter("testcase"):
        name, succeeded = entry.get("name"), entry.get("status") == "run"
        results = folder / f"{name}.xml"
        if results.exists():
            cases_passed, cases_failed = tally_cases(results)
            passed += cases_passed
            failed += [f"{name}: {case}" for case in cases_failed]
            if not succeeded and not cases_failed:
                failed.append(f"{name}: the executable as a whole")
        elif succeeded:
            passed += 1
        else:
            failed.append(name)
    return passed, failed


def main():
    passed, failed = tally(sys.argv[1], pathlib.Path(sys.argv[2]))
    print(passed, len(failed))
    print("\n".join(failed))


if __name__ == "__main__":
    main()
