"""The actor of a node: it runs tasks, and keeps sandboxes that a driver opens."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from .._async_sandbox import AsyncSandbox
from .._native import __version__
from .._options import Command, Content
from .._provider import SandboxOptions
from ._ray_tasks import CommandResult, PackedResult, PackedTask, create_sandbox, run_task, unpack, write_files

PAGE = 1024
"""Maximum number of results in one reply."""

PAGE_BYTES = 32 << 20
"""Bytes of results after which a reply ends. A larger single result is a reply by itself."""

GATHER_SECONDS = 0.005
"""Time for further results after the first one, which makes replies fewer and larger."""

ENDED_SESSIONS = 1024
"""Ended sessions that are remembered, so that a late message does not start their tasks again."""


@dataclass
class _Session:
    """One `map` of a driver."""

    number: int = 0
    """Number of the newest message whose tasks were started."""
    counted: int = 0
    """Number of results so far."""
    results: deque[tuple[int, PackedResult]] = field(default_factory=deque)
    """Results that the driver has not confirmed, in the order of their numbers."""
    running: dict[int, asyncio.Task[None]] = field(default_factory=dict)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    used: float = field(default_factory=time.monotonic)


@dataclass
class _Open:
    """A sandbox that a driver opened."""

    sandbox: AsyncSandbox
    idle_timeout: float
    calls: int = 0
    used: float = field(default_factory=time.monotonic)


class SandboxLost(RuntimeError):
    """A sandbox of a pool does not exist any more, with all its files."""

    def __init__(self, message: str, may_have_run: bool = False) -> None:
        """Creates the error.

        Args:
            message: Its message.
            may_have_run: Whether the call that failed may have run.
        """
        super().__init__(message)
        self.may_have_run = may_have_run


class Worker:
    """Runs tasks of any number of drivers, each in a new sandbox."""

    def __init__(self, options: bytes, max_sandboxes: int, session_timeout: float) -> None:
        """Creates a worker. `prepare` must be called first.

        Args:
            options: The packed `SandboxOptions`.
            max_sandboxes: Maximum number of sandboxes. Tasks beyond it are rejected.
            session_timeout: Seconds after which the tasks of a driver without a message are stopped.
        """
        self._packed_options = options
        self._max_sandboxes = max_sandboxes
        self._session_timeout = session_timeout
        self._template: AsyncSandbox | None = None
        self._sessions: dict[str, _Session] = {}
        self._ended: deque[str] = deque(maxlen=ENDED_SESSIONS)
        self._open: dict[str, _Open] = {}
        self._running = 0
        self._housekeeping: asyncio.Task[None] | None = None

    async def prepare(self, options: bytes) -> str:
        """Creates the sandbox that others are forks of, and runs a command in it. Returns the version of Tidebox.

        Raises:
            ValueError: The actor was created with other options.
            SandboxError: The sandbox cannot be created.
        """
        if options != self._packed_options:
            raise ValueError("the pool exists with other options; use its options, or another name")
        if self._template is None:
            template = create_sandbox(unpack(options))
            await template.execute("true")
            self._template = template
        if self._housekeeping is None:
            self._housekeeping = asyncio.get_running_loop().create_task(self._keep_house())
        return __version__

    async def exchange(
        self, session_id: str, number: int, received: int, tasks: Sequence[PackedTask], wait: float
    ) -> list[tuple[int, PackedResult]] | None:
        """Starts tasks, and returns results with their numbers as soon as there are any. A message may be repeated.

        Returns None if the session was ended, or if it is unknown and this is not its first message.

        Args:
            session_id: Id of the session, which its first message creates.
            number: Number of this message, from 1. The tasks of a number that was received before are ignored.
            received: Number of the last result that the driver has. It and those before are dropped.
            tasks: Tasks to start.
            wait: Maximum seconds without a result.
        """
        session = self._sessions.get(session_id)
        if session is None:
            if number > 1 or session_id in self._ended:
                return None
            session = self._sessions[session_id] = _Session()
        session.used = time.monotonic()
        while session.results and session.results[0][0] <= received:
            session.results.popleft()
        if number > session.number:
            session.number = number
            for task in tasks:
                self._start(session, task)
        await _wait_for_results(session, wait)
        session.used = time.monotonic()
        return _first_page(session.results)

    def _start(self, session: _Session, task: PackedTask) -> None:
        if self._live >= self._max_sandboxes:
            _finish(session, PackedResult(task.attempt, "rejected"))
            return
        self._running += 1
        session.running[task.attempt] = asyncio.get_running_loop().create_task(self._run(session, task))

    async def _run(self, session: _Session, task: PackedTask) -> None:
        try:
            result = await run_task(task, self._new_sandbox)
        except asyncio.CancelledError:
            if session not in self._sessions.values():
                raise
            # Code of the task raised it: `end` is the only other source, and it removes the session first.
            result = PackedResult(task.attempt, "failed", None, "CancelledError: the function was cancelled")
        finally:
            self._running -= 1
            session.running.pop(task.attempt, None)
        _finish(session, result)

    @property
    def _live(self) -> int:
        """Number of sandboxes."""
        return self._running + len(self._open)

    def _new_sandbox(self, options: SandboxOptions | None) -> AsyncSandbox:
        if options is not None:
            return create_sandbox(options)
        if self._template is None:
            raise RuntimeError("the actor is not prepared")
        return self._template.fork()

    async def end(self, session_id: str) -> None:
        """Ends a session and stops its tasks. Ending it twice is not an error."""
        self._ended.append(session_id)
        session = self._sessions.pop(session_id, None)
        if session is not None:
            for task in session.running.values():
                task.cancel()

    async def open(self, key: str, options: SandboxOptions | None, files: Mapping[str, Content], idle_timeout: float) -> None:
        """Creates a sandbox that lives until `close`, or until it was not used for `idle_timeout` seconds.

        Raises:
            RuntimeError: The actor has too many sandboxes.
        """
        if key in self._open:
            return
        if self._live >= self._max_sandboxes:
            raise RuntimeError(f"the actor has {self._live} sandboxes, its maximum; close some or raise max_sandboxes")
        opened = self._open[key] = _Open(self._new_sandbox(options), idle_timeout)
        try:
            await write_files(opened.sandbox, files)
        except BaseException:
            await self.close(key)
            raise

    async def execute(self, key: str, command: Command, timeout: float | None) -> CommandResult:
        """Runs a command in an open sandbox."""
        return CommandResult.of(await self._use(key, lambda sandbox: sandbox.execute(command, timeout=timeout)))

    async def write(self, key: str, path: str, content: Content) -> None:
        """Writes a file of an open sandbox."""
        await self._use(key, lambda sandbox: sandbox.write(path, content))

    async def read(self, key: str, path: str) -> bytes:
        """Reads a file of an open sandbox."""

        async def download(sandbox: AsyncSandbox) -> bytes:
            absolute = path if path.startswith("/") else f"{sandbox.cwd}/{path}"
            [file] = await sandbox.download_files([absolute])
            if file.content is None:
                raise FileNotFoundError(file.message) if file.error == "file_not_found" else OSError(file.message)
            return file.content

        content: bytes = await self._use(key, download)
        return content

    async def call(self, key: str, run: bytes, arguments: bytes) -> Any:
        """Calls a packed coroutine function with an open sandbox."""
        return await self._use(key, lambda sandbox: unpack(run)(sandbox, *unpack(arguments)))

    async def _use(self, key: str, call: Callable[[AsyncSandbox], Any]) -> Any:
        opened = self._open.get(key)
        if opened is None:
            raise SandboxLost("the sandbox was closed, or reached its idle timeout")
        opened.calls += 1
        try:
            return await call(opened.sandbox)
        finally:
            opened.calls -= 1
            opened.used = time.monotonic()

    async def close(self, key: str) -> None:
        """Closes an open sandbox. Closing twice is not an error."""
        opened = self._open.pop(key, None)
        if opened is not None:
            await opened.sandbox.close()

    async def status(self) -> dict[str, int]:
        """Returns the number of running tasks, open sandboxes and sessions."""
        return {"running": self._running, "open": len(self._open), "sessions": len(self._sessions)}

    async def _keep_house(self) -> None:
        while True:
            await asyncio.sleep(1)
            await self._expire(time.monotonic())

    async def _expire(self, now: float) -> None:
        for key, opened in list(self._open.items()):
            if not opened.calls and now - opened.used > opened.idle_timeout:
                await self.close(key)
        for id, session in list(self._sessions.items()):
            if now - session.used > self._session_timeout:
                await self.end(id)


def _finish(session: _Session, result: PackedResult) -> None:
    session.counted += 1
    session.results.append((session.counted, result))
    session.changed.set()


async def _wait_for_results(session: _Session, wait: float) -> None:
    if not session.results:
        if not session.running:
            return
        session.changed.clear()
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(session.changed.wait(), wait)
    if session.results and session.running:
        await asyncio.sleep(GATHER_SECONDS)


def _first_page(results: deque[tuple[int, PackedResult]]) -> list[tuple[int, PackedResult]]:
    page: list[tuple[int, PackedResult]] = []
    size = 0
    for number, result in islice(results, PAGE):
        size += len(result.value or b"")
        if page and size > PAGE_BYTES:
            break
        page.append((number, result))
    return page
