"""Pydantic AI: a sandbox as the workspace of an agent.

    from pydantic_ai import Agent
    from tidebox.integrations.pydantic_ai import TideboxSandbox

    agent = Agent(..., capabilities=[TideboxSandbox()])

The capability gives tools their `ctx.workspace`. It has no tools itself: use your own, or `FileSystem` and `Shell` of
`pydantic-ai-harness`.
"""

from __future__ import annotations

import asyncio
import math
import os
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

from .. import _native
from .._async_sandbox import AsyncSandbox
from .._provider import AsyncProvider, Provider, SandboxOptions
from .._sandbox import Sandbox
from . import _files
from ._imports import missing_framework
from ._processes import execute_and_keep, with_room_for_processes

try:
    from pydantic_ai import RunContext
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.tools import AgentDepsT
    from pydantic_ai.workspaces import (
        CommandResult,
        FileEntry,
        SupportsCommands,
        SupportsFilesystem,
        SupportsRealpath,
        WorkspaceBackend,
        WorkspaceCommand,
        WorkspaceError,
        WorkspaceOutputLimitError,
        WorkspaceRef,
        WorkspaceTimeoutError,
        WorkspaceUnavailableError,
    )
except ImportError as error:
    raise missing_framework("pydantic-ai", error) from error

PROVIDER = "tidebox"
"""The `provider` of the references of sandboxes."""

NO_TIMEOUT = 365 * 86400.0
"""Seconds of a command without a timeout: every command of a sandbox has a limit, and Pydantic AI wants none."""

_KILLED = (137, 143)
"""Exit codes of a command that closing the sandbox ended, by SIGKILL or SIGTERM."""

_CHECKS = 5
_CHECK_INTERVAL = 0.05
"""Seconds between two checks whether a sandbox is being closed."""

PREVIEW_BYTES = 64 << 10
"""Bytes of each output stream that `WorkspaceOutputLimitError` has."""


