"""Deep Agents: a sandbox as a backend.

    from deepagents import create_deep_agent
    from tidebox.integrations.deepagents import TideboxSandbox

    agent = create_deep_agent(model=..., backend=TideboxSandbox())

Deep Agents Code finds `TideboxSandboxProvider` by its entry point: `dcode --sandbox tidebox`.
"""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import fields
from datetime import datetime, timezone
from typing import Any, TypeVar, cast

from ._imports import missing_framework

try:
    from deepagents.backends.protocol import (
        DeleteResult,
        EditResult,
        ExecuteResponse,
        FileDownloadResponse,
        FileInfo,
        FileUploadResponse,
        GlobResult,
        GrepResult,
        LsResult,
        ReadResult,
        SandboxBackendProtocol,
        WriteResult,
    )
except ImportError as error:
    raise missing_framework("deepagents", error) from error

from .. import _native
from .._options import CommandOptions, Dialect
from .._sandbox import Sandbox

_Result = TypeVar("_Result")

LONGEST_TIMEOUT = 3600
"""Seconds of a command whose timeout is 0, which Deep Agents uses for none: every command of a sandbox has a limit."""


class TideboxSandbox(SandboxBackendProtocol):
    """A sandbox of this process as a backend of Deep Agents, with the whole protocol. Asynchronous methods never block."""

    def __init__(self, sandbox: Sandbox | None = None, *, dialect: Dialect = "python", **options: Any) -> None:
        """Uses a sandbox, or creates one.

        Args:
            sandbox: A sandbox to use.
            dialect: `"langchain-tests"` follows the rules of the standard tests where they differ from the framework.
            options: Options of a new `Sandbox`.
        """
        if sandbox is not None and options:
            raise TypeError("pass either a sandbox or options of a new one")
        self.sandbox = sandbox or Sandbox(dialect=dialect, **options)

    @property
    def id(self) -> str:
        """Id of the sandbox."""
        return self.sandbox.id

    def close(self) -> None:
        """Stops running commands and frees the files."""
        self.sandbox.close()

    def execute(self, command: str, *, timeout: int | None = None) -> ExecuteResponse:
        """Runs a command line in `bash`, for at most `timeout` seconds."""
        try:
            return _executed(self.sandbox._native.execute(*_command(command, timeout), False))
        except ValueError as error:
            return ExecuteResponse(output=f"tidebox: {error}\n", exit_code=126)

    async def aexecute(self, command: str, *, timeout: int | None = None) -> ExecuteResponse:
        """Runs a command line in `bash`, for at most `timeout` seconds."""
        try:
            return _executed(await cast("Awaitable[Any]", self.sandbox._native.execute(*_command(command, timeout), True)))
        except ValueError as error:
            return ExecuteResponse(output=f"tidebox: {error}\n", exit_code=126)

    def ls(self, path: str) -> LsResult:
        """Lists a directory."""
        try:
            return _listed(self.sandbox._native.ls(path, False))
        except _FILE_ERRORS as error:
            return LsResult(error=_message(error))

    async def als(self, path: str) -> LsResult:
        """Lists a directory."""
        try:
            return _listed(await cast("Awaitable[Any]", self.sandbox._native.ls(path, True)))
        except _FILE_ERRORS as error:
            return LsResult(error=_message(error))

    def read(self, file_path: str, offset: int = 0, limit: int = 2000) -> ReadResult:
        """Reads lines of a text file, or a file that is not text as base64."""
        try:
            return _page(self.sandbox._native.read(file_path, max(offset, 0), max(limit, 0), False))
        except _FILE_ERRORS as error:
            return ReadResult(error=_message(error))

    async def aread(self, file_path: str, offset: int = 0, limit: int = 2000) -> ReadResult:
        """Reads lines of a text file, or a file that is not text as base64."""
        try:
            return _page(
                await cast("Awaitable[Any]", self.sandbox._native.read(file_path, max(offset, 0), max(limit, 0), True))
            )
        except _FILE_ERRORS as error:
            return ReadResult(error=_message(error))

    def write(self, file_path: str, content: str) -> WriteResult:
        """Creates or replaces a file."""
        try:
            self.sandbox._native.write(file_path, content, False)
        except _FILE_ERRORS as error:
            return WriteResult(error=_message(error))
        return WriteResult(path=file_path)

    async def awrite(self, file_path: str, content: str) -> WriteResult:
        """Creates or replaces a file."""
        try:
            await cast("Awaitable[None]", self.sandbox._native.write(file_path, content, True))
        except _FILE_ERRORS as error:
            return WriteResult(error=_message(error))
        return WriteResult(path=file_path)

    def edit(self, file_path: str, old_string: str, new_string: str, replace_all: bool = False) -> EditResult:
        """Replaces a string."""
        try:
            occurrences = self.sandbox._native.edit(file_path, old_string, new_string, replace_all, False)
        except _FILE_ERRORS as error:
            return EditResult(error=f"Error: {_message(error)}")
        return EditResult(path=file_path, occurrences=occurrences)

    async def aedit(self, file_path: str, old_string: str, new_string: str, replace_all: bool = False) -> EditResult:
        """Replaces a string."""
        try:
            occurrences = await cast(
                "Awaitable[int]", self.sandbox._native.edit(file_path, old_string, new_string, replace_all, True)
            )
        except _FILE_ERRORS as error:
            return EditResult(error=f"Error: {_message(error)}")
        return EditResult(path=file_path, occurrences=occurrences)

    def delete(self, file_path: str) -> DeleteResult:
        """Removes a file, or a directory with its content."""
        try:
            self.sandbox._native.delete(file_path, False)
        except _FILE_ERRORS as error:
            return DeleteResult(error=_message(error))
        return DeleteResult(path=file_path)

    async def adelete(self, file_path: str) -> DeleteResult:
        """Removes a file, or a directory with its content."""
        try:
            await cast("Awaitable[None]", self.sandbox._native.delete(file_path, True))
        except _FILE_ERRORS as error:
            return DeleteResult(error=_message(error))
        return DeleteResult(path=file_path)

    def grep(
        self, pattern: str, path: str | None = None, glob: str | None = None, *, max_count: int | None = None
    ) -> GrepResult:
        """Finds lines that contain a text."""
        try:
            return _matches(self.sandbox._native.grep(pattern, path or self.sandbox.cwd, glob, max_count, False))
        except _FILE_ERRORS as error:
            return GrepResult(error=_message(error))

    async def agrep(
        self, pattern: str, path: str | None = None, glob: str | None = None, *, max_count: int | None = None
    ) -> GrepResult:
        """Finds lines that contain a text."""
        try:
            return _matches(
                await cast(
                    "Awaitable[Any]", self.sandbox._native.grep(pattern, path or self.sandbox.cwd, glob, max_count, True)
                )
            )
        except _FILE_ERRORS as error:
            return GrepResult(error=_message(error))

    def glob(self, pattern: str, path: str | None = None) -> GlobResult:
        """Finds files by name."""
        try:
            return _files(self.sandbox._native.glob(pattern, path or "/", False))
        except _FILE_ERRORS as error:
            return GlobResult(error=_message(error))

    async def aglob(self, pattern: str, path: str | None = None) -> GlobResult:
        """Finds files by name."""
        try:
            return _files(await cast("Awaitable[Any]", self.sandbox._native.glob(pattern, path or "/", True)))
        except _FILE_ERRORS as error:
            return GlobResult(error=_message(error))

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        """Writes files; each has a result."""
        return [FileUploadResponse(path=one.path, error=one.error) for one in self.sandbox._native.upload_files(list(files), False)]

    async def aupload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        """Writes files; each has a result."""
        results = await cast("Awaitable[Any]", self.sandbox._native.upload_files(list(files), True))
        return [FileUploadResponse(path=one.path, error=one.error) for one in results]

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        """Reads whole files; each has a result."""
        results = self.sandbox._native.download_files(list(paths), False)
        return [FileDownloadResponse(path=one.path, content=one.content, error=one.error) for one in results]

    async def adownload_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        """Reads whole files; each has a result."""
        results = await cast("Awaitable[Any]", self.sandbox._native.download_files(list(paths), True))
        return [FileDownloadResponse(path=one.path, content=one.content, error=one.error) for one in results]


