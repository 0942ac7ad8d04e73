"""The agent of Deep Agents Code with a scripted model and a sandbox of the provider."""

from pathlib import Path
from typing import Any

from deepagents_code._fake_models import _ToolBindingFakeModel
from deepagents_code.agent import create_cli_agent
from deepagents_code.integrations.sandbox_factory import create_sandbox
from langchain_core.messages import AIMessage


def call(name: str, id: str, **arguments: Any) -> AIMessage:
    return AIMessage(content="", tool_calls=[{"name": name, "args": arguments, "id": id}])


async def test_agent_works_in_the_sandbox(tmp_path: Path) -> None:
    model = _ToolBindingFakeModel(
        messages=iter(
            [
                call("write_file", "1", file_path="/workspace/data.txt", content="40\n2\n"),
                call("execute", "2", command="awk '{s+=$1} END {print s}' data.txt | tee sum.txt; pwd"),
                call("read_file", "3", file_path="/workspace/sum.txt"),
                AIMessage(content="The sum is 42."),
            ]
        )
    )
    with create_sandbox("tidebox") as backend:
        agent, _ = create_cli_agent(
            model, "test", sandbox=backend, sandbox_type="tidebox", auto_approve=True, interactive=False,
            enable_memory=False, enable_skills=False, enable_ask_user=False, cwd=tmp_path,
        )  # fmt: skip
        state = await agent.ainvoke({"messages": [{"role": "user", "content": "Sum up 40 and 2."}]})
        assert backend.execute("cat sum.txt").output == "42\n"
    tools = [message for message in state["messages"] if message.type == "tool"]
    assert [message.status for message in tools] == ["success"] * 3
    assert "42\n/workspace" in tools[1].content and "42" in tools[2].content
    assert state["messages"][-1].content == "The sum is 42."
    assert list(tmp_path.glob("*.txt")) == []