class TideboxSandboxBackend(WorkspaceBackend, SupportsCommands, SupportsFilesystem, SupportsRealpath):
    """A sandbox as a workspace backend. Creating the object creates no sandbox; the first operation does.

    Processes that a command leaves, by `setsid` or `&`, live until they end or the sandbox does. They end with their
    command in a deterministic sandbox and at a cloud provider, which cannot keep them.
    """

    def __init__(
        self,
        sandbox: AsyncSandbox | Sandbox | None = None,
        *,
        provider: AsyncProvider | Provider | None = None,
        ref: WorkspaceRef | None = None,
        env: Mapping[str, str] | None = None,
        command_timeout: float | None = None,
    ) -> None:
        """Uses a sandbox, or one that a provider creates or has.

        Args:
            sandbox: A sandbox to use. It must have the dialect `"python"`, the default. The limits `background_*` of
                `Limits` apply to all commands, because each can leave processes. Sandboxes that are created here have
                higher ones.
            provider: Creates the sandbox, or has the one that `ref` names. By default a new local provider.
            ref: The sandbox of the provider to attach to. A missing one is an error and is not created.
            env: Environment variables of all commands.
            command_timeout: Seconds of a command without a timeout. By default it is not limited.

        Raises:
            TypeError: Both a sandbox and a provider or a reference are passed.
            ValueError: The reference is one of another provider, or the timeout is not positive and finite.
        """
        if sandbox is not None and (provider is not None or ref is not None):
            raise TypeError("pass either a sandbox, or a provider and ref")
        if ref is not None and provider is None:
            raise TypeError("ref needs the provider that has the sandbox")
        if ref is not None and ref.provider != PROVIDER:
            raise ValueError(f"ref.provider must be {PROVIDER!r}, not {ref.provider!r}")
        _check_timeout(command_timeout)
        self._sandbox: AsyncSandbox | None = None if sandbox is None else _asynchronous(sandbox)
        self._provider = None if provider is None else _asynchronous_provider(provider)
        self._ref = WorkspaceRef(provider=PROVIDER, id=sandbox.id) if sandbox is not None else ref
        self._env = dict(env or {})
        self._command_timeout = command_timeout
        self._opening: asyncio.Task[AsyncSandbox] | None = None
        self._working_dir: str | None = None

    @property
    def ref(self) -> WorkspaceRef | None:
        """Provider `"tidebox"` and the id of the sandbox; None until it is created."""
        return self._ref

    async def sandbox(self) -> AsyncSandbox:
        """Returns the sandbox, which is created or attached to if it was not used before.

        Raises:
            WorkspaceUnavailableError: No sandbox has the id of the reference.
        """
        if self._sandbox is not None:
            return self._sandbox
        # One task serves all first operations. It is shielded, so that a cancelled caller does not lose the sandbox.
        if self._opening is None or self._opening.get_loop() is not asyncio.get_running_loop():
            self._opening = asyncio.ensure_future(self._open())
        opening = self._opening
        try:
            with _unavailable():
                return await asyncio.shield(opening)
        finally:
            if opening.done() and self._opening is opening:
                self._opening = None

    async def _open(self) -> AsyncSandbox:
        if self._provider is None:
            self._provider = AsyncProvider(sandbox=_with_room_for_processes(None))
        self._sandbox = await self._provider.get_or_create(id=None if self._ref is None else self._ref.id)
        self._ref = self._ref or WorkspaceRef(provider=PROVIDER, id=self._sandbox.id)
        return self._sandbox

    async def destroy(self) -> None:
        """Deletes the sandbox. Deleting a missing one is not an error."""
        if self._provider is not None and self._ref is not None:
            await self._provider.delete(self._ref.id)
        elif self._sandbox is not None:
            await self._sandbox.close()

    async def working_dir(self) -> str:
        """Returns the working directory as an absolute path without symbolic links."""
        sandbox = await self.sandbox()
        if self._working_dir is None:
            with _unavailable():
                self._working_dir = await _files.real_path(sandbox, sandbox.cwd)
        return self._working_dir

    async def run(
        self,
        command: WorkspaceCommand,
        *,
        shell: bool = False,
        env: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> CommandResult:
        """Runs a program with arguments, or a command line in `bash` if `shell` is True. Standard input is empty.

        Processes that the command leaves live on. A timeout, or cancelling the task, stops the command with all
        processes that it started. Those of earlier commands live on.

        Args:
            command: A program and its arguments, or a command line.
            shell: Whether the command is a command line.
            env: Environment variables of this command.
            timeout: Seconds after which the command is stopped.

        Raises:
            TypeError: The type of the command does not agree with `shell`.
            ValueError: The list is empty, or the timeout is not positive and finite.
            WorkspaceTimeoutError: The command was stopped after the timeout.
            WorkspaceOutputLimitError: The command was stopped because its output exceeds `Limits.output_bytes`.
            WorkspaceUnavailableError: The sandbox does not exist, or was closed while the command ran.
        """
        _check_timeout(timeout)
        if isinstance(command, str) != shell:
            raise TypeError("a str needs shell=True, and a sequence of arguments needs shell=False")
        sandbox = await self.sandbox()
        limit = timeout or self._command_timeout or NO_TIMEOUT
        with _unavailable():
            result = await execute_and_keep(
                sandbox, command, env={**self._env, **(env or {})}, timeout=limit, on_overflow="stop"
            )
            if result.exit_code in _KILLED:
                await self._check_open(sandbox)
        return _completed(result, limit)

    async def _check_open(self, sandbox: AsyncSandbox) -> None:
        """Raises the error of a closed sandbox, also if it is being closed, which first ends the commands by a signal."""
        for _ in range(_CHECKS):
            await sandbox.ls("/")
            await asyncio.sleep(_CHECK_INTERVAL)

    async def read_bytes(self, path: str) -> bytes:
        """Reads a whole file. A file that is not regular is an `OSError`."""
        sandbox = await self._at(path)
        with _unavailable():
            return await _files.read_bytes(sandbox, path)

    async def write_bytes(self, path: str, data: bytes) -> None:
        """Creates or replaces a file, or the target of a symbolic link, and creates the directories above it."""
        sandbox = await self._at(path)
        with _unavailable():
            await _files.write_bytes(sandbox, path, data)

    async def stat(self, path: str) -> FileEntry:
        """Returns the attributes of a file or directory, following symbolic links. A directory has no size."""
        sandbox = await self._at(path)
        with _unavailable():
            return _entry(path, await _files.stat(sandbox, path))

    async def list_dir(self, path: str) -> Sequence[FileEntry]:
        """Lists a directory in the order of names. Attributes are those of the targets of symbolic links."""
        sandbox = await self._at(path)
        with _unavailable():
            found = await sandbox.ls(os.fsencode(path))
            links = [entry.path for entry in found if entry.kind == "symlink"]
            targets = await _files.stat_reachable(sandbox, links)
        return [
            _entry(entry.path, targets[entry.path])
            if entry.path in targets
            else FileEntry(name=posixpath.basename(entry.path), path=entry.path, is_dir=entry.is_dir, size=entry.size)
            for entry in found
        ]

    async def make_dir(self, path: str) -> None:
        """Creates a directory, and the directories above it. An existing directory is not an error."""
        sandbox = await self._at(path)
        with _unavailable():
            await _files.make_directories(sandbox, path)

    async def remove(self, path: str) -> None:
        """Removes a file, a directory with its content, or a symbolic link itself.

        Raises:
            ValueError: The path is the working directory, or a directory above it.
        """
        sandbox = await self._at(path)
        working_dir = await self.working_dir()
        with _unavailable():
            removed = await _unresolved_name(sandbox, path)
            if removed == "/" or working_dir == removed or working_dir.startswith(f"{removed}/"):
                raise ValueError("cannot remove the working directory, or a directory above it")
            await sandbox.delete(os.fsencode(path))

    async def exists(self, path: str) -> bool:
        """Returns whether a file or directory exists, following symbolic links."""
        try:
            await self.stat(path)
        except OSError as error:
            if isinstance(error, PermissionError):
                raise
            return False
        return True

    async def realpath(self, path: str) -> str:
        """Resolves symbolic links like `os.path.realpath`. A loop of links is an `OSError`."""
        sandbox = await self._at(path)
        with _unavailable():
            return await _files.real_path(sandbox, path)

    async def _at(self, path: str) -> AsyncSandbox:
        """Checks a path, and returns the sandbox."""
        if not posixpath.isabs(path):
            raise ValueError(f"path must be absolute, not {path!r}")
        if "\0" in path:
            raise ValueError(f"path must not have a NUL byte: {path!r}")
        return await self.sandbox()

    def __repr__(self) -> str:
        return f"TideboxSandboxBackend(ref={self._ref!r})"


@dataclass
class TideboxSandbox(AbstractCapability[AgentDepsT]):
    """Gives each run of an agent a sandbox, and continues in the sandbox of a message history.

    A sandbox lives until `destroy`, or until the idle timeout of the provider. Sandboxes of the default provider end
    with the process; use `Provider(save_in=...)` to keep them.
    """

    options: SandboxOptions | None = None
    """Options of new sandboxes: files, limits, mounts, network. Only without `provider`."""

    _: KW_ONLY

    provider: AsyncProvider | Provider | None = None
    """Creates and has the sandboxes. By default a new local provider."""

    env: Mapping[str, str] | None = None
    """Environment variables of all commands."""

    command_timeout: float | None = None
    """Seconds of a command without a timeout. By default it is not limited."""

    id: str | None = "tidebox_sandbox"
    """Id of the capability; pass distinct ids to have more than one."""

    _provider: AsyncProvider = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.options is not None and self.provider is not None:
            raise TypeError("pass either options or provider")
        _check_timeout(self.command_timeout)
        self._provider = (
            AsyncProvider(sandbox=_with_room_for_processes(self.options))
            if self.provider is None
            else _asynchronous_provider(self.provider)
        )

    @classmethod
    def combine(cls, capabilities: Sequence[AbstractCapability[AgentDepsT]]) -> AbstractCapability[AgentDepsT]:
        """Returns the last capability: it replaces earlier ones with the same id as a whole."""
        return capabilities[-1]

    def get_workspace(self, ctx: RunContext[AgentDepsT], *, ref: WorkspaceRef | None) -> WorkspaceBackend | None:
        """Returns the backend of a run, or None for a reference of another provider."""
        if ref is not None and ref.provider != PROVIDER:
            return None
        return self.backend(ref)

    def backend(self, ref: WorkspaceRef | None = None) -> TideboxSandboxBackend:
        """Returns the backend of the sandbox that `ref` names, or of a new one."""
        return TideboxSandboxBackend(
            provider=self._provider, ref=ref, env=self.env, command_timeout=self.command_timeout
        )

    async def destroy(self, ref: WorkspaceRef) -> None:
        """Deletes the sandbox that `ref` names. Deleting a missing one is not an error."""
        await self.backend(ref).destroy()


def _asynchronous(sandbox: AsyncSandbox | Sandbox) -> AsyncSandbox:
    return sandbox if isinstance(sandbox, AsyncSandbox) else AsyncSandbox._of(sandbox._native)


def _asynchronous_provider(provider: AsyncProvider | Provider) -> AsyncProvider:
    if isinstance(provider, AsyncProvider):
        return provider
    made = AsyncProvider.__new__(AsyncProvider)
    made._native = provider._native
    return made


def _with_room_for_processes(options: SandboxOptions | None) -> SandboxOptions:
    options = options or SandboxOptions()
    return replace(options, limits=with_room_for_processes(options.limits))


def _check_timeout(timeout: float | None) -> None:
    if timeout is not None and (not isinstance(timeout, (int, float)) or not math.isfinite(timeout) or timeout <= 0):
        raise ValueError(f"timeout must be a positive finite number of seconds or None, not {timeout!r}")


@contextmanager
def _unavailable() -> Iterator[None]:
    """Converts the errors of a missing or closed sandbox. Other errors propagate, so that durable engines retry."""
    try:
        yield
    except _native.SandboxError as error:
        if getattr(error, "kind", None) in ("closed", "sandbox_not_found"):
            raise WorkspaceUnavailableError(str(error)) from error
        raise


def _completed(result: Any, timeout: float) -> CommandResult:
    if result.stopped_by == "cancelled":
        raise WorkspaceUnavailableError("the sandbox was closed while the command ran")
    if result.stopped_by == "timeout":
        raise WorkspaceTimeoutError(
            f"the command was stopped after {timeout:g} s", stdout=result.stdout, stderr=result.stderr
        )
    if result.stopped_by == "output" or result.truncated:
        raise WorkspaceOutputLimitError(
            "the command was stopped because its output exceeds Limits.output_bytes; write it to a file instead",
            limit=_output_limit(result),
            stdout=result.stdout_bytes[:PREVIEW_BYTES].decode("utf-8", "replace"),
            stderr=result.stderr_bytes[:PREVIEW_BYTES].decode("utf-8", "replace"),
        )
    if result.exit_code is None:
        raise WorkspaceError("the provider returned no exit code of the command")
    return CommandResult(exit_code=result.exit_code, stdout=result.stdout, stderr=result.stderr)


def _output_limit(result: Any) -> int:
    """Returns the limit that the message of Tidebox names, or the size of the output of a provider without one."""
    named = re.search(r"wrote more than (\d+) bytes", result.stderr)
    return int(named[1]) if named else len(result.stdout_bytes) + len(result.stderr_bytes)


def _entry(path: str, attributes: _files.Attributes) -> FileEntry:
    name = posixpath.basename(posixpath.normpath(path))
    return FileEntry(
        name=name, path=path, is_dir=attributes.is_dir, size=attributes.size if attributes.is_regular else None
    )


async def _unresolved_name(sandbox: AsyncSandbox, path: str) -> str:
    """Resolves the symbolic links of the directories above a name, and not the name, which may be a link."""
    parent, name = posixpath.split(path.rstrip("/"))
    if name in ("", ".", ".."):
        return await _files.real_path(sandbox, path)
    return posixpath.join(await _files.real_path(sandbox, parent), name)
