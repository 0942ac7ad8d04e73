"""Commands of a framework that leave processes, such as `server &`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from .._async_sandbox import AsyncSandbox
from .._native import ExecuteResult, SandboxError
from .._options import Command, Content, Limits, Overflow

PROCESSES = 64
"""Maximum number of processes that outlive their call."""

SANDBOX_MEMORY_BYTES = 1 << 30
"""Default of `Limits.sandbox_memory_bytes`."""


def with_room_for_processes(limits: Limits | None) -> Limits:
    """Returns limits under which a command that can leave processes has as much as any other.

    Such a command is subject to the limits `background_*` from its start. Those that were not chosen become 64
    processes, the memory of the whole sandbox, and a whole core.
    """
    limits = limits or Limits()
    defaults = {
        "background_processes": PROCESSES,
        "background_cpu_percent": 100,
        "background_memory_bytes": limits.sandbox_memory_bytes or SANDBOX_MEMORY_BYTES,
    }
    return replace(limits, **{name: value for name, value in defaults.items() if getattr(limits, name) is None})


async def execute_and_keep(
    sandbox: AsyncSandbox,
    command: Command,
    *,
    stdin: Content | None = None,
    cwd: str | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float,
    on_overflow: Overflow,
) -> ExecuteResult:
    """Runs a command in a fresh shell. Processes that it leaves live on, if the sandbox can keep them.

    Deterministic sandboxes and those of cloud providers cannot: there they end with the command. Arguments and
    exceptions are those of `AsyncSandbox.execute`.
    """

    async def execute(background: bool) -> ExecuteResult:
        return await sandbox.execute(
            command, stdin=stdin, cwd=cwd, env=env, timeout=timeout, on_overflow=on_overflow, shell="fresh",
            background=background,
        )  # fmt: skip

    try:
        return await execute(True)
    except SandboxError as error:
        # The sandbox rejects this before it starts the command.
        if getattr(error, "kind", None) != "unsupported":
            raise
    return await execute(False)
