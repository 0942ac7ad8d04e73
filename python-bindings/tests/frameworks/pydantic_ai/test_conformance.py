"""The conformance suite of Pydantic AI, against a sandbox."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import cast

import pytest
from pydantic_ai.workspaces import WorkspaceBackend, WorkspaceRef
from pydantic_ai.workspaces.conformance import WorkspaceBackendSuite

from tidebox import AsyncProvider
from tidebox.integrations.pydantic_ai import TideboxSandboxBackend

@pytest.fixture
def anyio_backend() -> str:
    """Tidebox supports asyncio only."""
    return "asyncio"


class TestTidebox(WorkspaceBackendSuite):
    """All rules, with those for a second backend that attaches."""

    @pytest.fixture
    def provider(self) -> AsyncProvider:
        return AsyncProvider()

    @pytest.fixture
    def fresh_backend(self, provider: AsyncProvider) -> Callable[[], WorkspaceBackend]:
        return lambda: TideboxSandboxBackend(provider=provider)

    @pytest.fixture
    def backend(self, provider: AsyncProvider) -> WorkspaceBackend:
        return TideboxSandboxBackend(provider=provider)

    @pytest.fixture
    def attach_backend(self, provider: AsyncProvider) -> Callable[[WorkspaceRef], WorkspaceBackend]:
        return lambda ref: TideboxSandboxBackend(provider=provider, ref=ref)

    @pytest.fixture
    def destroy_environment(self) -> Callable[[WorkspaceBackend], Awaitable[None]]:
        return lambda backend: cast(TideboxSandboxBackend, backend).destroy()


def test_the_suite_has_40_rules() -> None:
    """A new version of the suite must be counted again."""
    rules = [name for name in dir(TestTidebox) if name.startswith("test_")]
    assert len(rules) == 40, rules
