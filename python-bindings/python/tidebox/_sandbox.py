"""The sandbox whose methods wait."""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from types import TracebackType
from typing import Any, TypeVar, cast, overload

from ._native import (
    Change,
    ExecuteResult,
    FileInfo,
    GlobResult,
    GrepResult,
    NativeExposedPort,
    NativePortEndpoint,
    NativeSandbox,
    NativeStream,
    OutputChunk,
    ProcessStatus,
    ReadResult,
    SandboxError,
    Snapshot,
    TransferResult,
)
from ._options import Command, CommandOptions, Content, Dialect, Limits, Mount, NetworkPolicy, Overflow, Path, ShellMode, native_options
from ._port import ExposedPort, PortEndpoint
from ._process import Process
from ._python_session import PythonSession
from ._tools import NativeTool, Tool

_Tool = TypeVar("_Tool", bound=Tool)
_Self = TypeVar("_Self", bound="SandboxBase")


class SandboxBase:
    """What `Sandbox` and `AsyncSandbox` have in common: creation, tools and the calls that never wait."""

    def __init__(
        self,
        *,
        files: Mapping[str, Content] | None = None,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        limits: Limits | None = None,
        mounts: Sequence[Mount] = (),
        seed_dir: str | PathLike[str] | None = None,
        tar: bytes | None = None,
        network: NetworkPolicy | None = None,
        pip: bool = False,
        shell: ShellMode = "fresh",
        seed: int | None = None,
        time: float | None = None,
        hostname: str | None = None,
        id: str | None = None,
        snapshot: Snapshot | None = None,
        tools: Mapping[str, Tool] | None = None,
        dialect: Dialect = "python",
    ) -> None:
        """Creates a sandbox.

        Args:
            files: Files by their paths; relative ones are below `cwd`.
            env: Environment variables of all commands.
            cwd: Working directory, `/workspace` by default.
            limits: Limits of time, memory, files and output.
            mounts: Directories of the host.
            seed_dir: A directory of the host whose content is copied to `cwd`.
            tar: A tar archive, unpacked at `/`.
            network: Hosts that may be reached; without it none.
            pip: Installs Python packages with `pip install`, through the host.
            shell: `"persistent"` keeps variables, functions and the directory between commands.
            seed: Makes the sandbox deterministic: randomness comes from the seed, and the clock stands still during a command.
            time: Start of the clock of a deterministic sandbox in seconds since 1970.
            hostname: Name of the host that the sandbox sees.
            id: Its id; a random one by default.
            snapshot: Files to start with.
            tools: Python functions that are commands; see `tool`.
            dialect: Rules of the file operations where agent frameworks differ, such as whether `write` replaces a file.

        Raises:
            SandboxError: The engine cannot start, or a limit is too small for the files.
            ValueError: An option is invalid.
        """
        self._options: dict[str, Any] = {
            "files": files, "env": env, "cwd": cwd, "limits": limits, "mounts": mounts, "seed_dir": seed_dir, "tar": tar,
            "network": network, "pip": pip, "shell": shell, "seed": seed, "time": time, "hostname": hostname, "id": id, "dialect": dialect,
        }  # fmt: skip
        self._snapshot = snapshot
        self._tools: dict[str, Tool] = dict(tools or {})
        self._used = False
        self._current = self._build()

    @staticmethod
    def _is_deferred(options: Mapping[str, Any]) -> bool:
        """Returns whether the sandbox is created on another thread, and its operations wait for it."""
        return False

    def _loop(self) -> Any:
        """Returns the event loop for tools that are coroutines."""
        return None

    def _build(self) -> NativeSandbox:
        loop = self._loop()
        tools = [(name, NativeTool(function, loop)) for name, function in self._tools.items()]
        options = native_options(**self._options, tools=tools)
        if self._is_deferred(options):
            if options["id"] is None and options["seed"] is None:
                options["id"] = f"sb-{os.urandom(16).hex()}"
            return NativeSandbox.create_deferred(options, self._snapshot)
        if self._snapshot is not None:
            return NativeSandbox.create_from(options, self._snapshot)
        return NativeSandbox.create(options)

    @classmethod
    def _of(cls: type[_Self], native: NativeSandbox) -> _Self:
        """Wraps a native sandbox."""
        made = cls.__new__(cls)
        made._options, made._snapshot, made._tools = {}, None, {}
        made._used, made._current = True, native
        return made

    @property
    def _native(self) -> NativeSandbox:
        self._used = True
        return self._current

    @property
    def id(self) -> str:
        """Id of the sandbox."""
        return self._current.id

    @property
    def cwd(self) -> str:
        """Working directory, the base of relative paths."""
        return self._current.cwd

    @overload
    def tool(self, function: _Tool) -> _Tool: ...
    @overload
    def tool(self, *, name: str) -> Callable[[_Tool], _Tool]: ...
    def tool(self, function: Tool | None = None, *, name: str | None = None) -> Any:
        """Makes a function a command of the sandbox. It runs in this process, with all its rights.

            @sandbox.tool
            def lookup(call: ToolCall) -> str:
                return f"{call.arguments[0]}: 42\\n"

            sandbox.execute("lookup answer | cut -d: -f2")

        The function gets a `ToolCall`, whose content is chosen by the author of the command. It returns what the command
        prints (`str` or `bytes`), a `ToolResult`, or None. An exception is printed to standard error, with exit code 1. It
        may be a coroutine function.

        Raises:
            SandboxError: The sandbox was used already. Add tools first.
        """
        if function is None:
            return lambda decorated: self._add_tool(decorated, name)
        return self._add_tool(function, name)

    def _add_tool(self, function: _Tool, name: str | None) -> _Tool:
        if self._used:
            raise SandboxError("tools must be added before the sandbox is used; pass them as `tools` when it is created")
        self._tools[name or cast(Any, function).__name__] = function
        self._current = self._build()
        return function

    def snapshot(self) -> Snapshot:
        """Returns the files, and the state of a persistent shell. It copies nothing, so it takes microseconds.

        Raises:
            SandboxError: The sandbox is closed, or is one of a provider.
        """
        return self._native.snapshot()

    def restore(self, snapshot: Snapshot) -> None:
        """Sets the files, and the state of a persistent shell, to those of a snapshot. Running commands are stopped.

        Raises:
            SandboxError: The sandbox is closed, or is one of a provider.
        """
        self._native.restore(snapshot)

    def diff(self, before: Snapshot) -> list[Change]:
        """Returns the changes since a snapshot, in the order of paths."""
        return self._native.snapshot().changes_since(before)

    @staticmethod
    def load_snapshot(data: bytes) -> Snapshot:
        """Reads a snapshot that `Snapshot.to_bytes` returned.

        Raises:
            SandboxError: The bytes are not a snapshot, or were written by another version.
        """
        return NativeSandbox.load_snapshot(data)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(id={self.id!r})"


