"""Compares Tidebox in Python with `subprocess.run` and two other packages in one run, and prints the tables of docs/performance.md.

Run it in an environment with the packages of requirements.txt (Python 3.12 or newer) and the wheel:

    cargo xtask bench python

builds the wheel, creates such an environment and runs this file.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Sequence

import bashkit
import eryx
import tidebox

PIPELINE = "seq 1 1000 | grep 7 | sort -r | head -5"
PYTHON = "print(sum(i * i for i in range(1000)))"

# The calls are measured in turns, in this many groups. A busy host then slows all of them alike.
GROUPS = 15

Row = tuple[str, dict[str, Callable[[], object]]]


# bashkit rejects further calls of a session after 1,000.
BASHKIT_CALLS = 900


class BashkitSession:
    """A session of bashkit, which is replaced before it rejects calls."""

    def __init__(self) -> None:
        self._bash, self._calls = bashkit.Bash(), 0

    def get(self) -> bashkit.Bash:
        if self._calls == BASHKIT_CALLS:
            self._bash, self._calls = bashkit.Bash(), 0
        self._calls += 1
        return self._bash

    def write_and_read(self, text: str) -> None:
        bash = self.get()
        bash.write_file("/tmp/f", text)
        bash.read_file("/tmp/f")

    def run(self, line: str) -> None:
        result = self.get().execute_sync(line)
        if result.exit_code:
            raise RuntimeError(f"bashkit: {result.stderr}")


def run_native(line: str) -> Callable[[], object]:
    return lambda: subprocess.run(["bash", "-c", line], capture_output=True, check=True)


def seconds_per_call(call: Callable[[], object], budget: float = 0.02) -> float:
    """Returns the mean time of a call in a group that takes about `budget` seconds."""
    started = time.perf_counter()
    calls = 0
    while True:
        call()
        calls += 1
        elapsed = time.perf_counter() - started
        if elapsed >= budget:
            return elapsed / calls


def measure(calls: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Returns the median of the groups for each name."""
    for call in calls.values():
        call()
    groups: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(GROUPS):
        for name, call in calls.items():
            groups[name].append(seconds_per_call(call))
    return {name: statistics.median(times) for name, times in groups.items()}


def import_seconds(module: str) -> float:
    """Returns the median time of an import in a new interpreter."""
    code = f"import time; started = time.perf_counter(); import {module}; print(time.perf_counter() - started)"
    times = [float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(GROUPS)]
    return statistics.median(times)


def first_echo_seconds() -> float:
    """Returns the median time from the import of tidebox to the end of the first command, in a new process."""
    code = (
        "import time; started = time.perf_counter(); import tidebox; "
        "tidebox.Sandbox().execute('echo hi'); print(time.perf_counter() - started)"
    )
    times = [float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(GROUPS)]
    return statistics.median(times)


def rows() -> list[Row]:
    sandbox, bash, loop = tidebox.Sandbox(), BashkitSession(), asyncio.new_event_loop()
    async_sandbox = tidebox.AsyncSandbox()
    session = eryx.Session()

    def awaited(make: Callable[[], Awaitable[object]]) -> Callable[[], object]:
        async def many() -> None:
            for _ in range(20):
                await make()

        return lambda: loop.run_until_complete(many())

    table: list[Row] = [
        (
            "create a sandbox, run its first `echo hi`",
            {
                "tidebox": lambda: tidebox.Sandbox().execute("echo hi"),
                "bashkit": lambda: bashkit.Bash().execute_sync("echo hi"),
                "subprocess": run_native("echo hi"),
            },
        ),
        (
            'warm `execute("true")`',
            {
                "tidebox": lambda: sandbox.execute("true"),
                "bashkit": lambda: bash.run("true"),
                "subprocess": run_native("true"),
            },
        ),
        (
            "20 times with asyncio",
            {"tidebox": awaited(lambda: async_sandbox.execute("true")), "bashkit": awaited(lambda: bash.get().execute("true"))},
        ),
        (
            f"`{PIPELINE}`".replace("|", "\\|"),
            {
                "tidebox": lambda: sandbox.execute(PIPELINE),
                "bashkit": lambda: bash.run(PIPELINE),
                "subprocess": run_native(PIPELINE),
            },
        ),
        (
            "write and read a file of 37 KB",
            {
                "tidebox": lambda: (sandbox.write("f", "x" * 37_000), sandbox.read("f")),
                "bashkit": lambda: bash.write_and_read("x" * 37_000),
            },
        ),
    ]
    try:
        python = tidebox.Sandbox().python_session()
        python.run(PYTHON)
    except ValueError as error:
        print(f"without Python: {error}", file=sys.stderr)
    else:
        table.append(
            (
                "1,000 squares in a Python session",
                {
                    "tidebox": lambda: python.run(PYTHON),
                    "eryx": lambda: session.execute(PYTHON),
                    "subprocess": lambda: subprocess.run([sys.executable, "-c", PYTHON], capture_output=True, check=True),
                },
            )
        )
    return table


def at_once(count: int) -> tuple[float, float]:
    """Returns the seconds and the KiB of memory for one command in each of many sandboxes in one event loop."""

    async def main() -> tuple[float, float]:
        await tidebox.AsyncSandbox().execute("true")
        before, started = memory_kib(), time.perf_counter()
        sandboxes = [tidebox.AsyncSandbox() for _ in range(count)]
        results = await asyncio.gather(*(one.execute("echo hi > f; cat f") for one in sandboxes))
        elapsed = time.perf_counter() - started
        assert all(result.stdout == "hi\n" for result in results)
        return elapsed, (memory_kib() - before) / count

    return asyncio.run(main())


def memory_kib() -> float:
    """Returns the largest resident memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def format_time(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.2f} {unit}"
    return f"{seconds * 1e6:.1f} µs"


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--sandboxes", type=int, default=1000, help="sandboxes used at once [1000]")
    options = parser.parse_args(arguments)
    columns = ["tidebox", "bashkit", "eryx", "subprocess"]
    print("| | " + " | ".join(columns) + " |\n|---|" + "---|" * len(columns))
    modules = {name: import_seconds(name) for name in columns}
    print("| import | " + " | ".join(format_time(modules[name]) for name in columns) + " |")
    print(f"| import and first `echo hi` of a process | {format_time(first_echo_seconds())} | | | |")
    for what, calls in rows():
        times = measure(calls)
        own = times["tidebox"]
        cells = [
            "" if name not in times else format_time(times[name]) + ("" if name == "tidebox" else f" ({times[name] / own:.2f}x)")
            for name in columns
        ]
        print(f"| {what} | " + " | ".join(cells) + " |", flush=True)
    elapsed, kib = at_once(options.sandboxes)
    print(f"\n{options.sandboxes} sandboxes at once in one event loop: {format_time(elapsed)}, {kib:.0f} KiB each")


if __name__ == "__main__":
    main(sys.argv[1:])
