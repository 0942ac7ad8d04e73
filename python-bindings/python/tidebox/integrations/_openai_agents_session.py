"""Session of the OpenAI Agents SDK; see `openai_agents`."""

from __future__ import annotations

import asyncio
import hashlib
import io
import posixpath
import tarfile
from dataclasses import replace
from pathlib import Path
from typing import Literal, NoReturn, cast

from agents.sandbox.errors import (
    ConfigurationError,
    ErrorCode,
    ExecNonZeroError,
    ExecTimeoutError,
    ExecTransportError,
    ExposedPortUnavailableError,
    InvalidManifestPathError,
    OpName,
    WorkspaceArchiveReadError,
    WorkspaceArchiveWriteError,
    WorkspaceReadNotFoundError,
    WorkspaceWriteTypeError,
)
from agents.sandbox.files import EntryKind, FileEntry
from agents.sandbox.manifest import Manifest
from agents.sandbox.materialization import MaterializationResult
from agents.sandbox.session import SandboxSessionState
from agents.sandbox.session.base_sandbox_session import BaseSandboxSession
from agents.sandbox.session.pty_types import (
    PtyExecUpdate,
    clamp_pty_yield_time_ms,
    resolve_pty_write_yield_time_ms,
)
from agents.sandbox.types import ExecResult, ExposedPortEndpoint, Permissions, User
from agents.sandbox.util.tar_utils import UnsafeTarMemberError, should_skip_tar_member, validate_tarfile
from agents.sandbox.workspace_paths import coerce_posix_path, posix_path_as_path, sandbox_path_str

from .._async_sandbox import AsyncSandbox
from .._native import ExecuteResult, SandboxError
from .._options import Limits
from .._port import ExposedPort
from ._openai_agents_processes import LiveProcesses
from ._workspace_tar import relative_tar

Persistence = Literal["tar", "snapshot"]

USER = "tidebox"
"""The only user of a sandbox."""

SNAPSHOT_START = b"TIDESNAP"
"""First bytes of a saved snapshot of Tidebox, which tell it from a tar archive."""

FINGERPRINT_VERSION = "tidebox_workspace_sha256_v1"

_KINDS = {"d": EntryKind.DIRECTORY, "f": EntryKind.FILE, "l": EntryKind.SYMLINK}

_CREATE_FILE = 'mkdir -p -- "${1%/*}/" && { [ -e "$1" ] || [ -L "$1" ]; } && exit 17; set -C; cat >"$1"'
"""Creates a file from standard input, exclusively. Exit code 17 if the path exists."""


_NO_TERMINAL = (
    "tidebox: tty=true is not supported, because a Tidebox sandbox has no terminals yet; run the command with tty=false"
)

_DEFAULT_MAXIMUM = 16
"""Default of `Limits.background_processes`."""


class TideboxSandboxSessionState(SandboxSessionState):
    """State of a session, which can be stored as JSON."""

    type: Literal["tidebox"] = "tidebox"
    sandbox_id: str = ""
    """Id of the sandbox, which may not live any more."""
    limits: Limits | None = None
    """Limits of the sandbox; those of the client by default."""
    seed: int | None = None
    """Seed of a deterministic sandbox."""
    workspace_persistence: Persistence = "tar"
    """Format in which the workspace is saved."""
    open_stdin: bool = False
    """Whether commands that outlive their call have an open standard input."""


