"""A scripted agent that uses a sandbox through tools, without a network."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.runnables import Runnable

from tidebox import AsyncProvider, AsyncSandbox, Limits, Provider, Sandbox, SandboxError
from tidebox.integrations.langchain import TideboxToolkit


class ScriptedModel(GenericFakeChatModel):
    """A model that returns prepared messages and accepts tools."""

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, Any]:
        return self


def scripted(*calls: tuple[str, dict[str, Any]]) -> ScriptedModel:
    messages = [
        AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": str(n), "type": "tool_call"}])
        for n, (name, arguments) in enumerate(calls)
    ]
    return ScriptedModel(messages=iter([*messages, AIMessage("done")]))


def results(state: dict[str, Any]) -> list[ToolMessage]:
    assert state["messages"][-1].content == "done"
    return [one for one in state["messages"] if isinstance(one, ToolMessage)]


ASK: Any = {"messages": [("user", "go")]}
"""State at the start: LangGraph converts the message."""

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("write_file", {"path": "src/main.sh", "content": "echo one\necho two\n"}),
    ("edit_file", {"path": "src/main.sh", "old_string": "two", "new_string": "2"}),
    ("execute", {"command": "bash src/main.sh; exit 3"}),
    ("read_file", {"path": "src/main.sh", "limit": 1}),
    ("ls", {"path": "src"}),
    ("glob", {"pattern": "**/*.sh"}),
    ("grep", {"pattern": "echo 2"}),
    ("read_file", {"path": "missing"}),
    ("edit_file", {"path": "src/main.sh", "old_string": "echo", "new_string": "x"}),
    ("execute", {"command": "true", "timeout": 1e6}),
    ("read_file", {"path": "src/main.sh", "limit": -1}),
]


def check(messages: list[ToolMessage]) -> None:
    texts = [str(one.content) for one in messages]
    assert texts[:7] == [
        "Wrote 18 bytes to src/main.sh",
        "Replaced 1 occurrence(s) in src/main.sh",
        "one\n2\n[exit code: 3]",
        "echo one\n[2 lines; continue with offset=1]",
        "/workspace/src/main.sh (16 bytes)",
        "/workspace/src/main.sh",
        "/workspace/src/main.sh:2:echo 2",
    ]
    assert [one.status for one in messages] == ["success"] * 7 + ["error"] * 4
    assert texts[7] == "No such file or directory: /workspace/missing" and "multiple times" in texts[8]
    assert texts[9] == "timeout must be at most 600 seconds, not 1e+06" and "validation error" in texts[10]
    assert messages[2].artifact == {
        "exit_code": 3, "stdout": "one\n2\n", "stderr": "", "stopped_by": None, "truncated": False,
    }  # fmt: skip


def test_an_agent_edits_and_runs_a_program() -> None:
    sandbox = Sandbox()
    agent = create_agent(scripted(*CALLS), TideboxToolkit(sandbox=sandbox).get_tools())
    check(results(agent.invoke(ASK)))
    assert sandbox.read("src/main.sh").content == "echo one\necho 2\n"


def test_an_agent_runs_with_asyncio() -> None:
    async def run() -> None:
        agent = create_agent(scripted(*CALLS), TideboxToolkit(sandbox=AsyncSandbox()).get_tools())
        check(results(await agent.ainvoke(ASK)))

    asyncio.run(run())


@pytest.mark.parametrize("kind", [Provider, AsyncProvider])
def test_each_thread_has_its_own_sandbox(kind: type[Provider] | type[AsyncProvider]) -> None:
    provider = kind()
    call = ("execute", {"command": "echo x >> log; cat log"})

    def turn(thread: str) -> str:
        agent = create_agent(scripted(call), TideboxToolkit(provider=provider).get_tools())
        state = agent.invoke(ASK, {"configurable": {"thread_id": thread}})
        return str(results(state)[0].content)

    async def asynchronous_turn(thread: str) -> str:
        agent = create_agent(scripted(call), TideboxToolkit(provider=provider).get_tools())
        state = await agent.ainvoke(ASK, {"configurable": {"thread_id": thread}})
        return str(results(state)[0].content)

    assert [turn("a"), turn("b"), turn("a")] == ["x\n", "x\n", "x\nx\n"]
    assert asyncio.run(asynchronous_turn("a")) == "x\nx\nx\n"
    agent = create_agent(scripted(call), TideboxToolkit(provider=provider).get_tools())
    with pytest.raises(RuntimeError, match="no thread_id"):
        agent.invoke(ASK)


def test_long_output_is_shortened_for_the_model_only() -> None:
    tools = {one.name: one for one in TideboxToolkit(sandbox=Sandbox(), max_chars=100).get_tools()}
    call = {"name": "execute", "args": {"command": "seq 1000"}, "id": "1", "type": "tool_call"}
    message = tools["execute"].invoke(call)
    assert message.content.startswith("1\n2\n") and message.content.endswith("1000\n")
    assert "characters omitted" in message.content and len(message.content) < 150
    assert len(message.artifact["stdout"].split()) == 1000


def test_a_stopped_command_reports_the_limit() -> None:
    tool = TideboxToolkit(sandbox=Sandbox(limits=Limits(wall_time=0.2)), names=("execute",)).get_tools()[0]
    message = tool.invoke({"name": "execute", "args": {"command": "sleep 9"}, "id": "1", "type": "tool_call"})
    assert message.artifact["stopped_by"] == "timeout" and "[exit code: 124]" in message.content


def test_a_closed_sandbox_raises() -> None:
    sandbox = Sandbox()
    tool = TideboxToolkit(sandbox=sandbox).get_tools()[0]
    sandbox.close()
    with pytest.raises(SandboxError, match="closed"):
        tool.invoke({"command": "true"})


def test_a_model_sees_only_the_arguments() -> None:
    tools = TideboxToolkit(sandbox=Sandbox()).get_tools()
    assert {tool.name: sorted(tool.args) for tool in tools}["execute"] == ["command", "timeout"]


@pytest.mark.parametrize("options", [{}, {"sandbox": Sandbox(), "provider": Provider()}, {"names": ["bash"]}])
def test_wrong_options_are_rejected(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        TideboxToolkit(**options)
