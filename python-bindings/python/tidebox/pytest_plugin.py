"""Fixtures for tests of agents: sandboxes and emulators of providers. Installed with the package, so nothing has to be imported.

    @pytest.mark.tidebox(files={"main.py": "print(1)"}, limits=Limits(wall_time=5))
    def test_agent(tidebox_sandbox):
        assert tidebox_sandbox.execute("cat main.py").ok

    def test_with_the_official_sdk(tidebox_emulator):
        tidebox_emulator("e2b")          # the environment points the SDK to it
        sandbox = e2b.Sandbox.create()
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ._provider import Emulator, SandboxOptions
from ._sandbox import Sandbox


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "tidebox(**options): options of the sandbox of `tidebox_sandbox`, such as files and limits; those of Sandbox"
    )


def _options(request: pytest.FixtureRequest) -> dict[str, Any]:
    options: dict[str, Any] = {}
    # The closest marker comes first; it overrides the others.
    for marker in reversed(list(request.node.iter_markers("tidebox"))):
        if marker.args:
            raise TypeError("the marker tidebox takes keyword arguments only: those of tidebox.Sandbox")
        options.update(marker.kwargs)
    return options


@pytest.fixture
def tidebox_sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """A new sandbox, closed after the test. The marker `tidebox` sets its options."""
    with Sandbox(**_options(request)) as sandbox:
        yield sandbox


@pytest.fixture
def tidebox_emulator(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Emulator]]:
    """Starts an emulator of a provider, and sets the environment variables that point its SDK to it, until the test ends."""
    running: list[Emulator] = []

    def start(provider: Any, *, sandbox: SandboxOptions | None = None) -> Emulator:
        emulator = Emulator(provider, sandbox=sandbox)
        running.append(emulator)
        for name, value in emulator.variables.items():
            monkeypatch.setenv(name, value)
        return emulator

    yield start
    for emulator in running:
        emulator.close()
