"""Creates, uses and drops many sandboxes from asyncio and from threads, with SIGINT in the middle, and fails if memory or
descriptors grow.

    python soak.py [--sandboxes 10000] [--threads 8]
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import signal
import threading
import time

from tidebox import AsyncSandbox, Sandbox

# Growth of resident memory that is no leak: allocators keep freed pages.
MAX_GROWTH_KIB = 24 * 1024
COMMAND = "seq 1 50 | sort -rn | head -1; echo $$ > f; cat f > g"


def resident_kib() -> int:
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def use_from_threads(count: int, threads: int) -> None:
    failures: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(count // threads):
                with Sandbox(files={"data": "x" * 1000}) as sandbox:
                    assert sandbox.execute(COMMAND).stdout == "50\n"
        except BaseException as error:
            failures.append(error)

    started = [threading.Thread(target=work) for _ in range(threads)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    if failures:
        raise failures[0]


def use_from_asyncio(count: int, at_once: int) -> None:
    async def one(limit: asyncio.Semaphore) -> None:
        async with limit:
            sandbox = AsyncSandbox(files={"data": "x" * 1000})
            assert (await sandbox.execute(COMMAND)).stdout == "50\n"

    async def main() -> None:
        limit = asyncio.Semaphore(at_once)
        await asyncio.gather(*(one(limit) for _ in range(count)))

    asyncio.run(main())


def interrupt() -> None:
    """Checks that Ctrl-C ends a waiting command, and that the sandbox works afterwards."""
    sandbox = Sandbox()
    # A program that was started in the background ignores the signal.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    started = time.monotonic()
    try:
        sandbox.execute("sleep 100")
    except KeyboardInterrupt:
        assert time.monotonic() - started < 20
    else:
        raise AssertionError("the command was not interrupted")
    assert sandbox.execute("echo again").stdout == "again\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--sandboxes", type=int, default=10_000)
    parser.add_argument("--threads", type=int, default=8)
    options = parser.parse_args()
    half = options.sandboxes // 2
    memory, files, growth = resident_kib(), descriptors(), 0
    for round in (1, 2, 3, 4):
        use_from_threads(half, options.threads)
        interrupt()
        use_from_asyncio(half, 100)
        growth = resident_kib() - memory
        print(f"round {round}: {2 * half} sandboxes, memory {growth:+} KiB, descriptors {descriptors() - files:+}", flush=True)
        if round <= 2:
            # The first rounds start threads and fill pools, whose memory is kept.
            memory, files = resident_kib(), descriptors()
    if growth > MAX_GROWTH_KIB or descriptors() > files:
        raise SystemExit(f"memory grew by {growth} KiB (at most {MAX_GROWTH_KIB}), descriptors by {descriptors() - files}")
    print("nothing grew")


if __name__ == "__main__":
    main()
