"""SWE-ReX: a runtime and a deployment.

from tidebox.integrations.swerex import TideboxDeployment

deployment = TideboxDeployment(files={"main.py": "print(1)"})
await deployment.start()
await deployment.runtime.create_session(CreateBashSessionRequest())
observation = await deployment.runtime.run_in_session(BashAction(command="cat main.py"))
"""

from __future__ import annotations

import io
import logging
import tarfile
from pathlib import Path
from typing import Any

from ._imports import missing_framework

try:
    from swerex.deployment.abstract import AbstractDeployment
    from swerex.deployment.hooks.abstract import CombinedDeploymentHook, DeploymentHook
    from swerex.exceptions import (
        BashIncorrectSyntaxError,
        CommandTimeoutError,
        DeploymentNotStartedError,
        NoExitCodeError,
        NonZeroExitCodeError,
        SessionDoesNotExistError,
        SessionExistsError,
    )
    from swerex.runtime.abstract import (
        AbstractRuntime,
        Action,
        BashAction,
        BashInterruptAction,
        BashObservation,
        CloseBashSessionResponse,
        CloseResponse,
        CloseSessionRequest,
        CloseSessionResponse,
        Command,
        CommandResponse,
        CreateBashSessionResponse,
        CreateSessionRequest,
        CreateSessionResponse,
        IsAliveResponse,
        Observation,
        ReadFileRequest,
        ReadFileResponse,
        UploadRequest,
        UploadResponse,
        WriteFileRequest,
        WriteFileResponse,
    )
except ImportError as error:
    raise missing_framework("swerex", error) from error

from .._async_sandbox import AsyncSandbox
from .._native import SandboxError
from ._bash_session import BashSession
from ._files import read_bytes, run_tool
from ._processes import with_room_for_processes

INTERRUPTED_EXIT_CODE = 130
"""Exit code of a command that was interrupted, as in a shell."""


