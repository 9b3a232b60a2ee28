"""What the Python programs share: a list of named checks, run in order, each judged by whether it raises."""

import sys
import time
import traceback


class Checks:
    def __init__(self, library):
        self.passed = self.failed = 0
        print(f"# {library}", flush=True)

    def run(self, name, check):
        began = time.monotonic()
        try:
            check()
        except Exception as trouble:  # noqa: BLE001 - whatever a check raises is its failure
            self.failed += 1
            print(f"FAIL {name}: {trouble!r}", flush=True)
            traceback.print_exc(file=sys.stdout)
        else:
            self.passed += 1
            print(f"PASS {name} ({(time.monotonic() - began) * 1000:.0f} ms)", flush=True)

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed", flush=True)
        sys.exit(1 if self.failed else 0)


def expect(actual, wanted, what):
    if actual != wanted:
        raise AssertionError(f"{what}: {actual!r}, wanted {wanted!r}")
