"""The fixtures of the pytest plugin."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from tidebox import Emulator, Limits, Sandbox, create_sandbox

pytest_plugins = ["pytester"]


def test_the_fixture_is_a_sandbox(tidebox_sandbox: Sandbox) -> None:
    assert tidebox_sandbox.execute("pwd").stdout == "/workspace\n"


@pytest.mark.tidebox(files={"a": "1"}, env={"X": "outer"})
class TestMarkers:
    def test_a_marker_sets_options(self, tidebox_sandbox: Sandbox) -> None:
        assert tidebox_sandbox.execute("cat a; echo $X").stdout == "1outer\n"

    @pytest.mark.tidebox(env={"X": "inner"}, limits=Limits(wall_time=0.2))
    def test_the_closest_marker_wins(self, tidebox_sandbox: Sandbox) -> None:
        assert tidebox_sandbox.execute("cat a; echo $X").stdout == "1inner\n"
        assert tidebox_sandbox.execute("sleep 9").stopped_by == "timeout"


def test_an_emulator_sets_the_variables_of_the_sdk(tidebox_emulator: Callable[..., Emulator]) -> None:
    emulator = tidebox_emulator("e2b")
    assert os.environ["E2B_API_URL"].startswith(emulator.url)
    assert create_sandbox("e2b").execute("echo hi").stdout == "hi\n"


def test_requests_are_recorded_and_replayed(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_agent="""
        import os
        from tidebox import Emulator, Provider

        def test_build(tidebox_cassette, monkeypatch):
            if "RECORD" in os.environ:
                emulator = Emulator("e2b")
                for name, value in emulator.variables.items():
                    monkeypatch.setenv(name, value)
            sandbox = Provider("e2b", cassette=tidebox_cassette).get_or_create()
            assert sandbox.execute("echo hi").stdout == "hi\\n"
        """
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECORD", "1")
        pytester.runpytest_subprocess("--tidebox-record=missing").assert_outcomes(passed=1)
    assert (pytester.path / "cassettes/test_agent/test_build.json").is_file()
    pytester.runpytest_subprocess().assert_outcomes(passed=1)
