#!/usr/bin/env python3
"""Runs the test_*.py of this folder, or those test cases that are named as in
"test_rules.TtlTable". TTL_BIN says where the binaries are.

With GTEST_OUTPUT=xml:FOLDER/ it leaves FOLDER/python_interop_test.xml as GoogleTest would, so that
cases are counted one by one (tests/checks/tally.py).
"""

import os
import pathlib
import sys
import traceback
import unittest
import xml.etree.ElementTree as ET


class CaseResult(unittest.TextTestResult):
    """Also keeps one XML element per case. A skipped case is a failed one."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.suite = ET.Element("testsuite")

    def startTest(self, test):
        super().startTest(test)
        _, class_name, name = test.id().rsplit(".", 2)
        self._case = ET.SubElement(self.suite, "testcase", classname=class_name, name=name,
                                   result="completed")

    def _fail(self, text):
        ET.SubElement(self._case, "failure", message=text)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self._fail("".join(traceback.format_exception(*error)))

    def addError(self, test, error):
        super().addError(test, error)
        if not isinstance(test, unittest.TestCase):  # setUpClass() has failed
            self._case = ET.SubElement(self.suite, "testcase", classname="setUpClass",
                                       name=str(test), result="completed")
        self._fail("".join(traceback.format_exception(*error)))

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            self._fail(f"{subtest}: " + "".join(traceback.format_exception(*error)))

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._fail(f"skipped: {reason}")

    def wasSuccessful(self):
        return super().wasSuccessful() and not self.skipped


def main(folder=pathlib.Path(__file__).parent, name="python_interop_test"):
    loader = unittest.TestLoader()
    if sys.argv[1:]:
        tests = loader.loadTestsFromNames(sys.argv[1:])
    else:
        tests = loader.discover(str(folder))
    runner = unittest.TextTestRunner(verbosity=2, resultclass=CaseResult)
    result = runner.run(tests)
    kind, _, results = os.environ.get("GTEST_OUTPUT", "").partition(":")
    if kind == "xml" and results:
        root = ET.Element("testsuites")
        root.append(result.suite)
        ET.ElementTree(root).write(pathlib.Path(results) / f"{name}.xml")
    sys.exit(not (result.wasSuccessful() and result.testsRun > 0))


if __name__ == "__main__":
    main()
