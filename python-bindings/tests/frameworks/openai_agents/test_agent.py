"""Agents with a scripted model, through the runner of the SDK."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from agents import RunConfig, RunContextWrapper, Runner, RunState
from agents.sandbox import SandboxAgent, SandboxRunConfig
from agents.sandbox.capabilities import Filesystem, Shell
from agents.sandbox.entries import File
from agents.sandbox.manifest import Manifest
from agents.sandbox.snapshot import LocalSnapshotSpec
from agents.testing import ScriptedModel, assistant_message, function_call
from openai.types.responses import ResponseCustomToolCall

from tidebox.integrations.openai_agents import TideboxSandboxClient, TideboxSandboxClientOptions, create_shell


def command(line: str, number: int, **more: Any) -> Any:
    return [function_call("exec_command", {"cmd": line, **more}, call_id=f"call-{number}")]


def outputs(result: Any) -> list[str]:
    return [item.output for item in result.new_items if item.type == "tool_call_output_item"]


async def test_agent_runs_commands_and_patches(tmp_path: Path) -> None:
    patch = (
        "*** Begin Patch\n*** Add File: src/sum.sh\n+sort -n ../data.txt | awk '{s+=$1} END {print s}'\n*** End Patch\n"
    )
    model = ScriptedModel(
        [
            command("cat data.txt; pwd", 1),
            [ResponseCustomToolCall(call_id="call-2", name="apply_patch", input=patch, type="custom_tool_call")],
            command("sh sum.sh; exit 3", 3, workdir="src"),
            [assistant_message("The sum is 42.")],
        ]
    )
    agent = SandboxAgent(name="coder", instructions="Sum up.", model=model, capabilities=[Filesystem(), Shell()])
    client = TideboxSandboxClient()
    config = RunConfig(
        sandbox=SandboxRunConfig(
            client=client,
            manifest=Manifest(entries={"data.txt": File(content=b"40\n2\n")}),
            snapshot=LocalSnapshotSpec(base_path=tmp_path),
        )
    )
    result = await Runner.run(agent, "Sum up data.txt", run_config=config)
    assert result.final_output == "The sum is 42."
    first, second, third = outputs(result)
    assert "40\n2\n/workspace" in first and "Process exited with code 0" in first
    assert "src/sum.sh" in str(second)
    assert "42" in third and "Process exited with code 3" in third
    model.assert_complete()
    assert client._sandboxes == {}
    assert [file.suffix for file in tmp_path.iterdir()] == [".tar"]


@pytest.mark.parametrize("same_client", [True, False])
async def test_interrupted_run_resumes_with_its_files(tmp_path: Path, same_client: bool) -> None:
    def approve(tools: Any) -> None:
        async def needs_approval(context: RunContextWrapper[Any], arguments: dict[str, Any], call_id: str) -> bool:
            return "rm" in arguments["cmd"]

        tools.exec_command.needs_approval = needs_approval

    def build(steps: list[Any]) -> SandboxAgent[Any]:
        return SandboxAgent(
            name="coder",
            instructions="Work.",
            model=ScriptedModel(steps),
            capabilities=[Shell(configure_tools=approve)],
        )

    client = TideboxSandboxClient()
    sandbox = SandboxRunConfig(client=client, snapshot=LocalSnapshotSpec(base_path=tmp_path))
    first = await Runner.run(
        build([command("echo kept > a; echo old > b", 1), command("rm b; cat a; ls", 2)]),
        "Work",
        run_config=RunConfig(sandbox=sandbox),
    )
    assert len(first.interruptions) == 1
    text = json.dumps(first.to_state().to_json())

    agent = build([[assistant_message("Done.")]])
    state = await RunState.from_json(agent, json.loads(text))
    state.approve(state.get_interruptions()[0])
    if not same_client:
        sandbox = SandboxRunConfig(client=TideboxSandboxClient(), snapshot=LocalSnapshotSpec(base_path=tmp_path))
    second = await Runner.run(agent, state, run_config=RunConfig(sandbox=sandbox))
    assert second.final_output == "Done."
    assert "kept\na\n" in outputs(second)[-1]


async def test_shell_has_a_longer_timeout() -> None:
    steps = [command("sleep 0.4; echo late", 1, yield_time_ms=100), [assistant_message("Done.")]]

    async def run(shell: Shell, seed: int | None) -> str:
        agent = SandboxAgent(name="a", instructions="Wait.", model=ScriptedModel(list(steps)), capabilities=[shell])
        options = TideboxSandboxClientOptions(seed=seed)
        config = RunConfig(sandbox=SandboxRunConfig(client=TideboxSandboxClient(), options=options))
        return outputs(await Runner.run(agent, "Wait", run_config=config))[0]

    # A deterministic sandbox has no processes that outlive a call.
    assert "timed out after 0.100 seconds" in await run(Shell(), 1)
    assert "late" in await run(create_shell(30), 1)
    assert "late" in await run(create_shell(30), None)
    with pytest.raises(ValueError, match="positive"):
        create_shell(0)


def test_the_example_runs() -> None:
    example = Path(os.environ["TIDEBOX_EXAMPLES"]) / "openai_agent.py"
    done = subprocess.run([sys.executable, example], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "ada,9\n7\nada leads; the mean is 7.\n"), done.stderr
