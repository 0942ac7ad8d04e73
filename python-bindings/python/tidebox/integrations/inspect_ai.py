"""Inspect: a sandbox for each sample of an evaluation.

    from inspect_ai import Task
    from inspect_ai.tool import bash

    Task(dataset=..., solver=[use_tools(bash()), generate()], sandbox="tidebox")

The name `tidebox` is registered when Inspect loads its entry points, or when this module is imported.
"""

from __future__ import annotations

import asyncio
import posixpath
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Literal, overload

from .. import _native
from .._async_sandbox import AsyncSandbox
from . import _files
from ._imports import missing_framework

try:
    from inspect_ai.util import (
        ExecResult,
        OutputLimitExceededError,
        SandboxConnection,
        SandboxEnvironment,
        SandboxEnvironmentConfigType,
        SandboxEnvironmentLimits,
        SandboxUnavailableError,
        sandboxenv,
    )
except ImportError as error:
    raise missing_framework("inspect-ai", error) from error

from ._inspect_config import TideboxConfig, load_config
from ._inspect_remote import SANDBOX_CLI, RemoteProcesses, check_user
from ._processes import execute_and_keep

__all__ = ["CommandTimeoutError", "TideboxConfig", "TideboxSandboxEnvironment"]

NO_TIMEOUT = 365 * 86400.0
"""Seconds of a command without a timeout: every command of a sandbox has a limit, and Inspect wants none."""


class CommandTimeoutError(TimeoutError):
    """A command was stopped after its timeout."""

    def __init__(self, message: str, truncated_output: str) -> None:
        super().__init__(message)
        self.truncated_output = truncated_output
        """Output until the timeout, which Inspect passes to the model."""


