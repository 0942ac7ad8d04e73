"""Fixtures for tests of agents: sandboxes and emulators of providers. Installed with the package, so nothing has to be imported.

    @pytest.mark.tidebox(files={"main.py": "print(1)"}, limits=Limits(wall_time=5))
    def test_agent(tidebox_sandbox):
        assert tidebox_sandbox.execute("cat main.py").ok

    def test_with_the_official_sdk(tidebox_emulator):
        tidebox_emulator("e2b")          # the environment points the SDK to it
        sandbox = e2b.Sandbox.create()

    def test_with_recorded_requests(tidebox_cassette):
        sandbox = Provider("e2b", cassette=tidebox_cassette).get_or_create()

`pytest --tidebox-record=missing` records the requests of `tidebox_cassette` to a provider; without it they are replayed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ._provider import Cassette, Emulator, SandboxOptions
from ._sandbox import Sandbox


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("tidebox").addoption(
        "--tidebox-record",
        choices=["never", "missing", "always"],
        default="never",
        help="whether tidebox_cassette records requests to a provider: never, if its file is missing, or always [never]",
    )


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


@pytest.fixture
def tidebox_cassette(request: pytest.FixtureRequest) -> Iterator[Cassette]:
    """The cassette of a test: `cassettes/MODULE/TEST.json` in the directory of its file. `--tidebox-record` sets its mode.

    It is saved after the test, unless the test failed: a recording of a failure would be replayed.
    """
    name = re.sub(r"[^\w.-]+", "-", request.node.name)
    path = request.path.parent / "cassettes" / request.path.stem / f"{name}.json"
    failed = request.session.testsfailed
    mode: Any = request.config.getoption("--tidebox-record")
    cassette = Cassette(path, mode=mode)
    yield cassette
    if request.session.testsfailed == failed:
        cassette.save()
