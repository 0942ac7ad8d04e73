"""An agent of the OpenAI Agents SDK works in a sandbox. The model is a script; the rest is as with a real one."""

import asyncio
import os

# The example needs no network; without this the SDK sends traces to its service.
os.environ["OPENAI_AGENTS_DISABLE_TRACING"] = "1"

from agents import RunConfig, Runner
from agents.sandbox import SandboxAgent, SandboxRunConfig
from agents.sandbox.capabilities import Shell
from agents.sandbox.entries import File
from agents.sandbox.manifest import Manifest
from agents.testing import ScriptedModel, assistant_message, function_call

from tidebox.integrations.openai_agents import TideboxSandboxClient

MODEL = ScriptedModel(
    [
        [function_call("exec_command", {"cmd": "sort -t, -k2nr scores.csv | head -1"}, call_id="call-1")],
        [function_call("exec_command", {"cmd": "awk -F, '{s += $2} END {print s / NR}' scores.csv"}, call_id="call-2")],
        [assistant_message("ada leads; the mean is 7.")],
    ]
)


async def main() -> None:
    agent = SandboxAgent(name="analyst", instructions="Answer with commands.", model=MODEL, capabilities=[Shell()])
    manifest = Manifest(entries={"scores.csv": File(content=b"alan,5\nada,9\ngrace,7\n")})
    sandbox = SandboxRunConfig(client=TideboxSandboxClient(), manifest=manifest)
    result = await Runner.run(agent, "Who leads, and what is the mean?", run_config=RunConfig(sandbox=sandbox))
    for item in result.new_items:
        if item.type == "tool_call_output_item":
            print(item.output.strip().splitlines()[-1])
    print(result.final_output)


if __name__ == "__main__":
    asyncio.run(main())
