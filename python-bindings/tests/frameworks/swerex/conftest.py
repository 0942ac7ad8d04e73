"""Fixtures that the suite of SWE-ReX needs, with the runtime of Tidebox in place of its server."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from swerex.runtime.abstract import BashAction, Command, CreateBashSessionRequest

from tidebox import Mount
from tidebox.integrations.swerex import TideboxRuntime


class _Action(BashAction):
    """An action with the timeout that the suite expects, in seconds."""

    timeout: float | None = 5


class _Command(Command):
    """A command with the timeout that the suite expects, in seconds."""

    timeout: float | None = 5


@pytest.fixture
async def remote_runtime(tmp_path: Path) -> AsyncIterator[TideboxRuntime]:
    # The suite reads and writes files of this machine under the paths that it passes to the runtime.
    runtime = TideboxRuntime(mounts=[Mount(tmp_path, str(tmp_path), "rw")])
    yield runtime
    await runtime.close()


@pytest.fixture
async def runtime_with_default_session(remote_runtime: TideboxRuntime) -> TideboxRuntime:
    await remote_runtime.create_session(CreateBashSessionRequest())
    return remote_runtime
