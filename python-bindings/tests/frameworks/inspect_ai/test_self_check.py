"""The self-check of Inspect, against a sandbox."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from inspect_ai.util import SandboxEnvironment
from inspect_ai.util._sandbox import self_check
from inspect_ai.util._sandbox.self_check import *  # noqa: F403

from tidebox.integrations.inspect_ai import TideboxSandboxEnvironment

KNOWN = {
    "test_exec_as_user": "a sandbox has one user: there is no root, and no adduser",
}
"""Checks that do not hold, with their reasons."""


@pytest_asyncio.fixture
async def sandbox_env(request: pytest.FixtureRequest) -> AsyncIterator[SandboxEnvironment]:
    reason = KNOWN.get(request.node.originalname)
    if reason is not None:
        request.node.add_marker(pytest.mark.xfail(strict=True, reason=reason))
    environments = await TideboxSandboxEnvironment.sample_init("self_check", None, {})
    yield environments["default"]
    await TideboxSandboxEnvironment.sample_cleanup("self_check", None, environments, False)


async def test_the_self_check_has_44_checks() -> None:
    """A new version of the self-check must be counted again."""
    assert len(self_check.__all__) == 44, self_check.__all__
    assert set(KNOWN) <= set(self_check.__all__)
