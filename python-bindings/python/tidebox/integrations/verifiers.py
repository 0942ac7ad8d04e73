"""verifiers: a runtime that an agent borrows.

    from tidebox.integrations.verifiers import TideboxRuntime, provision_runtime

    async with provision_runtime(files={"data.txt": "1"}) as runtime:
        trace = await agent.run(task, runtime=runtime)

verifiers has a fixed list of runtimes, so a configuration file cannot name this one. Its harnesses `bash` and `null`
install `uv` and a chat program in the runtime, which cannot run in a sandbox. Harnesses with their loop in this process
can use it, and so can `setup`, `finalize`, `validate` and the rewards of tasks.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from ._imports import missing_framework

try:
    from verifiers.v1.errors import SandboxError as RuntimeFailure  # type: ignore[import-untyped]
    from verifiers.v1.runtimes import (  # type: ignore[import-untyped]
        ProgramResult,
        Runtime,
        RuntimeProcess,
        SubprocessConfig,
        SubprocessRuntimeInfo,
        register,
    )
except ImportError as error:
    raise missing_framework("verifiers", error) from error

from .._async_sandbox import AsyncSandbox
from .._native import ExecuteResult, SandboxError
from .._port import ExposedPort
from .._process import AsyncProcess

STOPPED_EXIT_CODE = 137
"""Exit code of a command that ended without one."""

_LONG_POLL = 20.0
"""Seconds of one wait for output."""

_LOGGED = 'exec "$@" >"$0" 2>&1'
"""Runs a program whose output goes to a file, the argument 0."""


class TideboxConfig(SubprocessConfig):  # type: ignore[misc]
    """Configuration of a runtime. It has no fields: the sandbox has its options.

    It is one of the subprocess runtime, so that verifiers rejects tasks and harnesses that need a container image.
    """


class TideboxRuntimeInfo(SubprocessRuntimeInfo):  # type: ignore[misc]
    """Record of a runtime in a trace. Its type is `subprocess`: traces with another type cannot be loaded again."""


class TideboxProcess(RuntimeProcess):  # type: ignore[misc]
    """A live process. The sandbox keeps the newest output, `Limits.background_output_bytes` (1 MiB by default)."""

    def __init__(self, process: AsyncProcess) -> None:
        """Uses a process that was started with an open input."""
        self._process = process
        self._polled = 0
        self.stdout: AsyncIterator[bytes] = self._output("stdout")
        self.stderr: AsyncIterator[bytes] = self._output("stderr")

    async def _output(self, stream: str) -> AsyncIterator[bytes]:
        after = 0
        while True:
            try:
                page = await self._process.read(after, wait=_LONG_POLL)
            except (SandboxError, ValueError) as error:
                raise RuntimeFailure(f"cannot read the output of process {self._process.id}: {error}") from error
            if page.dropped:
                raise RuntimeFailure(
                    f"{page.dropped} bytes of the output of process {self._process.id} were dropped, because it was "
                    "read too slowly; raise Limits.background_output_bytes"
                )
            after = page.next
            for chunk in page.chunks:
                if chunk.stream == stream:
                    yield chunk.data
            if not page.running and not page.chunks:
                return

    async def write(self, data: bytes) -> None:
        """Writes to standard input, waiting while the pipe is full.

        Raises:
            SandboxError: The process has ended. This is the exception of verifiers.
        """
        try:
            await self._process.write(data)
        except (SandboxError, ValueError) as error:
            raise RuntimeFailure(f"cannot write to process {self._process.id}: {error}") from error

    async def wait(self) -> int:
        """Waits for the end, and returns the exit code; 128 + n after signal n."""
        code = await self._process.wait()
        return STOPPED_EXIT_CODE if code is None else code

    async def poll(self) -> int | None:
        """Returns the exit code, or None if the process runs."""
        while True:
            # Only the last page of the output has the exit code.
            page = await self._process.read(self._polled)
            self._polled = page.next
            if not page.running:
                return STOPPED_EXIT_CODE if page.exit_code is None else page.exit_code
            if not page.chunks:
                return None

    async def terminate(self) -> None:
        """Sends SIGTERM to the process and its children. Nothing happens if it has ended."""
        await self._signal("TERM")

    async def kill(self) -> None:
        """Kills the process and its children. Nothing happens if it has ended."""
        await self._signal("KILL")

    async def _signal(self, signal: str) -> None:
        with suppress(SandboxError, ValueError):
            await self._process.signal(signal)


class TideboxRuntime(Runtime):  # type: ignore[misc]
    """A sandbox of this process as a runtime."""

    def __init__(self, sandbox: AsyncSandbox | None = None, *, name: str | None = None, **options: Any) -> None:
        """Uses a sandbox, or creates one.

        Args:
            sandbox: A sandbox to use. It stays open when the runtime stops.
            name: Name of the runtime; a random one by default.
            options: Options of a new `AsyncSandbox`, which is created by `start`.
        """
        if sandbox is not None and options:
            raise TypeError("pass either a sandbox or options of a new one")
        super().__init__(name)
        self.config = TideboxConfig()
        self.info = TideboxRuntimeInfo()
        self._options = options
        self._owns_sandbox = sandbox is None
        self._sandbox = sandbox
        self._started: list[str] = []
        self._exposed: dict[int, ExposedPort] = {}
        register(self)

    @property
    def sandbox(self) -> AsyncSandbox:
        """The sandbox.

        Raises:
            SandboxError: The runtime is not started, or is stopped. This is the exception of verifiers.
        """
        if self._sandbox is None:
            raise RuntimeFailure(f"runtime {self.name!r} is not running; call start() first")
        return self._sandbox

    async def start(self) -> None:
        """Creates the sandbox unless there is one."""
        if self.stopped:
            raise RuntimeFailure(f"runtime {self.name!r} was stopped; create another one")
        if self._sandbox is None:
            try:
                self._sandbox = AsyncSandbox(**self._options)
            except SandboxError as error:
                raise RuntimeFailure(f"cannot create the sandbox: {error}") from error
        self.info.id = f"tidebox:{self._sandbox.id}"

    def cleanup(self) -> None:
        """Closes the sandbox if this runtime created it, else ends the processes that this runtime started.

        Calling it twice is not an error.
        """
        sandbox, self._sandbox = self._sandbox, None
        for exposed in self._exposed.values():
            exposed.close()
        self._exposed.clear()
        if sandbox is None:
            return
        if self._owns_sandbox:
            sandbox._native.close(False)
            return
        for id in self._started:
            with suppress(SandboxError, ValueError):
                sandbox._native.processes.signal(id, "KILL", False)

    async def run(self, argv: list[str], env: dict[str, str]) -> ProgramResult:
        """Runs a program in the working directory of the sandbox. Cancelling the task stops it with all its children.

        Returns:
            Exit code and output. Bytes that are not UTF-8 become U+FFFD. The exit code is 127 for a missing program,
            and 124 at the time limit of the sandbox.

        Raises:
            SandboxError: The sandbox is closed. This is the exception of verifiers.
        """
        result = await self._execute(argv, env)
        code = STOPPED_EXIT_CODE if result.exit_code is None else result.exit_code
        return ProgramResult(exit_code=code, stdout=result.stdout, stderr=result.stderr)

    async def _execute(self, argv: list[str], env: dict[str, str]) -> ExecuteResult:
        try:
            return await self.sandbox.execute(argv, env=self.process_env(env))
        except (SandboxError, ValueError) as error:
            raise RuntimeFailure(f"cannot run {argv[:1]}: {error}") from error

    async def _read(self, path: str, max_bytes: int | None = None) -> bytes:
        if max_bytes is not None:
            # The sandbox reads no more than that, where a download reads the whole file.
            result = await self._execute(["head", "-c", str(max_bytes), "--", path], {})
            if not result.ok:
                raise RuntimeFailure(f"read {path!r}: {result.stderr.strip()}")
            if not result.truncated:
                return result.stdout_bytes
        [file] = await self.sandbox.download_files([self._absolute(path)])
        if file.content is None:
            raise RuntimeFailure(f"read {path!r}: {file.message}")
        return file.content[:max_bytes]

    async def write(self, path: str, data: bytes) -> None:
        """Creates or replaces a file, and the directories above it.

        Raises:
            SandboxError: The file cannot be written. This is the exception of verifiers.
        """
        try:
            await self.sandbox.write(path, data)
        except (OSError, SandboxError, ValueError) as error:
            raise RuntimeFailure(f"write {path!r}: {error}") from error

    async def open_process(self, argv: list[str], env: dict[str, str]) -> TideboxProcess:
        """Starts a process with an open input, in the working directory. It lives until the runtime stops.

        Raises:
            SandboxError: The program cannot be started, or the sandbox has too many processes, is deterministic or
                closed. This is the exception of verifiers.
        """
        return TideboxProcess(await self._spawn(argv, env, stdin=True))

    async def run_background(self, argv: list[str], env: dict[str, str], log: str) -> None:
        """Starts a process whose output goes to a file, and does not wait for it. It lives until the runtime stops.

        Args:
            argv: The program and its arguments. A missing program is reported in the file.
            env: Its environment variables.
            log: Path of the file; a relative one starts at the working directory of the sandbox.

        Raises:
            SandboxError: The sandbox has too many processes, is deterministic or closed. This is the exception of
                verifiers.
        """
        await self._spawn(["sh", "-c", _LOGGED, log, *argv], env, stdin=False)

    async def _spawn(self, argv: list[str], env: dict[str, str], *, stdin: bool) -> AsyncProcess:
        try:
            process = await self.sandbox.spawn(argv, env=self.process_env(env), stdin=stdin)
        except (SandboxError, ValueError) as error:
            raise RuntimeFailure(f"cannot start {argv[:1]}: {error}") from error
        self._started.append(process.id)
        return process

    async def expose(self, port: int) -> str:
        """Makes a port of the sandbox available at 127.0.0.1 of the host until the runtime stops. Returns the URL.

        Raises:
            SandboxError: The host has no free port, or the sandbox is closed. This is the exception of verifiers.
        """
        exposed = self._exposed.get(port)
        if exposed is None:
            try:
                exposed = self._exposed.setdefault(port, await self.sandbox.expose(port))
            except (SandboxError, ValueError) as error:
                raise RuntimeFailure(f"cannot expose port {port}: {error}") from error
        return exposed.url

    def _absolute(self, path: str) -> str:
        return path if path.startswith("/") else f"{self.sandbox.cwd}/{path}"


@asynccontextmanager
async def provision_runtime(name: str | None = None, **options: Any) -> AsyncIterator[TideboxRuntime]:
    """Starts a runtime with a new sandbox, and stops it at the end.

    Args:
        name: Name of the runtime; a random one by default.
        options: Options of the `AsyncSandbox`.
    """
    runtime = TideboxRuntime(name=name, **options)
    try:
        await runtime.start()
        yield runtime
    finally:
        await runtime.stop()
