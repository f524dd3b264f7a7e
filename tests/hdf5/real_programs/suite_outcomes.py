"""Runs pytest with the given arguments and prints one line for each test: its name and what came of it.

What a test says is not compared, nor how long it took; only what came of it. Ends with 0 however they ended.
"""
import sys

import pytest


class Outcomes:
    def __init__(self):
        self.found = {}

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            self.found[report.nodeid] = report.outcome
            if report.failed:
                print(report.nodeid, report.longreprtext, file=sys.stderr)


outcomes = Outcomes()
code = pytest.main(["-q", "-p", "no:cacheprovider", "--no-header", "-o", "addopts=", *sys.argv[1:]], plugins=[outcomes])
print("\n=== outcomes")
for name, outcome in sorted(outcomes.found.items()):
    print(name, outcome)
sys.exit(0 if code in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) else 1)