class TideboxSandboxSession(BaseSandboxSession):
    """A sandbox of this process as a session. Terminals and other users are not supported."""

    state: TideboxSandboxSessionState

    def __init__(self, state: TideboxSandboxSessionState, sandbox: AsyncSandbox, *, is_preserved: bool = False) -> None:
        """Creates a session; use `TideboxSandboxClient`.

        Args:
            state: State of the session.
            sandbox: The sandbox.
            is_preserved: Whether the sandbox was used by this session before, so it has the files of the workspace.
        """
        self.state = state
        self.sandbox = sandbox
        # A session is running only after its start has restored the files, or if they never left.
        self._running = is_preserved
        self._set_start_state_preserved(is_preserved)
        limits: Limits | None = sandbox._options.get("limits")
        maximum = None if limits is None else limits.background_processes
        self._processes = LiveProcesses(sandbox, _DEFAULT_MAXIMUM if maximum is None else maximum)
        self._exposed: dict[int, ExposedPort] = {}

    @staticmethod
    def reject_accounts(manifest: Manifest) -> None:
        """Raises `ValueError` if a manifest has users or groups: a sandbox has one user and no root."""
        if manifest.users or manifest.groups:
            raise ValueError(
                f"users and groups are not supported: a Tidebox sandbox has one user, {USER!r}; remove them"
            )

    async def _apply_manifest(
        self, *, only_ephemeral: bool = False, provision_accounts: bool = True
    ) -> MaterializationResult:
        self.reject_accounts(self.state.manifest)
        return await super()._apply_manifest(only_ephemeral=only_ephemeral, provision_accounts=provision_accounts)

    async def provision_manifest_accounts(self) -> None:
        """Raises `ValueError` if the manifest has users or groups."""
        self.reject_accounts(self.state.manifest)

    async def _prepare_backend_workspace(self) -> None:
        await self._checked("mkdir", "-p", "--", self._root())

    async def _after_start(self) -> None:
        self._running = True

    async def _after_start_failed(self) -> None:
        self._running = False

    async def _after_shutdown(self) -> None:
        # The sandbox stays until the client deletes it, so that the session can be resumed.
        self._running = False
        self.close_ports()

    async def running(self) -> bool:
        """Returns whether the session is started and its sandbox is open."""
        if not self._running:
            return False
        try:
            return bool((await self.sandbox.execute(["true"])).ok)
        except SandboxError:
            return False

    def _prepare_exec_command(
        self, *command: str | Path, shell: bool | list[str], user: str | User | None
    ) -> list[str]:
        _reject_user(user, "exec")
        return super()._prepare_exec_command(*command, shell=shell, user=None)

    async def _exec_internal(self, *command: str | Path, timeout: float | None = None) -> ExecResult:
        # What the command leaves, such as `server &`, lives until the end of the session.
        background = self.supports_pty()
        result = await self._execute([str(part) for part in command], timeout=timeout, background=background)
        if result.stopped_by == "timeout":
            raise ExecTimeoutError(
                command=command, timeout_s=timeout, context={"stdout": result.stdout, "stderr": result.stderr}
            )
        if result.exit_code is None:
            raise ExecTransportError(command=command, message="the command ended without an exit code", context={})
        return ExecResult(stdout=result.stdout_bytes, stderr=result.stderr_bytes, exit_code=result.exit_code)

    def supports_pty(self) -> bool:
        """Returns whether commands can outlive their call. Those of a deterministic sandbox cannot."""
        return self.sandbox._options.get("seed") is None

    async def pty_exec_start(
        self,
        *command: str | Path,
        timeout: float | None = None,
        shell: bool | list[str] = True,
        user: str | User | None = None,
        tty: bool = False,
        yield_time_s: float | None = None,
        max_output_tokens: int | None = None,
    ) -> PtyExecUpdate:
        """Starts a command, and waits for its end or the end of `yield_time_s`. It runs on after that.

        A command line that leaves processes, such as `server &`, runs until they have ended. Cancelling the task kills
        the command.

        Args:
            command: The command line, or a program and its arguments.
            timeout: Seconds after which the command is killed; `Limits.background_time` by default.
            shell: Whether to run the command in a shell, or the program and the options of another shell.
            user: None or `"tidebox"`.
            tty: Must be False. True gives an update with the exit code 1 and a message, because an exception would end
                the run of the agent.
            yield_time_s: Seconds, 0.25 to 30; 10 by default.
            max_output_tokens: Length of the output in tokens; not limited by default. At most the last MiB is returned.

        Returns:
            The output, and either the exit code or the id for `pty_write_stdin`.

        Raises:
            ConfigurationError: The user is another one.
            ExecTransportError: The sandbox is closed, or deterministic.
        """
        argv = self._prepare_exec_command(*command, shell=shell, user=user)
        if tty:
            return PtyExecUpdate(None, _NO_TERMINAL.encode(), 1, None)
        yield_time_ms = clamp_pty_yield_time_ms(10_000 if yield_time_s is None else int(yield_time_s * 1000))
        session_id: int | None = None
        try:
            environment = await self.state.manifest.environment.resolve()
            session_id = await self._processes.start(
                argv, cwd=self._root(), env=environment, open_stdin=self.state.open_stdin, timeout=timeout
            )
            return await self._processes.update(session_id, yield_time_ms, max_output_tokens)
        except ValueError:
            # The program cannot be started. A command that is waited for reports it with the exit code of a shell.
            result = await self._exec_internal(*argv, timeout=timeout)
            return PtyExecUpdate(None, result.stdout + result.stderr, result.exit_code, None)
        except SandboxError as error:
            if getattr(error, "kind", None) == "quota_exceeded":
                return PtyExecUpdate(None, f"tidebox: cannot start the command: {error}".encode(), 1, None)
            raise self._transport_error(argv, error) from error
        except asyncio.CancelledError:
            if session_id is not None:
                await self._processes.end(session_id)
            raise

    async def pty_write_stdin(
        self,
        *,
        session_id: int,
        chars: str,
        yield_time_s: float | None = None,
        max_output_tokens: int | None = None,
    ) -> PtyExecUpdate:
        """Writes to a command that `pty_exec_start` started, and waits for its output.

        Args:
            session_id: Id of the command.
            chars: Text; empty to wait only. `"\\x03"` (Ctrl-C) sends SIGINT to the command and its children, and a final
                `"\\x04"` (Ctrl-D) ends the input.
            yield_time_s: Seconds, 0.25 to 30 and at least 5 without text; 0.25 by default.
            max_output_tokens: Length of the output in tokens; not limited by default. At most the last MiB is returned.

        Raises:
            PtySessionNotFoundError: No command has this id, or its exit code was returned already.
            RuntimeError: The session has no open input (`open_stdin` of its options), or the input was ended.
            ExecTransportError: The sandbox is closed.
        """
        yield_time_ms = resolve_pty_write_yield_time_ms(
            yield_time_ms=250 if yield_time_s is None else int(yield_time_s * 1000), input_empty=chars == ""
        )
        note = ""
        try:
            if chars:
                note = await self._processes.write(
                    session_id, chars, open_stdin=self.state.open_stdin, timeout=yield_time_ms / 1000
                )
            update = await self._processes.update(session_id, yield_time_ms, max_output_tokens)
        except SandboxError as error:
            raise self._transport_error(["write_stdin"], error) from error
        return replace(update, output=note.encode() + update.output)

    async def pty_terminate_all(self) -> None:
        """Kills all processes of the sandbox that outlive their call."""
        await self._processes.end_all()

    async def _resolve_exposed_port(self, port: int) -> ExposedPortEndpoint:
        exposed = self._exposed.get(port)
        if exposed is None:
            try:
                exposed = self._exposed.setdefault(port, await self.sandbox.expose(port))
            except (SandboxError, ValueError) as error:
                raise ExposedPortUnavailableError(
                    port=port, exposed_ports=self.state.exposed_ports, reason="backend_unavailable",
                    context={"backend": "tidebox", "detail": str(error)}, cause=error,
                ) from error  # fmt: skip
        return ExposedPortEndpoint(host=exposed.host, port=exposed.port)

    def close_ports(self) -> None:
        """Closes the ports of the host that lead to the sandbox."""
        for exposed in self._exposed.values():
            exposed.close()
        self._exposed.clear()

    def _transport_error(self, command: list[str], error: Exception) -> ExecTransportError:
        return ExecTransportError(command=command, message=f"cannot run the command: {error}", cause=error)

    async def _execute(
        self,
        command: list[str],
        *,
        stdin: bytes | None = None,
        timeout: float | None = None,
        at_root: bool = True,
        background: bool = False,
    ) -> ExecuteResult:
        """Runs a program without a shell in the environment of the manifest."""
        try:
            environment = await self.state.manifest.environment.resolve()
            # The first command creates the root, so it must not start there.
            cwd = self._root() if at_root else "/"
            return await self.sandbox.execute(
                command, stdin=stdin, cwd=cwd, env=environment, timeout=timeout, background=background
            )
        except (SandboxError, ValueError) as error:
            raise self._transport_error(command, error) from error

    async def _checked(self, *command: str, stdin: bytes | None = None) -> bytes:
        """Runs a program of the sandbox itself from `/` and returns its output."""
        result = await self._execute(list(command), stdin=stdin, at_root=False)
        if not result.ok or result.truncated:
            exit_code = result.exit_code if result.exit_code else 1
            failed = ExecResult(stdout=result.stdout_bytes, stderr=result.stderr_bytes, exit_code=exit_code)
            raise ExecNonZeroError(failed, command=command)
        return result.stdout_bytes

    def _root(self) -> str:
        return self._workspace_path_policy().sandbox_root().as_posix()

    async def _validate_path_access(self, path: Path | str, *, for_write: bool = False) -> Path:
        """Returns the absolute path, whose target must be below the root or a granted path once links are followed."""
        policy = self._workspace_path_policy()
        normal = policy.normalize_sandbox_path(path, for_write=for_write)
        grants = [root.as_posix() for root, _read_only in policy.extra_path_grant_rules()]
        names = (await self._checked("realpath", "-m", "-z", "--", str(normal), self._root(), *grants)).split(b"\0")
        target, root, *granted = (name.decode("utf-8", "surrogateescape") for name in names[:-1])
        # A link in the path of the root or of a grant is one of the application; rebase onto the names that it gave.
        for resolved, given in [(root, self._root()), *zip(granted, grants, strict=True)]:
            if target == resolved or target.startswith(resolved.rstrip("/") + "/"):
                target = posixpath.join(given, target[len(resolved) :].lstrip("/"))
                break
        try:
            policy.normalize_sandbox_path(target, for_write=for_write)
        except InvalidManifestPathError as error:
            original = coerce_posix_path(path)
            reason: Literal["absolute", "escape_root"] = "absolute" if original.is_absolute() else "escape_root"
            context = {"resolved_path": target}
            raise InvalidManifestPathError(
                rel=original.as_posix(), reason=reason, context=context, cause=error
            ) from error
        return posix_path_as_path(normal)

    async def read(self, path: Path, *, user: str | User | None = None) -> io.IOBase:
        """Returns the content of a file as a stream.

        Raises:
            WorkspaceReadNotFoundError: The file is missing.
            WorkspaceArchiveReadError: It cannot be read.
            InvalidManifestPathError: It is outside of the root and the granted paths.
        """
        _reject_user(user, "read")
        target = await self._validate_path_access(path)
        [result] = await self.sandbox.download_files([sandbox_path_str(target)])
        if result.error == "file_not_found":
            raise WorkspaceReadNotFoundError(path=path)
        if result.content is None:
            raise WorkspaceArchiveReadError(path=path, context={"reason": result.error, "message": result.message})
        return io.BytesIO(result.content)

    async def _read_bounded(self, path: Path, *, max_bytes: int) -> bytes:
        target = await self._validate_path_access(path)
        # `head` reads no more than it needs, where `download_files` reads the whole file.
        result = await self._execute(["head", "-c", str(max_bytes), "--", sandbox_path_str(target)])
        if result.ok and not result.truncated:
            return result.stdout_bytes
        with await self.read(path) as stream:
            return bytes(stream.read(max_bytes))

    async def write(self, path: Path, data: io.IOBase, *, user: str | User | None = None) -> None:
        """Creates or replaces a file, and the directories above it.

        Raises:
            WorkspaceWriteTypeError: The stream yields neither `bytes` nor `str`.
            WorkspaceArchiveWriteError: The file cannot be written.
            InvalidManifestPathError: It is outside of the root and the granted paths.
        """
        _reject_user(user, "write")
        target = await self._validate_path_access(path, for_write=True)
        try:
            await self.sandbox.write(sandbox_path_str(target), _payload(path, data))
        except (OSError, SandboxError, ValueError) as error:
            raise WorkspaceArchiveWriteError(path=target, context={"message": str(error)}, cause=error) from error

    async def _write_new_file(self, path: Path, data: io.IOBase, *, user: str | User | None = None) -> None:
        _reject_user(user, "write")
        target = await self._validate_path_access(path, for_write=True)
        command = ["sh", "-c", _CREATE_FILE, "sh", sandbox_path_str(target)]
        result = await self._execute(command, stdin=_payload(path, data), at_root=False)
        if result.exit_code == 17:
            raise FileExistsError(sandbox_path_str(target))
        if not result.ok:
            raise WorkspaceArchiveWriteError(path=target, context={"stderr": result.stderr})

    async def ls(self, path: Path | str, *, user: str | User | None = None) -> list[FileEntry]:
        """Lists a directory, or one file, in the order of names.

        Raises:
            ExecNonZeroError: It is missing or cannot be read.
            InvalidManifestPathError: It is outside of the root and the granted paths.
        """
        _reject_user(user, "exec")
        target = sandbox_path_str(await self._validate_path_access(path))
        output = await self._checked("find", "-H", target, "-maxdepth", "1", "-printf", "%m %u %g %s %y %p\\0")
        entries = [_entry(record) for record in output.split(b"\0")[:-1]]
        if entries[0].is_dir():
            return sorted(entries[1:], key=lambda entry: entry.path)
        return entries

    async def persist_workspace(self) -> io.IOBase:
        """Returns the workspace as a tar archive, or all files as a snapshot of Tidebox if the state says so.

        The workspace is a tar archive if paths are left out of it, because a snapshot has all files.

        Raises:
            WorkspaceArchiveReadError: The sandbox is closed.
        """
        if self.state.workspace_persistence == "snapshot" and not self._persist_workspace_skip_relpaths():
            try:
                return io.BytesIO(await asyncio.to_thread(self.sandbox.snapshot().to_bytes))
            except SandboxError as error:
                raise WorkspaceArchiveReadError(path=Path(self._root()), cause=error) from error
        return io.BytesIO(await self._workspace_tar(self._persist_workspace_skip_relpaths()))

    async def _workspace_tar(self, skipped: set[Path]) -> bytes:
        def is_skipped(name: str) -> bool:
            return should_skip_tar_member(name, skip_rel_paths=skipped, root_name=None)

        try:
            snapshot = self.sandbox.snapshot()
            return await asyncio.to_thread(lambda: relative_tar(snapshot.to_tar(), self._root(), is_skipped))
        except (SandboxError, tarfile.TarError) as error:
            raise WorkspaceArchiveReadError(path=Path(self._root()), cause=error) from error

    async def hydrate_workspace(self, data: io.IOBase) -> None:
        """Adds the files of an archive that `persist_workspace` returned. A snapshot replaces all files of the sandbox.

        Raises:
            WorkspaceArchiveWriteError: The archive is damaged, or has a member outside of the workspace.
        """
        root = Path(self._root())
        archive = _payload(root, data)
        try:
            if archive.startswith(SNAPSHOT_START):
                self.sandbox.restore(await asyncio.to_thread(AsyncSandbox.load_snapshot, archive))
                await self._prepare_backend_workspace()
                return
            plain = await asyncio.to_thread(_validated_tar, archive)
        except UnsafeTarMemberError as error:
            context = {"reason": error.reason, "member": error.member}
            raise WorkspaceArchiveWriteError(path=root, context=context, cause=error) from error
        except (tarfile.TarError, EOFError, OSError, SandboxError) as error:
            raise WorkspaceArchiveWriteError(path=root, context={"message": str(error)}, cause=error) from error
        await self._prepare_backend_workspace()
        result = await self._execute(["tar", "-xpf", "-", "-C", self._root()], stdin=plain, at_root=False)
        if not result.ok:
            raise WorkspaceArchiveWriteError(path=root, context={"stderr": result.stderr})

    async def _remove_workspace_entry_on_resume(self, path: Path) -> None:
        # The entry itself, even if it is a link out of the workspace, which `rm` of a session rejects.
        await self._checked("rm", "-rf", "--", sandbox_path_str(path))

    async def _compute_and_cache_snapshot_fingerprint(self, *, version: str | None = None) -> dict[str, str]:
        # Nothing is cached: the digest of the files is computed natively, faster than a file with it is read.
        archive = await self._workspace_tar(self._workspace_fingerprint_skip_relpaths())
        digest = hashlib.sha256(self._resume_manifest_digest().encode() + archive).hexdigest()
        return {"fingerprint": digest, "version": FINGERPRINT_VERSION}

    async def _delete_cached_snapshot_fingerprint_best_effort(self) -> None:
        return


