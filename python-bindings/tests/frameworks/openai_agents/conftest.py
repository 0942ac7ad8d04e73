"""Sessions for the tests of the OpenAI Agents SDK."""

import io
import os
from collections.abc import AsyncIterator

# The tests use no network; without this the SDK sends traces to its service.
os.environ["OPENAI_AGENTS_DISABLE_TRACING"] = "1"

import pytest
from agents.sandbox.session import SandboxSession

from tidebox.integrations.openai_agents import TideboxSandboxClient


@pytest.fixture
def client() -> TideboxSandboxClient:
    return TideboxSandboxClient()


@pytest.fixture
async def session(client: TideboxSandboxClient) -> AsyncIterator[SandboxSession]:
    session = await client.create()
    async with session:
        yield session
    await client.delete(session)


def stream(content: bytes | str) -> io.IOBase:
    return io.BytesIO(content) if isinstance(content, bytes) else io.StringIO(content)
