"""Processes of a session of the OpenAI Agents SDK that outlive the call which started them; see `openai_agents`."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import deque
from collections.abc import Mapping, Sequence

from agents.sandbox.errors import PtySessionNotFoundError
from agents.sandbox.session.pty_output import collect_pty_output
from agents.sandbox.session.pty_types import (
    PTY_PROCESSES_MAX,
    PTY_PROCESSES_WARNING,
    PtyExecUpdate,
    allocate_pty_process_id,
    process_id_to_prune_from_meta,
)

from .._async_sandbox import AsyncSandbox
from .._native import SandboxError
from .._process import AsyncProcess

logger = logging.getLogger(__name__)

NO_INPUT = "stdin is not available for this process"
"""Message of the `RuntimeError` that the tool `write_stdin` passes to the model. The tool compares the whole text."""

KEPT_BYTES = 1 << 20
"""Maximum output of one call, the newest. A program that prints without end must not fill the memory of the host."""

_WAIT = 1.0
"""Seconds of one wait for output. It is short, so that concurrent calls for one process alternate."""

_END_WAIT = 5.0
"""Seconds to wait for the end of a process that was killed, so that it no longer counts for the limit."""

_KILLED_EXIT_CODE = 137
"""Exit code of a process that ended without one: it was killed."""

_INTERRUPT = "\x03"
_END_OF_INPUT = "\x04"


class LiveProcess:
    """A process, and the part of its output that no call has returned yet."""

    def __init__(self, process: AsyncProcess) -> None:
        self.process = process
        self.last_used = time.monotonic()
        self.exit_code: int | None = None
        """Exit code once the process has ended and all output was read."""
        self._next = 0
        self._dropped = 0
        self._chunks: deque[bytes] = deque()
        self._chunks_lock = asyncio.Lock()
        self._reading = asyncio.Lock()
        self._has_output = asyncio.Event()

    async def collect(self, yield_time_ms: int, max_output_tokens: int | None) -> tuple[bytes, int | None, bool]:
        """Waits for the end of the process or of the time, whichever is first.

        Args:
            yield_time_ms: Milliseconds.
            max_output_tokens: Length of the output in tokens, as the SDK counts them; not limited by default.

        Returns:
            The new output, its number of tokens if it was shortened, and whether the process has ended.

        Raises:
            ValueError: The sandbox has forgotten the process.
            SandboxError: The sandbox is closed.
        """
        output, tokens, has_ended = await collect_pty_output(
            output_chunks=self._chunks, output_lock=self._chunks_lock, output_notify=self._has_output,
            is_done=lambda: self.exit_code is not None, yield_time_ms=yield_time_ms,
            max_output_tokens=max_output_tokens, poll_output=self._read_until,
        )  # fmt: skip
        self.last_used = time.monotonic()
        dropped, self._dropped = self._dropped, 0
        if dropped:
            output = f"[{dropped} bytes of older output were dropped]\n".encode() + output
        return output, tokens, has_ended

    async def _read_until(self, deadline: float) -> None:
        """Reads output until a time of the monotonic clock, and at least once."""
        size = sum(map(len, self._chunks))
        while self.exit_code is None:
            left = deadline - time.monotonic()
            is_running = True
            async with self._reading:
                if self.exit_code is None:
                    page = await self.process.read(self._next, wait=max(0.0, min(left, _WAIT)))
                    self._next, data, is_running = page.next, page.data, page.running
                    self._dropped += page.dropped
                    if data:
                        self._chunks.append(data)
                        size += len(data)
                    elif not is_running:
                        self.exit_code = _KILLED_EXIT_CODE if page.exit_code is None else page.exit_code
            while size > KEPT_BYTES and len(self._chunks) > 1:
                lost = len(self._chunks.popleft())
                size -= lost
                self._dropped += lost
            if left <= 0 and is_running:
                return

    async def is_running(self) -> bool:
        """Returns whether the process runs."""
        after = self._next
        try:
            while (page := await self.process.read(after)).running and page.data:
                after = page.next
        except ValueError:  # The sandbox has forgotten it.
            return False
        return page.running


class LiveProcesses:
    """The processes of a session, by the ids that the model knows. Each id belongs to one command line."""

    def __init__(self, sandbox: AsyncSandbox, maximum: int) -> None:
        """Creates an empty list.

        Args:
            sandbox: The sandbox of the session.
            maximum: Maximum number of processes, at most the 64 of the SDK. Beyond it one is killed.
        """
        self._sandbox = sandbox
        self._maximum = min(maximum, PTY_PROCESSES_MAX)
        self._live: dict[int, LiveProcess] = {}
        self._starting = asyncio.Lock()

    async def start(
        self, command: Sequence[str], *, cwd: str, env: Mapping[str, str], open_stdin: bool, timeout: float | None
    ) -> int:
        """Starts a program without a shell, and returns its id.

        Raises:
            ValueError: The program cannot be started.
            SandboxError: The sandbox has too many processes (`quota_exceeded`), or is closed.
        """
        async with self._starting:
            await self._prune()
            process = await self._sandbox.spawn(list(command), cwd=cwd, env=env, stdin=open_stdin, timeout=timeout)
            session_id = allocate_pty_process_id(set(self._live))
            self._live[session_id] = LiveProcess(process)
        if len(self._live) >= PTY_PROCESSES_WARNING:
            logger.warning("the session has %d processes; the maximum is %d", len(self._live), self._maximum)
        return session_id

    def find(self, session_id: int) -> LiveProcess:
        """Returns a process.

        Raises:
            PtySessionNotFoundError: No process has this id, or its end was returned already.
        """
        live = self._live.get(session_id)
        if live is None:
            raise PtySessionNotFoundError(session_id=session_id)
        return live

    async def update(self, session_id: int, yield_time_ms: int, max_output_tokens: int | None) -> PtyExecUpdate:
        """Waits for the end of a process or of the time in milliseconds, and returns its new output.

        Raises:
            PtySessionNotFoundError: The sandbox has forgotten the process.
            SandboxError: The sandbox is closed.
        """
        live = self.find(session_id)
        try:
            output, tokens, has_ended = await live.collect(yield_time_ms, max_output_tokens)
        except ValueError as error:
            self._live.pop(session_id, None)
            raise PtySessionNotFoundError(session_id=session_id, cause=error) from error
        if not has_ended:
            return PtyExecUpdate(session_id, output, None, tokens)
        self._live.pop(session_id, None)
        return PtyExecUpdate(None, output, live.exit_code, tokens)

    async def write(self, session_id: int, chars: str, *, open_stdin: bool, timeout: float) -> str:
        """Writes to standard input. Ctrl-C (`\\x03`) interrupts the process, and a final Ctrl-D (`\\x04`) ends the input.

        Args:
            session_id: Id of the process.
            chars: Text.
            open_stdin: Whether the process was started with an open input.
            timeout: Seconds to wait for a process that does not read.

        Returns:
            A line for the model if the process did not read all of the text, else nothing.

        Raises:
            PtySessionNotFoundError: No process has this id.
            RuntimeError: The process has no input, or its input was ended.
        """
        live = self.find(session_id)
        if chars == _INTERRUPT:
            await live.process.signal("INT")
            return ""
        if not open_stdin:
            raise RuntimeError(NO_INPUT)
        text = chars.removesuffix(_END_OF_INPUT)
        try:
            await asyncio.wait_for(live.process.write(text), timeout)
            if text != chars:
                await live.process.close_input()
        except asyncio.TimeoutError:
            return "[the process did not read all of its input]\n"
        except ValueError as error:
            # The input of a process that has ended is closed, and the update reports the end.
            if await live.is_running():
                raise RuntimeError(NO_INPUT) from error
        return ""

    async def end(self, session_id: int) -> None:
        """Kills a process, and forgets its id. A missing one is not an error."""
        live = self._live.pop(session_id, None)
        if live is not None:
            await self._kill(live.process)

    async def end_all(self) -> None:
        """Kills all processes of the sandbox, also those that `exec` left. A closed sandbox is not an error."""
        self._live.clear()
        with contextlib.suppress(SandboxError):
            left = [status.id for status in await self._sandbox.processes() if status.running]
            await asyncio.gather(*(self._kill(self._sandbox.process(id)) for id in left))

    async def _prune(self) -> None:
        if len(self._live) < self._maximum:
            return
        running = {status.id for status in await self._sandbox.processes() if status.running}
        found = [(id, live.last_used, live.process.id not in running) for id, live in self._live.items()]
        pruned = process_id_to_prune_from_meta(found)
        if pruned is not None:
            await self.end(pruned)

    async def _kill(self, process: AsyncProcess) -> None:
        with contextlib.suppress(SandboxError, ValueError, asyncio.TimeoutError):
            await process.kill()
            await asyncio.wait_for(process.wait(), _END_WAIT)