class Sandbox(SandboxBase):
    """A sandbox. Methods wait for the result without the GIL, so threads can use many sandboxes at once.

    Ctrl-C in a waiting method stops the command.
    """

    def execute(
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
        """Runs a command and waits for its end.

        Args:
            command: A command line for `bash`, or a list of a program and its arguments, which no shell expands.
            stdin: Standard input; without it, it is empty.
            cwd: Working directory of this command.
            env: Environment variables of this command.
            timeout: Seconds after which it is stopped with exit code 124; `Limits.wall_time` by default.
            on_overflow: What happens at `Limits.output_bytes`: `"head"` keeps the first bytes, `"tail"` the last ones, `"stop"`
                stops the command with exit code 137.
            shell: Overrides the mode of the sandbox.
            background: Keeps processes that still run when the command has ended, such as `server &`; `process` of the result is
                their id. By default they are killed.

        Returns:
            Output and exit code. What the command did, failed or was stopped, is a value and never an exception.

        Raises:
            SandboxError: The sandbox is closed, or Tidebox or the provider failed.
            ValueError: An argument is invalid.
        """
        return cast(
            ExecuteResult,
            self._native.execute(*command_arguments(command, stdin, cwd, env, timeout, on_overflow, shell, background), False),
        )

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
    ) -> RunningCommand:
        """Starts a command whose output can be iterated over while it runs. Leaving the loop early stops it.

            with sandbox.execute_streaming("make test") as running:
                for chunk in running:
                    print(chunk.data)
            print(running.result().exit_code)

        Arguments and exceptions are those of `execute`.
        """
        return RunningCommand(
            self._native.start(*command_arguments(command, stdin, cwd, env, timeout, on_overflow, shell, background))
        )

    def spawn(
        self,
        command: Command,
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        stdin: bool = False,
        terminal: tuple[int, int] | None = None,
        timeout: float | None = None,
        tag: str | None = None,
    ) -> Process:
        """Starts a process that outlives this call, such as a server.

        Args:
            command: A command line for `bash`, or a list of a program and its arguments, which no shell expands.
            cwd: Its working directory.
            env: Its environment variables.
            stdin: Keeps standard input open for `Process.write`.
            terminal: Rows and columns of a terminal that is its standard input, output and error, for interactive programs.
                `Process.write` types keys, and all output is in one stream.
            timeout: Seconds after which it is killed; `Limits.background_time` by default.
            tag: While a process with this tag runs, `spawn` returns that process.

        Raises:
            SandboxError: The sandbox has too many processes (`quota_exceeded`), is closed, or has none at all (`unsupported`).
            ValueError: The command cannot be started.
        """
        arguments = spawn_arguments(command, cwd, env, stdin, terminal, timeout, tag)
        return self.process(cast(str, self._native.processes.spawn(*arguments, False)))

    def process(self, id: str) -> Process:
        """Returns the process with this id."""
        return Process(self._native.processes, id)

    def processes(self) -> list[ProcessStatus]:
        """Lists the processes that `spawn` started, and those that a command left. Ended ones are listed for a while."""
        return cast("list[ProcessStatus]", self._native.processes.list(False))

    def ports(self) -> list[int]:
        """Lists the ports at which programs of the sandbox listen.

        Raises:
            SandboxError: It is a sandbox of a provider (`unsupported`), or closed.
        """
        return cast("list[int]", self._native.ports.list(False))

    def wait_for_port(self, port: int, timeout: float = 30.0) -> None:
        """Waits until a program of the sandbox listens at a port.

        Raises:
            SandboxError: None does after `timeout` seconds (`timeout`).
        """
        self._native.ports.wait_for(port, timeout, False)

    def expose(self, port: int) -> ExposedPort:
        """Forwards a free port of the host's 127.0.0.1 to a port of the sandbox. The server may start later.

            sandbox.spawn("python3 -m http.server 8000")
            sandbox.wait_for_port(8000)
            with sandbox.expose(8000) as exposed:
                print(urllib.request.urlopen(exposed.url).status)

        Raises:
            SandboxError: The host has no free port (`unavailable`), or it is a sandbox of a provider (`unsupported`).
            ValueError: `port` is not a number from 1 to 65535.
        """
        return ExposedPort(cast(NativeExposedPort, self._native.ports.expose(port, False)))

    def port_endpoint(self, port: int) -> PortEndpoint:
        """Returns the address at which clients outside the sandbox reach a program that listens at this port. The program may start
        to listen later.

            with sandbox.port_endpoint(8000) as endpoint:
                request = urllib.request.Request(endpoint.url, headers=endpoint.headers)
                print(urllib.request.urlopen(request).status)

        Raises:
            SandboxError: The provider has no such addresses (`unsupported`), or the host has no free port (`unavailable`).
            ValueError: `port` is not a number from 1 to 65535.
        """
        return PortEndpoint(cast(NativePortEndpoint, self._native.processes.port_endpoint(port, False)))

    def ls(self, path: Path = ".") -> list[FileInfo]:
        """Lists a directory, in the order of names.

        Raises:
            FileNotFoundError, NotADirectoryError, PermissionError: The directory cannot be read.
        """
        return cast("list[FileInfo]", self._native.ls(path, False))

    def read(self, path: Path, *, offset: int = 0, limit: int | None = None) -> ReadResult:
        """Reads `limit` lines of a text file after the first `offset`, or a whole file that is not text.

        Raises:
            FileNotFoundError, IsADirectoryError, PermissionError: The file cannot be read.
            FileOperationError: The page starts after the end (`past_end`), or the file is too large (`too_large`).
        """
        return cast(ReadResult, self._native.read(path, offset, limit, False))

    def write(self, path: Path, content: Content) -> None:
        """Creates or replaces a file, and the directories above it.

        Raises:
            IsADirectoryError, PermissionError: The file cannot be written.
            OSError: The files take too much space (`errno.ENOSPC`).
        """
        self._native.write(path, content, False)

    def edit(self, path: Path, old: str, new: str, *, replace_all: bool = False) -> int:
        """Replaces a string that occurs once, or every occurrence with `replace_all`. Returns the number of replacements.

        Raises:
            FileNotFoundError, IsADirectoryError, PermissionError: The file cannot be changed.
            FileOperationError: The string does not occur (`string_not_found`) or not only once (`string_not_unique`).
        """
        return cast(int, self._native.edit(path, old, new, replace_all, False))

    def delete(self, path: Path) -> None:
        """Removes a file, or a directory with its content.

        Raises:
            FileNotFoundError, PermissionError: It cannot be removed.
        """
        self._native.delete(path, False)

    def grep(
        self, pattern: Content, path: Path = ".", *, glob: str | None = None, max_count: int | None = None
    ) -> GrepResult:
        """Finds the lines that contain a text, which is not a regular expression, in a file or below a directory.

        Args:
            pattern: The text.
            path: The file or directory.
            glob: Only files whose names match, such as `*.py`.
            max_count: Lines that are returned at most.
        """
        return cast(GrepResult, self._native.grep(pattern, path, glob, max_count, False))

    def glob(self, pattern: str, path: Path = ".") -> GlobResult:
        """Finds files by a pattern such as `**/*.py` below a directory."""
        return cast(GlobResult, self._native.glob(pattern, path, False))

    def upload_files(self, files: Sequence[tuple[Path, Content]]) -> list[TransferResult]:
        """Writes files at absolute paths. Each has a result of its own, in the same order; none raises."""
        return cast("list[TransferResult]", self._native.upload_files(list(files), False))

    def download_files(self, paths: Sequence[Path]) -> list[TransferResult]:
        """Reads whole files at absolute paths. Each has a result of its own, in the same order; none raises."""
        return cast("list[TransferResult]", self._native.download_files(list(paths), False))

    def python_session(self) -> PythonSession:
        """Starts a Python interpreter that keeps its variables. It needs the pack `python`.

        Raises:
            ValueError: The pack is not installed.
        """
        return PythonSession(self._native.python_session())

    def resume_python_session(self, saved: bytes) -> PythonSession:
        """Continues a session that `PythonSession.save` returned. The files that it had open must be in this sandbox at the same
        paths: save a snapshot with each session, or fork the sandbox. Random numbers differ from those of the original.

        Raises:
            ValueError: An open file is missing, the bytes are no saved session, or they are of another version of the pack.
        """
        return PythonSession(self._native.resume_python_session(saved, False))

    def fork(self) -> Sandbox:
        """Returns an independent sandbox with the same files, options and tools. It copies no file."""
        return Sandbox._of(self._native.fork())

    def close(self) -> None:
        """Stops running commands and frees the files. Closing twice is not an error."""
        self._native.close(False)

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class RunningCommand:
    """A command that runs. Iterating yields its output as it is written."""

    def __init__(self, native: NativeStream) -> None:
        self._native = native
        self._result: ExecuteResult | None = None

    def __iter__(self) -> Iterator[OutputChunk]:
        try:
            while (chunk := cast("OutputChunk | None", self._native.next(False))) is not None:
                yield chunk
        except GeneratorExit:
            self.close()
            raise

    def text(self) -> Iterator[str]:
        """Yields standard output and standard error as text, in the order of arrival. No piece ends within a character."""
        decode = Decoder()
        for chunk in self:
            if piece := decode(chunk):
                yield piece
        if piece := decode.rest():
            yield piece

    def result(self) -> ExecuteResult:
        """Waits for the end of the command.

        Raises:
            ValueError: The command was stopped by `close`.
        """
        if self._result is None:
            self._result = cast(ExecuteResult, self._native.result(False))
        return self._result

    def close(self) -> None:
        """Stops the command if it still runs."""
        self._native.stop()

    def __enter__(self) -> RunningCommand:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"RunningCommand(result={self._result!r})"


