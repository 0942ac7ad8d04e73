"""A scripted agent in a deployment, directly and through the server and the client of SWE-ReX."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import uvicorn
from swerex import server as swerex_server
from swerex.exceptions import NonZeroExitCodeError
from swerex.runtime.abstract import (
    AbstractRuntime,
    BashAction,
    CreateBashSessionRequest,
    ReadFileRequest,
    WriteFileRequest,
)
from swerex.runtime.remote import RemoteRuntime

from tidebox.integrations.swerex import TideboxDeployment

STEPS = [
    "cd repo && ls",
    "sh test.sh",
    "sed -i 's/a - b/a + b/' add.sh",
    "sh test.sh && echo fixed",
]
"""Replies of the model: it looks, sees a failing test, changes the file and sees that the test passes."""


async def solve(runtime: AbstractRuntime) -> list[str]:
    await runtime.create_session(CreateBashSessionRequest())
    await runtime.write_file(WriteFileRequest(path="repo/add.sh", content='a=$1 b=$2; echo "$((a - b))"\n'))
    await runtime.write_file(WriteFileRequest(path="repo/test.sh", content='[ "$(sh add.sh 1 2)" = 3 ]\n'))
    seen = []
    for step in STEPS:
        try:
            seen.append((await runtime.run_in_session(BashAction(command=step, timeout=10))).output)
        except NonZeroExitCodeError:
            seen.append("failed")
    patch = await runtime.read_file(ReadFileRequest(path="/workspace/repo/add.sh"))
    return [*seen, patch.content]


EXPECTED = ["add.sh\ntest.sh\n", "failed", "", "fixed\n", 'a=$1 b=$2; echo "$((a + b))"\n']


@asynccontextmanager
async def serve(runtime: AbstractRuntime) -> AsyncIterator[int]:
    with pytest.MonkeyPatch.context() as patch, socket.socket() as listener:
        patch.setattr(swerex_server, "runtime", runtime)
        patch.setattr(swerex_server, "AUTH_TOKEN", "secret")
        listener.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(swerex_server.app, log_level="error"))
        task = asyncio.create_task(server.serve(sockets=[listener]))
        while not server.started:
            await asyncio.sleep(0.01)
        yield listener.getsockname()[1]
        server.should_exit = True
        await task


async def test_agent_fixes_a_file() -> None:
    deployment = TideboxDeployment()
    await deployment.start()
    assert await solve(deployment.runtime) == EXPECTED
    await deployment.stop()


async def test_agent_fixes_a_file_through_the_server() -> None:
    deployment = TideboxDeployment()
    await deployment.start()
    async with serve(deployment.runtime) as port:
        client = RemoteRuntime(host="http://127.0.0.1", port=port, auth_token="secret")
        assert await solve(client) == EXPECTED
        with pytest.raises(FileNotFoundError):
            await client.read_file(ReadFileRequest(path="missing"))
    await deployment.stop()