class TideboxRuntime(AbstractRuntime):
    """A sandbox of this process as a runtime."""

    def __init__(
        self, sandbox: AsyncSandbox | None = None, *, logger: logging.Logger | None = None, **options: Any
    ) -> None:
        """Uses a sandbox, or creates one.

        Args:
            sandbox: A sandbox to use. It stays open when the runtime is closed.
            logger: Logger of the runtime.
            options: Options of a new `AsyncSandbox`.
        """
        if sandbox is not None and options:
            raise TypeError("pass either a sandbox or options of a new one")
        self.logger = logger or logging.getLogger("tidebox.swerex")
        self._owns_sandbox = sandbox is None
        if sandbox is None:
            # Every command of a session can leave processes.
            options["limits"] = with_room_for_processes(options.get("limits"))
            sandbox = AsyncSandbox(**options)
        self.sandbox = sandbox
        self._sessions: dict[str, BashSession] = {}

    async def is_alive(self, *, timeout: float | None = None) -> IsAliveResponse:
        """Returns whether the sandbox is open."""
        try:
            await self.sandbox.execute(["true"], timeout=timeout)
        except SandboxError as error:
            return IsAliveResponse(is_alive=False, message=str(error))
        return IsAliveResponse(is_alive=True)

    async def create_session(self, request: CreateSessionRequest) -> CreateSessionResponse:
        """Starts a session of bash and sources the files of the request.

        Raises:
            SessionExistsError: There is a session with the name.
            CommandTimeoutError: The files took longer than `startup_timeout` seconds.
        """
        if request.session in self._sessions:
            raise SessionExistsError(f"session {request.session!r} already exists")
        session = BashSession(self.sandbox)
        output = ""
        for path in request.startup_source:
            data, result = await session.run(f"source {path}", request.startup_timeout)
            if result is None or result.stopped_by == "timeout":
                raise CommandTimeoutError(f"source {path} took longer than {request.startup_timeout} seconds")
            output += _text(data)
        self._sessions[request.session] = session
        return CreateBashSessionResponse(output=output)

    async def run_in_session(self, action: Action) -> Observation:
        """Runs a command of bash in a session, or interrupts the command that runs there.

        Raises:
            SessionDoesNotExistError: There is no session with the name.
            BashIncorrectSyntaxError: The command has a syntax error.
            CommandTimeoutError: The command reached its timeout, or the time limit of the sandbox. It was stopped.
            NonZeroExitCodeError: The command failed, and `check` is `"raise"`.
            NoExitCodeError: The command is interactive, or has strings to expect, which need a terminal.
        """
        session = self._session(action.session)
        if isinstance(action, BashInterruptAction):
            session.interrupt()
            return BashObservation(exit_code=0)
        _reject_terminals(action)
        await self._check_syntax(action.command)
        data, result = await session.run(action.command, action.timeout)
        if result is not None and result.stopped_by == "timeout":
            raise CommandTimeoutError(
                f"timeout after {action.timeout} seconds while running command {action.command!r}"
            )
        code = INTERRUPTED_EXIT_CODE if result is None else result.exit_code
        output = _text(data)
        if action.check == "raise" and code != 0:
            raise _failure(action.command, code, action.error_msg, f"Here is the output:\n{output!r}")
        return BashObservation(output=output, exit_code=None if action.check == "ignore" else code)

    async def _check_syntax(self, command: str) -> None:
        # Sessions may set `extglob`, which allows more than the default.
        result = await self.sandbox.execute(["bash", "-O", "extglob", "-n"], stdin=command)
        if not result.ok:
            raise BashIncorrectSyntaxError(
                f"Error (exit code {result.exit_code}) while checking bash command \n{command!r}\n{result.output}",
                extra_info={"bash_stdout": result.stdout, "bash_stderr": result.stderr},
            )

    async def close_session(self, request: CloseSessionRequest) -> CloseSessionResponse:
        """Ends a session.

        Raises:
            SessionDoesNotExistError: There is no session with the name.
        """
        await self._session(request.session).close()
        del self._sessions[request.session]
        return CloseBashSessionResponse()

    async def execute(self, command: Command) -> CommandResponse:
        """Runs a program, or a command of `sh` if `shell` is set. A missing program has exit code 127.

        Raises:
            CommandTimeoutError: The command reached its timeout, or the time limit of the sandbox.
            NonZeroExitCodeError: The command failed, and `check` is set.
        """
        words = [command.command] if isinstance(command.command, str) else command.command
        argv = ["sh", "-c", *words] if command.shell else words
        result = await self.sandbox.execute(argv, cwd=command.cwd, env=command.env, timeout=command.timeout)
        if result.stopped_by == "timeout":
            raise CommandTimeoutError(f"Timeout ({command.timeout}s) exceeded while running command")
        if command.merge_output_streams:
            response = CommandResponse(stdout=_text(result.output_bytes), exit_code=result.exit_code)
        else:
            stdout, stderr = _text(result.stdout_bytes), _text(result.stderr_bytes)
            response = CommandResponse(stdout=stdout, stderr=stderr, exit_code=result.exit_code)
        if command.check and result.exit_code != 0:
            details = f"Stdout:\n{response.stdout!r}\nStderr:\n{response.stderr!r}"
            raise _failure(command.command, result.exit_code, command.error_msg, details)
        return response

    async def read_file(self, request: ReadFileRequest) -> ReadFileResponse:
        """Reads a text file, as UTF-8 by default.

        Raises:
            OSError: The file cannot be read, with a subclass such as `FileNotFoundError`.
            UnicodeError: It has another encoding.
        """
        data = await read_bytes(self.sandbox, self._absolute(request.path))
        # Line ends are translated, as by `Path.read_text`.
        text = io.TextIOWrapper(io.BytesIO(data), encoding=request.encoding or "utf-8", errors=request.errors)
        return ReadFileResponse(content=text.read())

    async def write_file(self, request: WriteFileRequest) -> WriteFileResponse:
        """Creates or replaces a file, and the directories above it.

        Raises:
            OSError: The file cannot be written.
        """
        await self.sandbox.write(request.path, request.content)
        return WriteFileResponse()

    async def upload(self, request: UploadRequest) -> UploadResponse:
        """Copies a file or a directory of this machine into the sandbox, with permissions. Links become files.

        Raises:
            FileNotFoundError: The source is missing.
            FileExistsError: The source is a directory, and the target exists.
            OSError: The source cannot be read, or the target not be written.
        """
        source, target = Path(request.source_path), self._absolute(request.target_path)
        if source.is_dir():
            await run_tool(self.sandbox, ["mkdir", "-p", "--"], str(Path(target).parent))
            await run_tool(self.sandbox, ["mkdir", "--"], target)
            directory, name = target, "."
        else:
            is_directory = (await self.sandbox.execute(["test", "-d", target])).ok
            directory, name = (target, source.name) if is_directory else (str(Path(target).parent), Path(target).name)
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode="w", dereference=True) as tar:
            tar.add(source, arcname=name)
        result = await self.sandbox.execute(["tar", "-xpf", "-", "-C", directory], stdin=archive.getvalue())
        if not result.ok:
            raise OSError(f"cannot write {target}: {result.stderr.strip()}")
        return UploadResponse()

    async def close(self) -> CloseResponse:
        """Ends all sessions, and closes the sandbox if this runtime created it. Closing twice is not an error."""
        sessions, self._sessions = self._sessions, {}
        for session in sessions.values():
            session.interrupt()
        if self._owns_sandbox:
            await self.sandbox.close()
        return CloseResponse()

    def _session(self, name: str) -> BashSession:
        if name not in self._sessions:
            raise SessionDoesNotExistError(f"session {name!r} does not exist")
        return self._sessions[name]

    def _absolute(self, path: str) -> str:
        return path if path.startswith("/") else f"{self.sandbox.cwd}/{path}"


