"""Runs modules of CPython's own `test` package and says how each test ended, one JSON list a line."""

import json
import sys
import time
import unittest

WHY_CHARACTERS = 400


class Outcome(unittest.TestResult):
    """How each test ended. One of which a part failed has failed."""

    def __init__(self, left_out):
        super().__init__()
        self.left_out, self.told = left_out, {}

    def startTest(self, test):
        super().startTest(test)
        if test.id() in self.left_out:
            # Its method is called next, and by now nothing else can keep it from running.
            setattr(test, test._testMethodName, lambda *args, **kwargs: test.skipTest("left out"))

    def note(self, test, how, why=""):
        if self.told.get(test.id(), ("passed",))[0] in ("passed", "skipped"):
            self.told[test.id()] = how, why[:WHY_CHARACTERS]

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
        self.note(test, "left out" if reason == "left out" else "skipped", reason)

    def addExpectedFailure(self, test, error):
        self.note(test, "passed")

    def addUnexpectedSuccess(self, test):
        self.note(test, "failed", "it passed and was not expected to")


def main(module, left_out):
    from test import support

    support.verbose = 0
    # As CPython's own runner has it when it is not told otherwise: nothing that is large, slow or reaches for the network.
    support.use_resources = {}
    # They say that WASI can start no programs. Here it can.
    support.has_subprocess_support = True
    outcome, start = Outcome(left_out), time.monotonic()
    unittest.defaultTestLoader.loadTestsFromName(f"test.{module}")(outcome)
    for test, (how, why) in sorted(outcome.told.items()):
        print(json.dumps([test, how, why]))
    print(json.dumps(["", "seconds", f"{time.monotonic() - start:.1f}"]))


main(sys.argv[1], frozenset(sys.argv[2:]))
