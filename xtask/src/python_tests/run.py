"""Runs modules of CPython's own `test` package and prints the result of each test, one JSON list per line."""

import json
import sys
import time
import unittest

WHY_CHARACTERS = 400

# Modules about sockets.
NETWORK = {"test_asyncio", "test_httpservers", "test_socket"}


class Outcome(unittest.TestResult):
    """The result of each test. A test with a failed subtest has failed."""

    def __init__(self, excluded):
        super().__init__()
        self.excluded, self.results = excluded, {}

    def startTest(self, test):
        super().startTest(test)
        if test.id() in self.excluded:
            # The method is called next; replacing it is the only way left to skip it.
            setattr(test, test._testMethodName, lambda *args, **kwargs: test.skipTest("excluded"))

    def note(self, test, how, why=""):
        if self.results.get(test.id(), ("passed",))[0] in ("passed", "skipped"):
            self.results[test.id()] = how, why[:WHY_CHARACTERS]

    def note_error(self, test, error):
        self.note(test, "failed", f"{error[0].__name__}: {error[1]}")

    def addSuccess(self, test):
        self.note(test, "passed")

    def addFailure(self, test, error):
        self.note_error(test, error)

    def addError(self, test, error):
        self.note_error(test, error)

    def addSubTest(self, test, part, error):
        if error is not None:
            self.note_error(test, error)

    def addSkip(self, test, reason):
        self.note(test, "excluded" if reason == "excluded" else "skipped", reason)

    def addExpectedFailure(self, test, error):
        self.note(test, "passed")

    def addUnexpectedSuccess(self, test):
        self.note(test, "failed", "it passed and was not expected to")


def main(module, excluded):
    from test import support

    support.verbose = 0
    # The default of CPython's own runner: no tests that are large, slow or need the network.
    support.use_resources = {}
    # CPython assumes that WASI cannot start programs. In the sandbox it can.
    support.has_subprocess_support = True
    # Nor that it has sockets. Tests of other modules that need them are skipped, as in CPython's own builds for WASI.
    support.has_socket_support = module.split(".")[0] in NETWORK
    outcome, start = Outcome(excluded), time.monotonic()
    unittest.defaultTestLoader.loadTestsFromName(f"test.{module}")(outcome)
    for test, (how, why) in sorted(outcome.results.items()):
        print(json.dumps([test, how, why]))
    print(json.dumps(["", "seconds", f"{time.monotonic() - start:.1f}"]))


main(sys.argv[1], frozenset(sys.argv[2:]))
