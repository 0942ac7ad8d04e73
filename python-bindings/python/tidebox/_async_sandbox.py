"""The sandbox for asyncio."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

from ._native import (
    ExecuteResult,
    FileInfo,
    GlobResult,
    GrepResult,
    NativeExposedPort,
    NativePortEndpoint,
    NativeStream,
    OutputChunk,
    ProcessStatus,
    ReadResult,
    TransferResult,
    engine_started,
)
from ._options import Command, Content, Overflow, Path, ShellMode
from ._port import ExposedPort, PortEndpoint
from ._process import AsyncProcess
from ._python_session import AsyncPythonSession
from ._sandbox import Decoder, SandboxBase, command_arguments, spawn_arguments

if TYPE_CHECKING:
    import asyncio


class AsyncSandbox(SandboxBase):
    """A sandbox for asyncio: the methods of `Sandbox`, to be awaited. Nothing blocks the event loop.

    Sandboxes run on threads of Tidebox, so one event loop can use thousands of them. Cancelling a task stops its command.

    The first sandbox of a process, and one with `seed_dir` or `tar`, is created on another thread. The first awaited operation
    waits for it, and raises the exceptions of its options. `snapshot`, `restore`, `diff` and `fork` block until it exists, so
    await an operation before them.
    """

    @staticmethod
    def _is_deferred(options: Mapping[str, Any]) -> bool:
        return not engine_started() or options["seed_dir"] is not None or options["tar"] is not None

    def _loop(self) -> asyncio.AbstractEventLoop | None:
        # asyncio takes longer to import than tidebox. A program with a running loop has imported it.
        if "asyncio" not in sys.modules:
            return None
        import asyncio

        try:
            return asyncio.get_running_loop()
        except RuntimeError:
            return None

    async def execute(
        self,
        command: Command,
        *,
        stdin: Content | None = None,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float | None = None,
        on_overflow: Overflow = "head",
        shell: ShellMode | None = None,
        background: bool = False,
    ) -> ExecuteResult:
        """Runs a command and waits for its end. Arguments and exceptions are those of `Sandbox.execute`."""
        arguments = command_arguments(command, stdin, cwd, env, timeout, on_overflow, shell, background)
        return await cast("Awaitable[ExecuteResult]", self._native.execute(*arguments, True))

    def execute_streaming(
        self,
        command: Command,
        *,
        stdin: Content | None = None,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float | None = None,
        on_overflow: Overflow = "head",
        shell: ShellMode | None = None,
        background: bool = False,
    ) -> AsyncRunningCommand:
        """Starts a command whose output can be iterated over while it runs.

            async with sandbox.execute_streaming("make test") as running:
                async for chunk in running:
                    print(chunk.data)
            print((await running.result()).exit_code)

        Leaving the block stops the command. Arguments and exceptions are those of `Sandbox.execute`.
        """
        return AsyncRunningCommand(
            self._native.start(*command_arguments(command, stdin, cwd, env, timeout, on_overflow, shell, background))
        )

    async def spawn(
        self,
        command: Command,
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        stdin: bool = False,
        terminal: tuple[int, int] | None = None,
        timeout: float | None = None,
        tag: str | None = None,
    ) -> AsyncProcess:
        """Starts a process that outlives this call. Arguments and exceptions are those of `Sandbox.spawn`."""
        arguments = spawn_arguments(command, cwd, env, stdin, terminal, timeout, tag)
        return self.process(await cast("Awaitable[str]", self._native.processes.spawn(*arguments, True)))

    def process(self, id: str) -> AsyncProcess:
        """Returns the process with this id."""
        return AsyncProcess(self._native.processes, id)

    async def processes(self) -> list[ProcessStatus]:
        """Lists the processes that `spawn` started, and those that a command left. Ended ones are listed for a while."""
        return await cast("Awaitable[list[ProcessStatus]]", self._native.processes.list(True))

    async def ports(self) -> list[int]:
        """Lists the ports at which programs of the sandbox listen. Like `Sandbox.ports`."""
        return await cast("Awaitable[list[int]]", self._native.ports.list(True))

    async def wait_for_port(self, port: int, timeout: float = 30.0) -> None:
        """Waits until a program of the sandbox listens at a port. Like `Sandbox.wait_for_port`."""
        await cast("Awaitable[None]", self._native.ports.wait_for(port, timeout, True))

    async def expose(self, port: int) -> ExposedPort:
        """Forwards a free port of the host's 127.0.0.1 to a port of the sandbox. Like `Sandbox.expose`."""
        return ExposedPort(await cast("Awaitable[NativeExposedPort]", self._native.ports.expose(port, True)))

    async def port_endpoint(self, port: int) -> PortEndpoint:
        """Returns the address at which clients outside the sandbox reach a port. Like `Sandbox.port_endpoint`."""
        native = self._native.processes.port_endpoint(port, True)
        return PortEndpoint(await cast("Awaitable[NativePortEndpoint]", native))

    async def ls(self, path: Path = ".") -> list[FileInfo]:
        """Lists a directory. Like `Sandbox.ls`."""
        return await cast("Awaitable[list[FileInfo]]", self._native.ls(path, True))

    async def read(self, path: Path, *, offset: int = 0, limit: int | None = None) -> ReadResult:
        """Reads lines of a text file, or a whole file that is not text. Like `Sandbox.read`."""
        return await cast("Awaitable[ReadResult]", self._native.read(path, offset, limit, True))

    async def write(self, path: Path, content: Content) -> None:
        """Creates or replaces a file. Like `Sandbox.write`."""
        await cast("Awaitable[None]", self._native.write(path, content, True))

    async def edit(self, path: Path, old: str, new: str, *, replace_all: bool = False) -> int:
        """Replaces a string. Returns the number of replacements. Like `Sandbox.edit`."""
        return await cast("Awaitable[int]", self._native.edit(path, old, new, replace_all, True))

    async def delete(self, path: Path) -> None:
        """Removes a file, or a directory with its content. Like `Sandbox.delete`."""
        await cast("Awaitable[None]", self._native.delete(path, True))

    async def grep(
        self, pattern: Content, path: Path = ".", *, glob: str | None = None, max_count: int | None = None
    ) -> GrepResult:
        """Finds lines that contain a text. Like `Sandbox.grep`."""
        return await cast("Awaitable[GrepResult]", self._native.grep(pattern, path, glob, max_count, True))

    async def glob(self, pattern: str, path: Path = ".") -> GlobResult:
        """Finds files by a pattern. Like `Sandbox.glob`."""
        return await cast("Awaitable[GlobResult]", self._native.glob(pattern, path, True))

    async def upload_files(self, files: Sequence[tuple[Path, Content]]) -> list[TransferResult]:
        """Writes files. Like `Sandbox.upload_files`."""
        return await cast("Awaitable[list[TransferResult]]", self._native.upload_files(list(files), True))

    async def download_files(self, paths: Sequence[Path]) -> list[TransferResult]:
        """Reads whole files. Like `Sandbox.download_files`."""
        return await cast("Awaitable[list[TransferResult]]", self._native.download_files(list(paths), True))

    def python_session(self) -> AsyncPythonSession:
        """Starts a Python interpreter that keeps its variables. Like `Sandbox.python_session`. It never waits: the first
        call of the session does."""
        return AsyncPythonSession(self._native.python_session())

    async def resume_python_session(self, saved: bytes) -> AsyncPythonSession:
        """Continues a saved session. Like `Sandbox.resume_python_session`."""
        return AsyncPythonSession(await self._native.resume_python_session(saved, True))

    def fork(self) -> AsyncSandbox:
        """Returns an independent sandbox with the same files, options and tools. It copies no file."""
        return AsyncSandbox._of(self._native.fork())

    async def close(self) -> None:
        """Stops running commands and frees the files. Closing twice is not an error."""
        await cast("Awaitable[None]", self._native.close(True))

    async def __aenter__(self) -> AsyncSandbox:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class AsyncRunningCommand:
    """A command that runs. Iterating yields its output as it is written."""

    def __init__(self, native: NativeStream) -> None:
        self._native = native
        self._result: ExecuteResult | None = None

    async def __aiter__(self) -> AsyncIterator[OutputChunk]:
        while (chunk := await cast("Awaitable[OutputChunk | None]", self._native.next(True))) is not None:
            yield chunk

    async def text(self) -> AsyncIterator[str]:
        """Yields standard output and standard error as text, in the order of arrival. No piece ends within a character."""
        decode = Decoder()
        async for chunk in self:
            if piece := decode(chunk):
                yield piece
        if piece := decode.rest():
            yield piece

    async def result(self) -> ExecuteResult:
        """Waits for the end of the command.

        Raises:
            ValueError: The command was stopped by `close`.
        """
        if self._result is None:
            self._result = await cast("Awaitable[ExecuteResult]", self._native.result(True))
        return self._result

    def close(self) -> None:
        """Stops the command if it still runs."""
        self._native.stop()

    async def __aenter__(self) -> AsyncRunningCommand:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"AsyncRunningCommand(result={self._result!r})"
