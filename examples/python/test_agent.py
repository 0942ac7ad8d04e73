"""Tests of an agent, without a network. `agent` stands for yours: it gets a task and a sandbox, and acts by commands."""

from collections.abc import Callable

import pytest

from tidebox import Emulator, Limits, Sandbox, create_sandbox


def agent(task: str, sandbox: Sandbox) -> str:
    """Counts the words of a file and writes the result."""
    done = sandbox.execute(f"wc -w < {task} > count.txt", timeout=2)
    return "done" if done.ok else f"stopped by {done.stopped_by or done.stderr}"


@pytest.mark.tidebox(files={"text.txt": "one two three\n"})
def test_the_agent_leaves_only_its_result(tidebox_sandbox: Sandbox) -> None:
    before = tidebox_sandbox.snapshot()
    assert agent("text.txt", tidebox_sandbox) == "done"
    assert [change.path for change in tidebox_sandbox.diff(before)] == ["/workspace/count.txt"]
    assert tidebox_sandbox.read("count.txt").content.strip() == "3"


def test_the_agent_reports_a_missing_file(tidebox_sandbox: Sandbox) -> None:
    assert "No such file" in agent("missing.txt", tidebox_sandbox)


@pytest.mark.tidebox(files={"text.txt": "x"}, limits=Limits(wall_time=0.2))
def test_the_agent_reports_a_limit(tidebox_sandbox: Sandbox) -> None:
    assert agent("<(sleep 60; cat text.txt)", tidebox_sandbox) == "stopped by timeout"


@pytest.mark.parametrize("provider", ["daytona", "e2b", "modal"])
def test_the_agent_works_with_providers(provider: str, tidebox_emulator: Callable[..., Emulator]) -> None:
    tidebox_emulator(provider)
    sandbox = create_sandbox(provider)  # type: ignore[arg-type]
    sandbox.write("text.txt", "one two\n")
    assert agent("text.txt", sandbox) == "done"
    assert sandbox.execute("cat count.txt").stdout.strip() == "2"
