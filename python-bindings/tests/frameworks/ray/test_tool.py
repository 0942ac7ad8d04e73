"""The tool with the interface of verl, called as verl's agent loop and its older rollouts call it."""

import asyncio
import json
import os
import sys
import types
from collections.abc import AsyncIterator
from typing import Any

import pytest
import ray

from tidebox import AsyncSandbox
from tidebox.integrations.ray import SandboxPool, TideboxTool

STEPS = ["cat data.txt", "awk '{s+=$1} END {print s}' data.txt > sum.txt", "cat sum.txt; exit 3"]
REWARD = "grep -qx 42 sum.txt"
KWARGS: dict[str, Any] = {"bash": {"create_kwargs": {"files": {"data.txt": "40\n2\n"}, "reward": REWARD, "unknown": 1}}}


@pytest.fixture(params=["in this process", "in a pool"])
async def tool(request: pytest.FixtureRequest, cluster: Any) -> AsyncIterator[TideboxTool]:
    config: dict[str, Any] = {"type": "native", "sandbox": {"env": {"NAME": "x"}, "limits": {"wall_time": 20}}}
    if request.param == "in a pool":
        config |= {"pool": "tool", "pool_options": {"num_cpus": 0.1}}
    tool = TideboxTool(config=config, tool_schema=None)
    yield tool
    await tool.close()
    if tool._pool is not None:
        tool._pool.close(shared=True)


def trajectory(id: str) -> Any:
    """The part of verl's `AgentData` that the tool reads."""
    return types.SimpleNamespace(request_id=id)


async def call_tool(tool: TideboxTool, agent_data: Any, arguments: str) -> tuple[Any, float | None, dict[str, Any]]:
    """Creates and releases an instance for each call, as verl's agent loop does."""
    instance_id = None
    try:
        instance_id, _ = await tool.create(create_kwargs=KWARGS[tool.name]["create_kwargs"])
        return await tool.execute(instance_id, json.loads(arguments), agent_data=agent_data)
    finally:
        if instance_id:
            await tool.release(instance_id)


async def test_agent_loop_keeps_one_sandbox_for_each_trajectory(tool: TideboxTool) -> None:
    async def loop(id: str) -> list[str]:
        return [(await call_tool(tool, trajectory(id), json.dumps({"command": step})))[0].text for step in STEPS]

    many = await asyncio.gather(*(loop(f"t{number}") for number in range(20)))
    assert many == [["40\n2\n", "", "42\n[exit code 3]"]] * 20
    assert len(tool._kept) == 20 and tool._instances == {}
    await tool.end_trajectory("t0")
    assert (await call_tool(tool, trajectory("t0"), '{"command": "ls"}'))[0].text == "data.txt\n"


async def test_older_rollouts_ask_for_the_reward(tool: TideboxTool) -> None:
    instance_id, response = await tool.create("request-1", **KWARGS["bash"]["create_kwargs"])
    assert (instance_id, response.text) == ("request-1", None)
    for step, reward in zip(STEPS, [0.0, 1.0, 1.0]):
        _, step_reward, metrics = await tool.execute(instance_id, {"command": step})
        assert step_reward is None and metrics["may_have_run"] is False
        assert await tool.calc_reward(instance_id) == reward
    assert metrics["exit_code"] == 3 and metrics["stopped_by"] is None and metrics["seconds"] >= 0
    await tool.release(instance_id)
    await tool.release(instance_id)
    assert tool._kept == {}
    with pytest.raises(ValueError, match="call create"):
        await tool.execute(instance_id, {"command": "ls"})


async def test_invalid_arguments_are_responses_for_the_model(tool: TideboxTool) -> None:
    for arguments in ("{}", '{"command": 3}'):
        response, reward, metrics = await call_tool(tool, trajectory("t"), arguments)
        assert (response.text, reward, metrics) == ("error: the argument `command` must be a string", None, {})
    response, _, metrics = await call_tool(tool, trajectory("t"), '{"command": "a\\u0000b"}')
    assert "contains a NUL byte" in response.text and metrics["exit_code"] == 126