class TideboxDeployment(AbstractDeployment):
    """Starts and stops a runtime."""

    def __init__(self, *, logger: logging.Logger | None = None, **options: Any) -> None:
        """Keeps the options. `start` creates the sandbox.

        Args:
            logger: Logger of the deployment and its runtime.
            options: Options of the `AsyncSandbox`.
        """
        self.logger = logger or logging.getLogger("tidebox.swerex")
        self._options = options
        self._runtime: TideboxRuntime | None = None
        self._hooks = CombinedDeploymentHook()

    def add_hook(self, hook: DeploymentHook) -> None:
        """Adds a receiver of the steps of the deployment."""
        self._hooks.add_hook(hook)

    async def is_alive(self, *, timeout: float | None = None) -> IsAliveResponse:
        """Returns whether the runtime is started and its sandbox is open."""
        if self._runtime is None:
            return IsAliveResponse(is_alive=False, message="the deployment is not started")
        return await self._runtime.is_alive(timeout=timeout)

    async def start(self) -> None:
        """Creates the sandbox, unless the deployment is started."""
        if self._runtime is None:
            self._hooks.on_custom_step("Creating the sandbox")
            self._runtime = TideboxRuntime(logger=self.logger, **self._options)

    async def stop(self) -> None:
        """Closes the sandbox. Stopping twice is not an error."""
        runtime, self._runtime = self._runtime, None
        if runtime is not None:
            await runtime.close()

    @property
    def runtime(self) -> TideboxRuntime:
        """The runtime.

        Raises:
            DeploymentNotStartedError: The deployment is not started.
        """
        if self._runtime is None:
            raise DeploymentNotStartedError  # Its constructor has no type hints.
        return self._runtime


def _reject_terminals(action: BashAction) -> None:
    if action.is_interactive_command or action.is_interactive_quit or action.expect:
        raise NoExitCodeError(
            "interactive commands and expect are not supported: a Tidebox sandbox has no terminals; pass the input of "
            "the program with a pipe or a here-document"
        )


def _failure(command: str | list[str], code: int | None, text: str, details: str) -> NonZeroExitCodeError:
    message = f"Command {command!r} failed with exit code {code}. {details}"
    return NonZeroExitCodeError(f"{text}: {message}" if text else message)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")
