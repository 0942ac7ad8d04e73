"""An agent whose harness runs in this process, with a scripted model."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import verifiers.v1 as vf
from verifiers.v1.agent import Agent
from verifiers.v1.configs.agent import AgentConfig
from verifiers.v1.configs.harness import HarnessConfig
from verifiers.v1.runtimes import Runtime, SubprocessConfig
from verifiers.v1.trace import Trace

from tidebox.integrations.verifiers import provision_runtime


class SumTask(vf.Task[vf.TaskData]):
    async def setup(self, trace: Trace, runtime: Runtime) -> None:
        await runtime.write("data.txt", b"40\n2\n")

    @vf.reward
    async def has_sum(self, runtime: Runtime) -> float:
        return float((await runtime.read("sum.txt", max_bytes=100)).decode().strip() == "42")


@pytest.fixture
def model() -> Iterator[tuple[str, list[Any]]]:
    """A server with the API of OpenAI that returns its steps in order, and the requests that it got."""
    steps = ["ls; cat data.txt", "awk '{s+=$1} END {print s}' data.txt > sum.txt", "done"]
    requests: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            message = {"role": "assistant", "content": steps.pop(0)}
            body = {
                "id": "c", "object": "chat.completion", "created": 0, "model": "scripted",
                "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
            }  # fmt: skip
            data = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1", requests
    server.shutdown()
    server.server_close()


async def test_agent_solves_a_task_in_the_sandbox(
    model: tuple[str, list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, requests = model
    monkeypatch.setenv("SCRIPTED_KEY", "any")
    agent = build(url)
    async with agent, provision_runtime() as runtime:
        trace = await agent.run(SumTask(vf.TaskData(idx=0, prompt="Sum up data.txt")), runtime=runtime)
        assert (await runtime.run(["ls"], {})).stdout == "data.txt\nsum.txt\n"
    assert trace.errors == []
    assert trace.rewards["has_sum"].score == 1.0
    assert trace.agent.runtime.borrowed and trace.agent.runtime.id.startswith("tidebox:")
    assert requests[1]["messages"][-1]["content"] == "data.txt\n40\n2\n"
    assert Trace.model_validate_json(trace.model_dump_json()).agent.runtime.id == trace.agent.runtime.id


async def test_tasks_with_an_image_are_rejected(model: tuple[str, list[Any]]) -> None:
    task = SumTask(vf.TaskData(idx=0, prompt="x", image="python:3.13"))
    async with build(model[0]) as agent, provision_runtime() as runtime:
        with pytest.raises(TypeError, match="requires image"):
            await agent.run(task, runtime=runtime)
    restricted = SumTask(vf.TaskData(idx=0, prompt="x", network_allow=[]))
    async with build(model[0]) as agent, provision_runtime() as runtime:
        with pytest.raises(ValueError, match="does not support one"):
            await agent.run(restricted, runtime=runtime)


async def test_stopped_runtimes_cannot_be_borrowed(model: tuple[str, list[Any]]) -> None:
    async with provision_runtime() as runtime:
        pass
    async with build(model[0]) as agent:
        with pytest.raises(ValueError, match="already torn down"):
            await agent.run(SumTask(vf.TaskData(idx=0, prompt="x")), runtime=runtime)


def build(url: str) -> Agent:
    return Agent(
        AgentConfig(
            model="scripted",
            harness=HarnessConfig(id="loop_harness"),
            runtime=SubprocessConfig(),
            client={"type": "eval", "base_url": url, "api_key_var": "SCRIPTED_KEY"},
        )
    )
