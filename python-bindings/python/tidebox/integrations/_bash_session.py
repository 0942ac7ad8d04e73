"""Bash sessions that share the files of one sandbox, each with variables of its own.

A sandbox has one persistent shell. These sessions are scripts instead: each command loads the state of its session from
a file of the sandbox, and saves it at the end.
"""

from __future__ import annotations

import shlex
import uuid

from .._async_sandbox import AsyncRunningCommand, AsyncSandbox
from .._native import ExecuteResult, SandboxError

_NOT_SAVED = (
    "BASH*|COMP_WORDBREAKS|DIRSTACK|EPOCH*|EUID|FUNCNAME|GROUPS|HISTCMD|LINENO|PIPESTATUS|PPID|RANDOM|SECONDS|"
    "SHELLOPTS|SHLVL|SRANDOM|UID|_|__code|__name"
)
"""Variables that bash computes or does not let anyone set, and those of the script."""

_SAVE = (
    # The state begins with a loop that unsets the variables of a new shell. The session may have unset some of them.
    "( printf '%s\\n' 'for __name in $(compgen -v); do case $__name in {not_saved}) ;; "
    '*) unset "$__name" ;; esac; done\'; '
    'for __name in $(compgen -v); do case $__name in {not_saved}) ;; *) declare -p "$__name" ;; esac; done; '
    "declare -f; declare -F | sed -n 's/^declare -fx /export -f /p'; alias -p; shopt -p; "
    "set +o | grep -v -e ' errexit' -e ' noexec'; printf 'cd -- %q\\n' \"$PWD\" "
    ") >{state}.new 2>/dev/null; mv -f {state}.new {state}"
)

_SCRIPT = (
    "[ -e {state} ] && . {state} 2>/dev/null; shopt -s expand_aliases; trap {save} EXIT; (exit {code}); "
    "eval {command}\n__code=$?; {saving}; exit $__code\n"
)
"""The command starts on the first line, so the numbers of lines in messages are its own."""


class BashSession:
    """One session. Its state has variables, functions, aliases, options and the working directory, but not `set -e`.

    A command that is stopped, by a timeout for example, leaves the state as it was before. Background processes live on,
    but their output is read only while their command runs. In a sandbox that cannot keep them, they end with it.
    """

    def __init__(self, sandbox: AsyncSandbox) -> None:
        """Creates a session with the environment of new shells of the sandbox."""
        self._sandbox = sandbox
        self._state = f"/tmp/.session-{uuid.uuid4().hex}"
        self._code = 0
        self._keeps_processes = True
        self._running: AsyncRunningCommand | None = None

    async def run(self, command: str, timeout: float | None) -> tuple[bytes, ExecuteResult | None]:
        """Runs a command.

        Args:
            command: Commands of bash, without a syntax error.
            timeout: Seconds; the limit of the sandbox by default.

        Returns:
            Both output streams in the order of arrival, and the result, or None if `interrupt` stopped the command.

        Raises:
            RuntimeError: Another command of the session runs.
        """
        if self._running is not None:
            raise RuntimeError("another command of this session is running; wait for its end or interrupt it")
        if self._keeps_processes:
            try:
                return await self._run(command, timeout)
            except SandboxError as error:
                # The sandbox rejects this before it starts the command.
                if getattr(error, "kind", None) != "unsupported":
                    raise
                self._keeps_processes = False
        return await self._run(command, timeout)

    async def _run(self, command: str, timeout: float | None) -> tuple[bytes, ExecuteResult | None]:
        output = bytearray()
        running = self._running = self._sandbox.execute_streaming(
            ["bash", "-c", self._script(command)], timeout=timeout, background=self._keeps_processes
        )
        try:
            async with running:
                async for chunk in running:
                    output += chunk.data
                try:
                    result = await running.result()
                except ValueError:  # Stopped by `interrupt`.
                    return bytes(output), None
        finally:
            self._running = None
        if result.stopped_by is None and result.exit_code is not None:
            self._code = result.exit_code
        return bytes(output), result

    def interrupt(self) -> bool:
        """Stops the running command with all its processes. Returns whether there was one."""
        if self._running is None:
            return False
        self._running.close()
        return True

    async def close(self) -> None:
        """Stops the running command and removes the state."""
        self.interrupt()
        await self._sandbox.execute(["rm", "-f", self._state, f"{self._state}.new"])

    def _script(self, command: str) -> str:
        save = _SAVE.format(state=self._state, not_saved=_NOT_SAVED)
        return _SCRIPT.format(
            # A trap of the command replaces the one that saves, so the end of the script saves, too.
            state=self._state, save=shlex.quote(save), saving=save, code=self._code, command=shlex.quote(command)
        )  # fmt: skip