class Decoder:
    """Decodes the chunks of two streams. Bytes that are not UTF-8 become U+FFFD."""

    def __init__(self) -> None:
        new = codecs.getincrementaldecoder("utf-8")
        self._streams = {"stdout": new("replace"), "stderr": new("replace")}

    def __call__(self, chunk: OutputChunk) -> str:
        return self._streams[chunk.stream].decode(chunk.data)

    def rest(self) -> str:
        """Returns what is left at the end."""
        return "".join(decoder.decode(b"", final=True) for decoder in self._streams.values())


def command_arguments(
    command: Command,
    stdin: Content | None,
    cwd: Path | None,
    env: Mapping[str, str] | None,
    timeout: float | None,
    on_overflow: Overflow,
    shell: ShellMode | None,
    background: bool = False,
) -> tuple[str | list[str], CommandOptions]:
    """Converts the arguments of `execute` to those of the native module."""
    command = command_list(command)
    if shell not in (None, "fresh", "persistent"):
        raise ValueError(f"shell must be 'fresh' or 'persistent', not {shell!r}")
    persistent = None if shell is None else shell == "persistent"
    return command, (stdin, cwd, list(env.items()) if env else [], timeout, on_overflow, persistent, background)


def command_list(command: Command) -> str | list[str]:
    """Converts a command to a line or a list."""
    if isinstance(command, str):
        return command
    if isinstance(command, (bytes, bytearray)) or not isinstance(command, Iterable):
        raise TypeError(f"command must be str or a sequence of str, not {type(command).__name__}")
    return list(command)


def spawn_arguments(
    command: Command,
    cwd: Path | None,
    env: Mapping[str, str] | None,
    stdin: bool,
    terminal: tuple[int, int] | None,
    timeout: float | None,
    tag: str | None,
) -> tuple[str | list[str], Path | None, list[tuple[str, str]], bool, tuple[int, int] | None, float | None, str | None]:
    """Converts the arguments of `spawn` to those of the native module."""
    return command_list(command), cwd, list(env.items()) if env else [], stdin, terminal, timeout, tag
