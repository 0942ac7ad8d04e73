"""File operations that the Python API lacks: they run `stat`, `mkdir` and `realpath` in the sandbox."""

from __future__ import annotations

import errno
import os
import stat as modes
from collections.abc import Sequence
from dataclasses import dataclass

from .._async_sandbox import AsyncSandbox
from .._native import FileOperationError

_MESSAGES = {
    "No such file or directory": errno.ENOENT, "Not a directory": errno.ENOTDIR, "Is a directory": errno.EISDIR,
    "Permission denied": errno.EACCES, "Operation not permitted": errno.EPERM, "File exists": errno.EEXIST,
    "Too many levels of symbolic links": errno.ELOOP, "Read-only file system": errno.EROFS,
    "No space left on device": errno.ENOSPC, "File name too long": errno.ENAMETOOLONG,
}  # fmt: skip
"""Ends of the messages of the GNU programs in the locale C."""


@dataclass(frozen=True)
class Attributes:
    """Attributes of a file, or of the target of a symbolic link."""

    mode: int
    """Type and permissions, as in `st_mode`."""
    size: int
    """Size in bytes."""

    @property
    def is_dir(self) -> bool:
        """Whether it is a directory."""
        return modes.S_ISDIR(self.mode)

    @property
    def is_regular(self) -> bool:
        """Whether it is a regular file."""
        return modes.S_ISREG(self.mode)


async def run_tool(sandbox: AsyncSandbox, command: Sequence[str], path: str) -> str:
    """Runs a program on a path, its last argument, and returns its standard output.

    Raises:
        OSError: The program failed. Its subclass and `errno` come from the message.
        SandboxError: The sandbox is closed, or was closed while the program ran.
    """
    # Arguments are text, so `xargs` passes a path that may not be UTF-8.
    if _is_undecodable(path):
        full, stdin = ["xargs", "-0", *command], os.fsencode(path) + b"\0"
    else:
        full, stdin = [*command, path], b""
    result = await sandbox.execute(full, stdin=stdin, env={"LC_ALL": "C"}, shell="fresh")
    if result.exit_code == 0:
        return os.fsdecode(result.stdout_bytes)
    if result.stopped_by == "cancelled":
        await sandbox.ls("/")  # Raises the error of a closed sandbox.
    message = result.stderr.strip()
    number = next((number for end, number in _MESSAGES.items() if message.endswith(end)), errno.EIO)
    raise OSError(number, message or f"{command[0]} failed with exit code {result.exit_code}", path)


def _is_undecodable(path: str) -> bool:
    """Returns whether the path has bytes that are not UTF-8, which `os.fsdecode` made surrogates."""
    return not path.isascii() and any("\ud800" <= character <= "\udfff" for character in path)


async def stat(sandbox: AsyncSandbox, path: str) -> Attributes:
    """Returns the attributes of a file, following symbolic links.

    Raises:
        OSError: The file cannot be reached, with the `errno` of `stat`.
    """
    mode, size = (await run_tool(sandbox, ["stat", "-L", "--printf=%f %s", "--"], path)).split(" ")
    return Attributes(int(mode, 16), int(size))


async def stat_reachable(sandbox: AsyncSandbox, paths: Sequence[str]) -> dict[str, Attributes]:
    """Returns the attributes of those of several files that can be reached, following symbolic links."""
    if not paths:
        return {}
    # `xargs` passes any number of paths, and those that are not UTF-8.
    result = await sandbox.execute(
        ["xargs", "-0", "stat", "-L", "--printf=%f %s %n\\0", "--"],
        stdin=b"".join(os.fsencode(path) + b"\0" for path in paths),
        shell="fresh",
    )
    found: dict[str, Attributes] = {}
    for line in os.fsdecode(result.stdout_bytes).split("\0")[:-1]:
        mode, size, path = line.split(" ", 2)
        found[path] = Attributes(int(mode, 16), int(size))
    return found


async def real_path(sandbox: AsyncSandbox, path: str) -> str:
    """Resolves symbolic links like `os.path.realpath(path, strict=False)`.

    Raises:
        OSError: The links form a loop, or a directory cannot be searched.
    """
    return (await run_tool(sandbox, ["realpath", "-m", "-z", "--"], path)).rstrip("\0")


async def make_directories(sandbox: AsyncSandbox, path: str) -> None:
    """Creates a directory and its parents, if they are missing.

    Raises:
        OSError: It cannot be created: `FileExistsError` for a file at the path, `NotADirectoryError` for one above it.
    """
    await run_tool(sandbox, ["mkdir", "-p", "--"], path)


async def read_bytes(sandbox: AsyncSandbox, path: str) -> bytes:
    """Reads a whole file. The path is absolute.

    Raises:
        OSError: It cannot be read. A file that is not regular, such as a FIFO, has the `errno` `EINVAL`.
    """
    result = (await sandbox.download_files([os.fsencode(path)]))[0]
    if result.content is not None:
        return result.content
    numbers = {"file_not_found": errno.ENOENT, "permission_denied": errno.EACCES, "is_directory": errno.EISDIR}
    if result.error in numbers:
        raise OSError(numbers[result.error], os.strerror(numbers[result.error]), path)
    await stat(sandbox, path)  # Raises the exact error of a loop of links or of a file used as a directory.
    raise OSError(errno.EINVAL, result.message or "not a regular file", path)


async def write_bytes(sandbox: AsyncSandbox, path: str, data: bytes) -> None:
    """Creates or replaces a file, and creates the directories above it.

    Raises:
        OSError: It cannot be written. A file that is not regular, such as a FIFO, has the `errno` `EINVAL`.
    """
    try:
        await sandbox.write(os.fsencode(path), data)
    except FileOperationError as error:
        await stat(sandbox, path)  # Raises the exact error of a loop of links.
        raise OSError(errno.EINVAL, str(error), path) from error
