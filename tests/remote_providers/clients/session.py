"""Helpers shared by the sessions of all official clients."""

import time

# A line that grows a file until all of its processes are killed, and prints a line when it has started.
GROWS = "echo x > /tmp/grows; echo begun; while :; do echo x >> /tmp/grows; sleep 0.05; done"

# A command that continues only after the session has seen its output and created the file.
WAITS = "echo first; until [ -e /tmp/seen ]; do sleep 0.05; done; echo second"

# Timeout for expected events, long enough for a loaded host.
PATIENCE = 60


def proved(feature):
    """Says that what stands above has shown a feature. The test holds this against its table."""
    print(f"proved: {feature}", flush=True)


def raises(kind, call):
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"{kind} was not raised")


def nothing_grows(run):
    """`run` runs a line and returns its output. `GROWS` has run before, and none of its processes may still run."""
    size = lambda: int(run("cat /tmp/grows 2>/dev/null | wc -c"))
    before, still, patience = size(), 0, time.monotonic() + PATIENCE
    assert before > 0, "it never began"
    while still < 3:
        assert time.monotonic() < patience, "it still writes"
        time.sleep(0.3)
        now = size()
        still = still + 1 if now == before else 0
        before = now
    run("rm /tmp/grows")


def until(found):
    patience = time.monotonic() + PATIENCE
    while not found():
        assert time.monotonic() < patience, "it does not come"
        time.sleep(0.1)