@sandboxenv(name="tidebox")
class TideboxSandboxEnvironment(SandboxEnvironment):
    """A sandbox of one sample. Samples are forks of one sandbox, so creating one takes less than a millisecond.

    Commands run as the user `tidebox`; root does not exist. `exec_remote` starts processes that live until the end of
    the sample. Tools that need the Linux program of Inspect cannot be used: `bash_session`, `text_editor`, sandbox MCP
    servers and the agent bridge.
    """

    _prepared: ClassVar[dict[TideboxConfig, AsyncSandbox]] = {}
    """Sandboxes of running evaluations, from which those of the samples are forked."""

    def __init__(self, sandbox: AsyncSandbox) -> None:
        """Uses a sandbox."""
        super().__init__()
        self.sandbox = sandbox
        self._remote = RemoteProcesses(sandbox)

    @classmethod
    async def task_init(cls, task_name: str, config: SandboxEnvironmentConfigType | None) -> None:
        """Creates the sandbox from which those of the samples are forked.

        Raises:
            ValueError: The configuration is invalid.
            RuntimeError: Inspect runs with Trio.
        """
        _prepare(cls, load_config(config))

    @classmethod
    async def task_cleanup(cls, task_name: str, config: SandboxEnvironmentConfigType | None, cleanup: bool) -> None:
        """Closes the sandbox from which those of the samples were forked."""
        prepared = cls._prepared.pop(load_config(config), None)
        if prepared is not None:
            await prepared.close()

    @classmethod
    async def sample_init(
        cls, task_name: str, config: SandboxEnvironmentConfigType | None, metadata: dict[str, str]
    ) -> dict[str, SandboxEnvironment]:
        """Returns the sandbox of a sample, with the name `default`."""
        return {"default": cls(_prepare(cls, load_config(config)).fork())}

    @classmethod
    async def sample_cleanup(
        cls,
        task_name: str,
        config: SandboxEnvironmentConfigType | None,
        environments: dict[str, SandboxEnvironment],
        interrupted: bool,
    ) -> None:
        """Closes the sandbox of a sample."""
        for environment in environments.values():
            await environment.as_type(cls).sandbox.close()

    @classmethod
    def config_files(cls) -> list[str]:
        """Returns no names: a configuration is always named by the task."""
        return []

    @classmethod
    def config_deserialize(cls, config: dict[str, Any]) -> TideboxConfig:
        """Returns the configuration of a log or of a retried evaluation."""
        return TideboxConfig(**config)

    def default_polling_interval(self) -> float:
        """Returns the seconds between two checks of a sandbox service: 0.2, because a check costs little."""
        return 0.2

    async def exec(
        self,
        cmd: list[str],
        input: str | bytes | None = None,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        user: str | None = None,
        timeout: int | None = None,
        timeout_retry: bool = True,
        concurrency: bool = True,
    ) -> ExecResult[str]:
        """Runs a program with arguments, which no shell expands.

        Output is limited to `Limits.output_bytes` for both streams, and to Inspect's limit for each. The end is kept.
        Background processes live on until the end of the sample, but a timeout stops those of the command, too.

        Args:
            cmd: The program and its arguments.
            input: Standard input; without it, it is empty.
            cwd: Working directory; a relative one starts at that of the sandbox.
            env: Environment variables of this command.
            user: None, `"tidebox"` or `"1000"`.
            timeout: Seconds after which the command and its children are stopped.
            timeout_retry: Has no effect: a command is not repeated.
            concurrency: Has no effect: a command is not a process of the host.

        Raises:
            TimeoutError: The command was stopped after the timeout.
            PermissionError: The program is not executable.
            SandboxUserUnsupportedError: Commands cannot run as the user.
            SandboxUnavailableError: The sandbox is closed.
        """
        check_user(user)
        if cmd == [SANDBOX_CLI, "exec"]:
            reply = await self._remote.reply(input, timeout)
            return ExecResult(success=True, returncode=0, stdout=reply, stderr="")
        limit = NO_TIMEOUT if timeout is None else timeout
        with _unavailable():
            result = await execute_and_keep(
                self.sandbox, cmd, stdin=input, cwd=cwd, env=env, timeout=limit, on_overflow="tail"
            )
        if result.stopped_by == "timeout":
            raise CommandTimeoutError(f"the command was stopped after {limit:g} s", result.output)
        if result.stopped_by == "cancelled":
            raise SandboxUnavailableError("the sandbox was closed while the command ran")
        if result.exit_code is None:
            raise SandboxUnavailableError("the sandbox returned no exit code")
        if result.exit_code == 126 and result.stderr.startswith(f"tidebox: cannot start {cmd[0]}: "):
            raise PermissionError(result.stderr.strip())
        return ExecResult(
            success=result.exit_code == 0,
            returncode=result.exit_code,
            stdout=_last_bytes(result.stdout_bytes),
            stderr=_last_bytes(result.stderr_bytes),
        )

    async def write_file(self, file: str, contents: str | bytes) -> None:
        """Creates or replaces a file, and creates the directories above it. Text is stored as UTF-8.

        Raises:
            PermissionError, IsADirectoryError, NotADirectoryError, OSError: The file cannot be written.
        """
        data = contents.encode() if isinstance(contents, str) else contents
        with _unavailable():
            await _files.write_bytes(self.sandbox, self._absolute(file), data)

    @overload
    async def read_file(self, file: str, text: Literal[True] = True) -> str: ...

    @overload
    async def read_file(self, file: str, text: Literal[False]) -> bytes: ...

    async def read_file(self, file: str, text: bool = True) -> str | bytes:
        """Reads a whole file, as text in UTF-8 with its line ends or as bytes.

        Raises:
            FileNotFoundError, PermissionError, IsADirectoryError, OSError: The file cannot be read.
            UnicodeDecodeError: The file is not text in UTF-8.
            OutputLimitExceededError: The file is larger than `INSPECT_SANDBOX_MAX_READ_FILE_SIZE`.
        """
        with _unavailable():
            data = await _files.read_bytes(self.sandbox, self._absolute(file))
        if len(data) > SandboxEnvironmentLimits.MAX_READ_FILE_SIZE:
            raise OutputLimitExceededError(
                limit_str=SandboxEnvironmentLimits.MAX_READ_FILE_SIZE_STR, truncated_output=None
            )
        return data.decode() if text else data

    async def connection(self, *, user: str | None = None) -> SandboxConnection:
        """Raises `NotImplementedError`: no program of the host can log in to a sandbox of this process."""
        raise NotImplementedError("a Tidebox sandbox is part of this process, and no program can connect to it")

    @contextmanager
    def no_events(self) -> Iterator[None]:
        """Does nothing: only the object around this one that Inspect gives to solvers records events."""
        yield

    def _absolute(self, file: str) -> str:
        return posixpath.join(self.sandbox.cwd, file)

    def __repr__(self) -> str:
        return f"TideboxSandboxEnvironment(id={self.sandbox.id!r})"


def _prepare(kind: type[TideboxSandboxEnvironment], config: TideboxConfig) -> AsyncSandbox:
    """Returns the sandbox of a configuration, which is created if it is missing.

    Inspect prepares and cleans up once per configuration, and a concurrent evaluation may have cleaned up already.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        raise RuntimeError("Tidebox needs asyncio; unset INSPECT_ASYNC_BACKEND to run Inspect with it") from None
    if config not in kind._prepared:
        kind._prepared[config] = config.create_sandbox()
    return kind._prepared[config]


def _last_bytes(data: bytes) -> str:
    """Decodes output, or its end if it exceeds the limit of Inspect. Bytes that are not UTF-8 become U+FFFD."""
    return data[-SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE :].decode("utf-8", "replace")


@contextmanager
def _unavailable() -> Iterator[None]:
    """Converts the error of a closed sandbox."""
    try:
        yield
    except _native.SandboxError as error:
        if getattr(error, "kind", None) == "closed":
            raise SandboxUnavailableError(str(error)) from error
        raise
