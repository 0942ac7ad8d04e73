"""Python interpreters in a sandbox that keep their variables."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import cast

from ._native import NativePythonSession, PythonResult


class PythonSession:
    """An interpreter that keeps variables, imports and open files between calls, as in a notebook."""

    def __init__(self, native: NativePythonSession) -> None:
        self._native = native

    def run(self, code: str, *, timeout: float | None = None) -> PythonResult:
        """Runs code. An exception of the code is part of the result.

        Args:
            code: Statements; the value of a last expression is returned.
            timeout: Seconds after which the interpreter is stopped, and its variables are lost; `Limits.wall_time` by default.

        Raises:
            ValueError: The interpreter has exited before, or there are more than 8 MiB of code.
        """
        return cast(PythonResult, self._native.run(code, timeout, False))

    def save(self) -> bytes:
        """Saves the session between two calls: variables, imported modules and open files by path, but not the files of the
        sandbox. `Sandbox.resume_python_session` continues it, also in another process or on another host that has the same version
        of the pack. The session itself continues unchanged. The bytes contain the values of all variables.

        Raises:
            SandboxError: `unsupported`: it has child processes, pipes, sockets or open files that were deleted.
            ValueError: The interpreter has exited.
        """
        return cast(bytes, self._native.save(False))


class AsyncPythonSession:
    """An interpreter that keeps variables, imports and open files between calls, as in a notebook."""

    def __init__(self, native: NativePythonSession) -> None:
        self._native = native

    async def run(self, code: str, *, timeout: float | None = None) -> PythonResult:
        """Runs code. Like `PythonSession.run`. Cancelling the task stops the interpreter."""
        return await cast("Awaitable[PythonResult]", self._native.run(code, timeout, True))

    async def save(self) -> bytes:
        """Saves the session between two calls. Like `PythonSession.save`. Cancelling the task stops the interpreter."""
        return await cast("Awaitable[bytes]", self._native.save(True))
