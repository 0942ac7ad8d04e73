"""Tasks of a pool, their results, and the code that runs a task in a sandbox."""

from __future__ import annotations

import asyncio
import inspect
import time
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from typing import Any, Literal, NamedTuple, Union

from ray import cloudpickle

from .._async_sandbox import AsyncSandbox
from .._native import ExecuteResult, SandboxError
from .._options import Command, Content
from .._provider import SandboxOptions

Run = Union[Callable[..., Awaitable[Any]], Sequence[Command]]
"""A coroutine function, or commands."""


@dataclass(frozen=True)
class SandboxTask:
    """A task with a new sandbox, which is closed at its end."""

    run: Run
    """A coroutine function that gets the `AsyncSandbox` and `arguments`, or a list of commands, which run in order whatever
    their exit codes are. It is sent to the nodes by cloudpickle: an importable function must be importable there."""
    arguments: Sequence[Any] = ()
    """Further arguments of the function."""
    files: Mapping[str, Content] | None = None
    """Files that are written before it runs, by their paths."""
    sandbox: SandboxOptions | None = None
    """Options of its sandbox instead of those of the pool."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Labels, which the result has too. They stay in this process."""
    timeout: float | None = None
    """Seconds for all of it. Default: unlimited; each command has the limits of its sandbox."""

    def __post_init__(self) -> None:
        if callable(self.run):
            if not is_coroutine_function(self.run):
                raise TypeError(f"run must be a coroutine function (async def) or a list of commands, not {self.run!r}")
        elif isinstance(self.run, (str, bytes)):
            raise TypeError("run must be a list of commands; write [command] for a single one")
        elif self.arguments:
            raise TypeError("arguments are for a function, and run is a list of commands")


@dataclass(frozen=True)
class CommandResult:
    """Result of a command. It has the fields of `ExecuteResult`, and can be pickled."""

    stdout: str
    stderr: str
    exit_code: int | None
    """Exit code; None if the provider has none."""
    stopped_by: str | None = None
    """The limit that stopped the command, such as `timeout`."""
    truncated: bool = False
    """Whether output beyond `Limits.output_bytes` is missing."""
    duration: float = 0.0
    """Seconds."""

    @property
    def ok(self) -> bool:
        """Whether the exit code is 0."""
        return self.exit_code == 0

    @classmethod
    def of(cls, result: ExecuteResult) -> CommandResult:
        """Copies a result of the sandbox."""
        return cls(
            result.stdout, result.stderr, result.exit_code, result.stopped_by, result.truncated, result.duration
        )  # fmt: skip


@dataclass(frozen=True)
class TaskResult:
    """Result of a task."""

    index: int
    """Position of the task, from 0."""
    labels: Mapping[str, str]
    """Labels of the task."""
    outcome: Literal["done", "failed", "lost"]
    """`done`: the function returned, or the commands ran. `failed`: it raised, timed out, or could not start. `lost`: its
    actor ended, and the task was not repeated."""
    value: Any = None
    """Value of the function, or a list of `CommandResult`. None unless the outcome is `done`."""
    error: str | None = None
    """Message, unless the outcome is `done`."""
    traceback: str | None = None
    """Traceback of a function that raised."""
    node: str | None = None
    """Ray's id of the node of the last attempt; None if there was none."""
    attempts: int = 0
    """Number of times that the task was sent to a node, without those that the node rejected."""
    may_have_run: bool = False
    """Whether an attempt was lost together with its actor, so that its commands may have run or not. For `done` and `failed`
    this is an attempt before the reported one."""
    seconds: float = 0.0
    """Time of the reported attempt on its node."""

    @property
    def ok(self) -> bool:
        """Whether the outcome is `done`."""
        return self.outcome == "done"


class PackedTask(NamedTuple):
    """A task on its way to a node."""

    attempt: int
    """Number of the attempt, unique in its session."""
    run: bytes
    rest: bytes


class PackedResult(NamedTuple):
    """A result on its way back. A rejected task did not start."""

    attempt: int
    outcome: Literal["done", "failed", "rejected"]
    value: bytes | None = None
    error: str | None = None
    traceback: str | None = None
    seconds: float = 0.0


def is_coroutine_function(run: Any) -> bool:
    """Returns whether calling `run` returns a coroutine."""
    return inspect.iscoroutinefunction(run) or inspect.iscoroutinefunction(getattr(run, "__call__", None))


def pack(value: Any) -> bytes:
    """Pickles a value."""
    # Ray's types do not have it.
    dumps: Callable[[Any], bytes] = getattr(cloudpickle, "dumps")
    return dumps(value)


def unpack(data: bytes) -> Any:
    """Reads what `pack` returned. Only values that the driver or an actor of its pool packed may be passed."""
    return cloudpickle.loads(data)


def create_sandbox(options: SandboxOptions) -> AsyncSandbox:
    """Creates a sandbox from options."""
    return AsyncSandbox(**{option.name: getattr(options, option.name) for option in fields(options)})


async def write_files(sandbox: AsyncSandbox, files: Mapping[str, Content] | None) -> None:
    """Writes the files of a task."""
    for path, content in (files or {}).items():
        await sandbox.write(path, content)


async def run_task(task: PackedTask, new_sandbox: Callable[[SandboxOptions | None], AsyncSandbox]) -> PackedResult:
    """Runs a task and returns its result. Only cancelling raises.

    Args:
        task: The task.
        new_sandbox: Creates a sandbox from the options of the task, or from those of the pool.
    """
    started = time.monotonic()
    sandbox: AsyncSandbox | None = None
    timeout: float | None = None
    try:
        run: Run = unpack(task.run)
        arguments, files, options, timeout = unpack(task.rest)
        sandbox = new_sandbox(options)
        value = await asyncio.wait_for(_run_in(sandbox, run, arguments, files), timeout)
        packed = pack(value)
    except asyncio.TimeoutError as error:
        message = str(error) or f"the task reached its timeout of {timeout} s"
        return PackedResult(task.attempt, "failed", None, f"TimeoutError: {message}", None, time.monotonic() - started)
    except (Exception, SystemExit) as error:
        text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        message = f"{type(error).__name__}: {error}"
        return PackedResult(task.attempt, "failed", None, message, text, time.monotonic() - started)
    finally:
        if sandbox is not None:
            with suppress(SandboxError):
                await sandbox.close()
    return PackedResult(task.attempt, "done", packed, None, None, time.monotonic() - started)


async def _run_in(
    sandbox: AsyncSandbox, run: Run, arguments: Sequence[Any], files: Mapping[str, Content] | None
) -> Any:
    await write_files(sandbox, files)
    if callable(run):
        return await run(sandbox, *arguments)
    return [CommandResult.of(await sandbox.execute(command)) for command in run]