async def test_long_output_and_limits_are_reported(cluster: Any) -> None:
    tool = TideboxTool({"max_chars": 10, "timeout": 0.2, "scope": "instance", "step_rewards": True, "reward": "test -e a"})
    id, _ = await tool.create(setup="touch b")
    response, reward, _ = await tool.execute(id, {"command": "seq 10; rm b"}, agent_data=trajectory("t"))
    assert (response.text, reward) == ("1\n2\n3\n... 11 characters are missing ...\n9\n10\n", 0.0)
    response, reward, metrics = await tool.execute(id, {"command": "touch a; sleep 9"})
    assert response.text.endswith("[stopped by its limit: timeout]\n[exit code 124]")
    assert (reward, metrics["stopped_by"]) == (1.0, "timeout")
    await tool.close()


async def count_lines(sandbox: Any, path: str, **kwargs: Any) -> float:
    return float((await sandbox.execute(["wc", "-l", path])).stdout.split()[0])


async def test_reward_functions_get_the_sandbox(tool: TideboxTool) -> None:
    sys.modules["rewards"] = types.SimpleNamespace(count_lines=count_lines)
    id, _ = await tool.create(files={"a": "1\n2\n"}, reward="python:rewards:count_lines")
    assert await tool.calc_reward(id, path="a") == 2.0


async def test_idle_trajectories_are_closed(cluster: Any) -> None:
    tool = TideboxTool({"idle_timeout": 0.2})
    await call_tool(tool, trajectory("t"), '{"command": "ls"}')
    sandbox: Any = await tool._kept["t"].sandbox
    for _ in range(100):
        if not tool._kept:
            break
        await asyncio.sleep(0.05)
    assert tool._kept == {}
    await asyncio.sleep(0.1)
    with pytest.raises(Exception, match="closed"):
        await sandbox.execute("true")
    await tool.close()


async def end_process(sandbox: AsyncSandbox) -> None:
    os.kill(os.getpid(), 9)


async def test_lost_sandbox_is_reported_to_the_caller(cluster: Any) -> None:
    tool = TideboxTool({"pool": "lost", "pool_options": {"num_cpus": 0.1}, "reward": "true"})
    id, _ = await tool.create("t")
    await tool.execute(id, {"command": "ls"})
    running = asyncio.ensure_future(tool.execute(id, {"command": "sleep 20"}))
    await asyncio.sleep(0.3)
    sandbox: Any = await tool._kept["t"].sandbox
    ray.kill(sandbox._node.actor)
    response, _, metrics = await running
    assert "may have run" in response.text and metrics == {"may_have_run": True}
    response, _, metrics = await tool.execute(id, {"command": "ls"})
    assert "was lost before" in response.text and metrics == {"may_have_run": False}
    assert await tool.calc_reward(id) == 0.0
    await tool.close()
    SandboxPool(name="lost", num_cpus=0.1).close(shared=True)


async def test_classes_of_verl_are_used_if_it_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    class Response:
        def __init__(self, text: str | None = None) -> None:
            self.text = text

    class Schema:
        @staticmethod
        def model_validate(table: dict[str, Any]) -> Any:
            return types.SimpleNamespace(function=types.SimpleNamespace(name=table["function"]["name"]), table=table)

    module = types.SimpleNamespace(ToolResponse=Response, OpenAIFunctionToolSchema=Schema)
    monkeypatch.setitem(sys.modules, "verl.tools.schemas", module)  # type: ignore[arg-type]
    tool = TideboxTool({})
    assert (tool.name, tool.get_openai_tool_schema().table["type"]) == ("bash", "function")
    assert isinstance((await tool.create())[1], Response)


def test_configuration_is_checked() -> None:
    tool = TideboxTool({"type": "native"})
    dumped = tool.tool_schema.model_dump(exclude_unset=True, exclude_none=True)
    assert dumped["function"]["parameters"]["required"] == ["command"] and tool.name == "bash"
    json.dumps(dumped)
    with pytest.raises(ValueError, match="scope must be"):
        TideboxTool({"scope": "all"})
    with pytest.raises(TypeError):
        TideboxTool({"sandbox": {"unknown": 1}})
