"""Server for the requests with which Inspect starts and polls the processes of `exec_remote`.

Inspect installs a Linux program in a sandbox, and sends it requests in JSON-RPC through `exec`. The program cannot run in
a sandbox of Tidebox. So its path has a script, and `exec` passes the requests to `RemoteProcesses`.
"""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import io
import json
import posixpath
import tarfile
from typing import Any

from inspect_ai.util import SandboxUserUnsupportedError

from .._async_sandbox import AsyncSandbox
from .._native import ProcessOutput, SandboxError
from .._process import AsyncProcess

try:
    from inspect_ai.util._sandbox._cli import SANDBOX_CLI
except ImportError:  # The path is private, and another version of Inspect may have moved it.
    SANDBOX_CLI = ""

__all__ = ["SANDBOX_CLI", "RemoteProcesses", "check_user", "launcher_archive"]

USERS = ("tidebox", "1000")
"""Name and id of the only user that commands can run as."""

SERVER_ERROR, METHOD_NOT_FOUND = -32000, -32601
"""Codes of JSON-RPC. Inspect converts both to `RuntimeError`."""

KILLED_EXIT_CODE = 137
"""Exit code of a process that ended without one."""

_POLL = 20.0
"""Seconds that one request waits for output. Inspect waits for 5 seconds or more after a reply without any."""

_LAUNCHER = b"#!/bin/sh\necho 'the Linux program of Inspect cannot run in a Tidebox sandbox' >&2\nexit 1\n"


def check_user(user: str | None) -> None:
    """Raises `SandboxUserUnsupportedError` for another user than the one of a sandbox."""
    if user is not None and user not in USERS:
        raise SandboxUserUnsupportedError(
            f"cannot run a command as {user!r}: a Tidebox sandbox has only the user 'tidebox' (1000), and no root"
        )


def launcher_archive() -> bytes:
    """Returns a tar archive with the file that Inspect looks for before it sends requests, in a private directory."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        if SANDBOX_CLI:
            path = SANDBOX_CLI.strip("/")
            directory, file = tarfile.TarInfo(posixpath.dirname(path)), tarfile.TarInfo(path)
            directory.type, file.size = tarfile.DIRTYPE, len(_LAUNCHER)
            directory.mode = file.mode = 0o700
            tar.addfile(directory)
            tar.addfile(file, io.BytesIO(_LAUNCHER))
    return archive.getvalue()


class RemoteProcesses:
    """The processes of `exec_remote` in one sandbox."""

    def __init__(self, sandbox: AsyncSandbox) -> None:
        self._sandbox = sandbox
        self._jobs: dict[int, _Job] = {}

    async def reply(self, request: str | bytes | None, timeout: float | None) -> str:
        """Returns the reply to a request, both as text in JSON.

        Args:
            request: A request of JSON-RPC.
            timeout: Seconds until the reply must be there; not limited by default.

        Raises:
            SandboxUserUnsupportedError: A process cannot run as the user of the request.
        """
        message = json.loads(request or "{}")
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message.get("id", 0)}
        try:
            reply["result"] = await self._call(message.get("method"), message.get("params") or {}, timeout)
        except _RequestError as error:
            reply["error"] = {"code": error.code, "message": str(error)}
        except (SandboxError, ValueError) as error:
            reply["error"] = {"code": SERVER_ERROR, "message": str(error)}
        return json.dumps(reply)

    async def _call(self, method: object, params: dict[str, Any], timeout: float | None) -> dict[str, Any]:
        if method == "exec_remote_start":
            return await self._start(params)
        if not isinstance(method, str) or not method.startswith("exec_remote_"):
            text = f"{method} needs the Linux program of Inspect, which cannot run in a Tidebox sandbox"
            raise _RequestError(METHOD_NOT_FOUND, text)
        job = self._jobs.get(params.get("pid", 0))
        if job is None:
            raise _RequestError(SERVER_ERROR, f"No job found with pid {params.get('pid')}")
        if method == "exec_remote_poll":
            return await job.poll(_POLL if timeout is None else min(_POLL, timeout / 2))
        if method == "exec_remote_kill":
            await job.kill()
        elif method == "exec_remote_write_stdin":
            await job.write(params["data"])
        elif method == "exec_remote_close_stdin":
            await job.close_input()
        else:
            raise _RequestError(METHOD_NOT_FOUND, f"unknown method {method}")
        return {"seq": job.seq, "stdout": "", "stderr": ""}

    async def _start(self, params: dict[str, Any]) -> dict[str, Any]:
        check_user(params.get("user"))
        given = params.get("input")
        is_open = params.get("stdin_open", False)
        process = await self._sandbox.spawn(
            params["command"], cwd=params.get("cwd"), env=params.get("env"), stdin=given is not None or is_open
        )
        job = self._jobs[int(process.id)] = _Job(process)
        if given is not None:
            job.feed(given, end=not is_open)
        return {"pid": int(process.id)}


class _RequestError(Exception):
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class _Job:
    """A process, and the output that was not sent yet."""

    def __init__(self, process: AsyncProcess) -> None:
        self.process = process
        self.seq = 0
        self._next = 0
        self._was_killed = False
        self._feeding: asyncio.Task[None] | None = None
        new = codecs.getincrementaldecoder("utf-8")
        self._decoders = {"stdout": new("replace"), "stderr": new("replace")}

    def feed(self, text: str, *, end: bool) -> None:
        """Writes to standard input without waiting for the process to read."""

        async def write() -> None:
            # A process that ends before it has read all is not an error.
            with contextlib.suppress(SandboxError, ValueError):
                await self.process.write(text)
                if end:
                    await self.process.close_input()

        self._feeding = asyncio.ensure_future(write())

    async def write(self, text: str) -> None:
        """Writes to standard input, after the initial input."""
        await self._fed()
        await self.process.write(text)

    async def close_input(self) -> None:
        """Closes standard input, after the initial input."""
        await self._fed()
        await self.process.close_input()

    async def _fed(self) -> None:
        if self._feeding is not None:
            await asyncio.shield(self._feeding)

    async def poll(self, wait: float) -> dict[str, Any]:
        """Returns new output, or waits some seconds for it."""
        page = await self.process.read(self._next, wait=wait)
        self._next, self.seq = page.next, self.seq + 1
        has_ended = not page.running and not page.chunks
        state = "running" if not has_ended else "killed" if self._was_killed else "completed"
        exit_code = (KILLED_EXIT_CODE if page.exit_code is None else page.exit_code) if has_ended else None
        return {"state": state, "exit_code": exit_code, "seq": self.seq, **self._text(page, final=has_ended)}

    async def kill(self) -> None:
        self._was_killed = True
        await self.process.kill()

    def _text(self, page: ProcessOutput, *, final: bool) -> dict[str, str]:
        texts = {"stdout": "", "stderr": ""}
        if page.dropped:
            texts["stderr"] = f"[{page.dropped} bytes of older output were dropped]\n"
        for chunk in page.chunks:
            texts[chunk.stream] += self._decoders[chunk.stream].decode(chunk.data)
        if final:
            for stream, decoder in self._decoders.items():
                texts[stream] += decoder.decode(b"", final=True)
        return texts
