"""Agents with a scripted model."""

import os
import threading
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest
from smolagents import ChatMessage, CodeAgent, MessageRole, Model, Tool, tool
from smolagents.monitoring import LogLevel

from tidebox import Sandbox
from tidebox.integrations.smolagents import TideboxExecutor


class ScriptedModel(Model):  # type: ignore[misc]
    """Returns steps in order, and keeps the messages that it got."""

    def __init__(self, *steps: str) -> None:
        super().__init__(model_id="scripted")
        self.steps = list(steps)
        self.seen: list[str] = []

    def generate(self, messages: list[Any], **options: Any) -> ChatMessage:
        self.seen.append("".join(part["text"] for part in messages[-1].content))
        return ChatMessage(role=MessageRole.ASSISTANT, content=f"Thought: next.\n<code>\n{self.steps.pop(0)}\n</code>")


@tool
def double(number: int) -> int:
    """Doubles a number.

    Args:
        number: The number.
    """
    return number * 2


class Secret(Tool):  # type: ignore[misc]
    name = "secret"
    description = "Returns a value of the host."
    inputs: ClassVar = {"name": {"type": "string", "description": "Name of the value."}}
    output_type = "object"

    def forward(self, name: str) -> Any:
        if name == "missing":
            raise KeyError(name)
        return {"pid": os.getpid(), "pair": (name, b"\0"), "thread": threading.current_thread().name != ""}


def build(executor: TideboxExecutor, *steps: str, **options: Any) -> CodeAgent:
    options.setdefault("tools", [])
    return CodeAgent(model=ScriptedModel(*steps), executor=executor, verbosity_level=LogLevel.OFF, **options)


@pytest.fixture
def executor() -> Iterator[TideboxExecutor]:
    executor = TideboxExecutor(files={"data.csv": "a,1\nb,2\n"})
    yield executor
    executor.cleanup()


def test_agent_uses_tools_files_and_variables(executor: TideboxExecutor) -> None:
    agent = build(
        executor,
        "rows = [line.split(',') for line in open('data.csv').read().split()]\nprint(len(rows))",
        "total = sum(int(row[1]) for row in rows)\ntotal",
        "final_answer({'sum': double(total), 'extra': extra})",
        tools=[double],
    )
    assert agent.run("Sum up", additional_args={"extra": [1.5, None, "x"]}) == {"sum": 6, "extra": [1.5, None, "x"]}
    assert "Execution logs:\n2\n" in agent.model.seen[1]
    assert "Last output from code snippet:\n3" in agent.model.seen[2]


def test_errors_reach_the_model(executor: TideboxExecutor) -> None:
    agent = build(executor, "print('begun')\n1 / 0", "open('/etc/shadow').read()", "final_answer('done')")
    assert agent.run("Fail") == "done"
    assert "begun" in agent.model.seen[1] and "ZeroDivisionError: division by zero" in agent.model.seen[1]
    assert "PermissionError" in agent.model.seen[2] or "FileNotFoundError" in agent.model.seen[2]


def test_variables_stay_between_runs(executor: TideboxExecutor) -> None:
    agent = build(executor, "kept = 41\nfinal_answer(kept)", "final_answer(kept + 1)")
    assert agent.run("First") == 41
    assert agent.run("Second", reset=False) == 42


def test_host_tools_run_in_this_process() -> None:
    executor = TideboxExecutor(host_tools=["secret"])
    agent = build(
        executor,
        "value = secret('a')\nassert secret(name='a') == value",
        "import os\nfinal_answer([value['pid'], value['pair'], value['pid'] == os.getpid()])",
        tools=[Secret()],
    )
    with agent:
        assert agent.run("Call") == [os.getpid(), ("a", b"\0"), False]


def test_errors_of_host_tools_are_exceptions() -> None:
    executor = TideboxExecutor(host_tools=["secret"])
    agent = build(
        executor,
        "secret('missing')",
        "secret(object())",
        "import subprocess\nprint(subprocess.run(['call-host-tool', 'other'], capture_output=True, text=True).stderr)",
        "final_answer('done')",
        tools=[Secret()],
    )
    with agent:
        assert agent.run("Call") == "done"
    assert "KeyError" in agent.model.seen[1]
    assert "not JSON serializable" in agent.model.seen[2]
    assert "unknown tool" in agent.model.seen[3]


def test_managed_agents_are_called_on_the_host() -> None:
    inner = build(
        TideboxExecutor(), "final_answer(6 * 7)", name="helper", description="Multiplies.", provide_run_summary=False
    )
    executor = TideboxExecutor()
    agent = build(
        executor, "answer = helper('6 * 7')\nprint(answer)", "final_answer('42' in answer)", managed_agents=[inner]
    )
    with agent, inner:
        assert agent.run("Delegate") is True


def test_interpreter_that_ended_gets_its_tools_again(executor: TideboxExecutor) -> None:
    executor.timeout = 1
    agent = build(
        executor,
        "lost = 1\nwhile True: pass",
        "exit()",
        "final_answer(['lost' in globals(), double(extra)])",
        tools=[double],
    )
    assert agent.run("Loop", additional_args={"extra": 4}) == [False, 8]
    assert "stopped because it ran for 1s" in agent.model.seen[1] and "variables are lost" in agent.model.seen[1]
    assert "variables are lost" in agent.model.seen[2]


def test_pickles_are_never_loaded(executor: TideboxExecutor) -> None:
    agent = build(
        executor,
        "class FinalAnswerException(BaseException): pass\nraise FinalAnswerException('pickle:gASVAA==')",
        "final_answer(object())",
        "final_answer('done')",
    )
    assert agent.run("Answer") == "done"
    assert "Pickle data rejected" in agent.model.seen[1]
    assert "Cannot safely serialize" in agent.model.seen[2]


def test_wrong_tools_are_rejected(executor: TideboxExecutor) -> None:
    with pytest.raises(ValueError, match=r"unknown names in host_tools: \['nope'\]"):
        build(TideboxExecutor(host_tools=["nope"]), "final_answer(1)").run("Go")
    with pytest.raises(ValueError, match="final_answer cannot be a host tool"):
        build(TideboxExecutor(host_tools=["final_answer"]), "final_answer(1)").run("Go")
    used = Sandbox()
    used.execute("true")
    with pytest.raises(ValueError, match="was used before"):
        build(TideboxExecutor(sandbox=used, host_tools=["secret"]), "final_answer(1)", tools=[Secret()]).run("Go")