def __getattr__(name: str) -> Any:
    """Returns `TideboxSandboxProvider`, which needs the package `deepagents-code` and is imported when it is used."""
    if name == "TideboxSandboxProvider":
        from ._deepagents_provider import TideboxSandboxProvider

        return TideboxSandboxProvider
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


_FILE_ERRORS = (OSError, _native.FileOperationError, ValueError)


def _message(error: Exception) -> str:
    """Returns the sentence of Tidebox, without the number and the path that `OSError` adds."""
    if isinstance(error, OSError) and error.strerror is not None:
        return error.strerror
    return str(error)


def _command(command: str, timeout: int | None) -> tuple[str, CommandOptions]:
    return command, (None, None, [], LONGEST_TIMEOUT if timeout == 0 else timeout, "head", None, False)


def _executed(result: Any) -> ExecuteResponse:
    return ExecuteResponse(output=result.output, exit_code=result.exit_code, truncated=result.truncated)


def _of_installed(kind: type[_Result], **given: Any) -> _Result:
    """Creates a result with the fields that the installed version has."""
    known = {field.name for field in fields(cast(Any, kind))}
    return kind(**{name: value for name, value in given.items() if name in known})


def _info(entry: Any) -> FileInfo:
    info: FileInfo = {"path": entry.path, "is_dir": entry.is_dir}
    if entry.size is not None:
        info["size"] = entry.size
    if entry.modified is not None:
        info["modified_at"] = _time(entry.modified)
    return info


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, timezone.utc).isoformat()


def _listed(entries: Any) -> LsResult:
    return LsResult(entries=[_info(entry) for entry in entries])


def _page(page: Any) -> ReadResult:
    content, encoding = page.tool_content()
    file_data = {"content": content, "encoding": encoding}
    if page.modified is not None:
        file_data["modified_at"] = _time(page.modified)
    return _of_installed(
        ReadResult, file_data=file_data, no_lines_requested=page.no_lines_requested, total_lines=page.total_lines,
        start_line=page.start, end_line=page.end, next_offset=page.next_offset,
    )  # fmt: skip


def _matches(found: Any) -> GrepResult:
    matches = [{"path": match.path, "line": match.line, "text": match.text} for match in found.matches]
    return _of_installed(GrepResult, matches=matches, truncated=found.truncated is not None)


def _files(found: Any) -> GlobResult:
    return _of_installed(
        GlobResult, matches=[_info(file) for file in found.files], truncated=found.truncated is not None,
        truncation_reason=found.truncated,
    )  # fmt: skip