def _reject_user(user: str | User | None, operation: OpName) -> None:
    name = user.name if isinstance(user, User) else user
    if name not in (None, USER):
        raise ConfigurationError(
            message=f"user {name!r} is not supported: a Tidebox sandbox has one user, {USER!r}; leave user out",
            error_code=ErrorCode.SANDBOX_CONFIG_INVALID, op=operation, context={"user": name},
        )  # fmt: skip


def _payload(path: Path, data: io.IOBase) -> bytes:
    content = data.read()
    if isinstance(content, str):
        return content.encode("utf-8")
    if isinstance(content, (bytes, bytearray, memoryview)):
        return bytes(content)
    _raise_type(path, content)


def _raise_type(path: Path, content: object) -> NoReturn:
    raise WorkspaceWriteTypeError(path=path, actual_type=type(content).__name__)


def _entry(record: bytes) -> FileEntry:
    mode, owner, group, size, kind, path = record.decode("utf-8", "surrogateescape").split(" ", 5)
    permissions = Permissions.from_mode(int(mode, 8)).model_copy(update={"directory": kind == "d"})
    return FileEntry(
        path=path, permissions=permissions, owner=owner, group=group, size=int(size),
        kind=_KINDS.get(kind, EntryKind.OTHER),
    )  # fmt: skip


def _validated_tar(archive: bytes) -> bytes:
    """Returns an archive without compression. Rejects members and links that lead out of the workspace."""
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:*") as tar:
        validate_tarfile(tar, allow_external_symlink_targets=False)
        # The stream of an open archive yields its bytes after decompression.
        stream = cast("io.BufferedIOBase", tar.fileobj)
        stream.seek(0)
        return stream.read()
