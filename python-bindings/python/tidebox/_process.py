"""Processes that outlive the call which started them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Iterator
from typing import cast

from ._native import NativeProcesses, OutputChunk, ProcessOutput

# Seconds that one call waits for output.
_LONG_POLL = 20.0


class Process:
    """A process of a sandbox. It is only a name: an object that is dropped does not stop the process."""

    def __init__(self, native: NativeProcesses, id: str) -> None:
        self._native = native
        self._id = id

    @property
    def id(self) -> str:
        """The id, which `ps` shows too."""
        return self._id

    def read(self, after: int = 0, *, wait: float = 0.0, max_bytes: int | None = None) -> ProcessOutput:
        """Reads output. Reading takes nothing away, so several readers see the same bytes.

        Args:
            after: The position after which to start; `next` of the previous result.
            wait: Seconds to wait if there is no output yet and the process runs.
            max_bytes: Maximum number of bytes; 1 MiB by default.

        Raises:
            ValueError: No process has this id.
        """
        return cast(ProcessOutput, self._native.read(self._id, after, wait, max_bytes, False))

    def wait(self, timeout: float | None = None) -> int | None:
        """Waits for the end and returns the exit code; 128 + n after signal n.

        Raises:
            TimeoutError: The process still runs after `timeout` seconds.
        """
        import time

        end = None if timeout is None else time.monotonic() + timeout
        after = 0
        while True:
            left = _LONG_POLL if end is None else max(0.0, min(_LONG_POLL, end - time.monotonic()))
            page = self.read(after, wait=left)
            if not page.running:
                return page.exit_code
            after = page.next
            if end is not None and time.monotonic() >= end:
                raise TimeoutError(f"process {self._id} still runs after {timeout} seconds")

    def output(self) -> Iterator[OutputChunk]:
        """Iterates over the output until the end of the process."""
        after = 0
        while True:
            page = self.read(after, wait=_LONG_POLL)
            yield from page.chunks
            after = page.next
            if not page.running:
                return

    def write(self, content: str | bytes) -> None:
        """Writes to standard input; waits while the pipe is full.

        Raises:
            ValueError: The process was started without `stdin=True`, or its input is closed.
        """
        self._native.write(self._id, content, False, False)

    def close_input(self) -> None:
        """Closes standard input. In a terminal it types Ctrl-D, the end of the input."""
        self._native.write(self._id, b"", True, False)

    def signal(self, signal: str) -> None:
        """Sends a signal, by a name such as "TERM", to the process and its children."""
        self._native.signal(self._id, signal, False)

    def resize(self, rows: int, columns: int) -> None:
        """Changes the size of its terminal. Programs in the foreground get SIGWINCH.

        Raises:
            ValueError: The process has no terminal, or a number is not from 1 to 1000.
        """
        self._native.resize(self._id, rows, columns, False)

    def kill(self) -> None:
        """Kills the process and its children."""
        self.signal("KILL")

    def __repr__(self) -> str:
        return f"Process(id={self._id!r})"


class AsyncProcess:
    """A process of a sandbox. It is only a name: an object that is dropped does not stop the process."""

    def __init__(self, native: NativeProcesses, id: str) -> None:
        self._native = native
        self._id = id

    @property
    def id(self) -> str:
        """The id, which `ps` shows too."""
        return self._id

    async def read(self, after: int = 0, *, wait: float = 0.0, max_bytes: int | None = None) -> ProcessOutput:
        """Reads output. Like `Process.read`."""
        return await cast("Awaitable[ProcessOutput]", self._native.read(self._id, after, wait, max_bytes, True))

    async def wait(self) -> int | None:
        """Waits for the end and returns the exit code; 128 + n after signal n."""
        after = 0
        while True:
            page = await self.read(after, wait=_LONG_POLL)
            if not page.running:
                return page.exit_code
            after = page.next

    async def output(self) -> AsyncIterator[OutputChunk]:
        """Iterates over the output until the end of the process."""
        after = 0
        while True:
            page = await self.read(after, wait=_LONG_POLL)
            for chunk in page.chunks:
                yield chunk
            after = page.next
            if not page.running:
                return

    async def write(self, content: str | bytes) -> None:
        """Writes to standard input. Like `Process.write`."""
        await cast("Awaitable[None]", self._native.write(self._id, content, False, True))

    async def close_input(self) -> None:
        """Closes standard input. In a terminal it types Ctrl-D, the end of the input."""
        await cast("Awaitable[None]", self._native.write(self._id, b"", True, True))

    async def signal(self, signal: str) -> None:
        """Sends a signal, by a name such as "TERM", to the process and its children."""
        await cast("Awaitable[None]", self._native.signal(self._id, signal, True))

    async def resize(self, rows: int, columns: int) -> None:
        """Changes the size of its terminal. Like `Process.resize`."""
        await cast("Awaitable[None]", self._native.resize(self._id, rows, columns, True))

    async def kill(self) -> None:
        """Kills the process and its children."""
        await self.signal("KILL")

    def __repr__(self) -> str:
        return f"AsyncProcess(id={self._id!r})"
