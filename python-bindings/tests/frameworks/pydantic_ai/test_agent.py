"""A scripted agent that uses a sandbox as its workspace, without a network."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from pydantic_ai import Agent, RunContext
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.workspaces import (
    Workspace,
    WorkspaceOutputLimitError,
    WorkspaceRef,
    WorkspaceTimeoutError,
    WorkspaceUnavailableError,
)

from tidebox import AsyncSandbox, Limits, Provider, Sandbox, SandboxOptions
from tidebox.integrations.pydantic_ai import TideboxSandbox, TideboxSandboxBackend


def scripted(*calls: tuple[str, dict[str, Any]]) -> FunctionModel:
    """Returns a model that calls the tools in order, and returns the results of the last message as its text."""

    def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        run = messages[start(messages) :]
        asked = sum(isinstance(message, ModelResponse) and bool(message.tool_calls) for message in run)
        if asked < len(calls):
            name, arguments = calls[asked]
            return ModelResponse([ToolCallPart(name, arguments)])
        results = [part.content for part in messages[-1].parts if isinstance(part, ToolReturnPart)]
        return ModelResponse([TextPart("\n".join(str(one) for one in results))])

    def start(messages: list[ModelMessage]) -> int:
        texts = [n for n, one in enumerate(messages) if isinstance(one, ModelResponse) and not one.tool_calls]
        return texts[-1] + 1 if texts else 0

    return FunctionModel(respond)


def agent_with(capability: TideboxSandbox[None], model: FunctionModel) -> Agent[None, str]:
    agent = Agent(model, capabilities=[capability])

    @agent.tool
    async def shell(ctx: RunContext[None], command: str) -> str:
        result = await ctx.workspace.run(command, shell=True, timeout=10)
        return f"{result.exit_code}:{result.stdout}{result.stderr}"

    @agent.tool
    async def write(ctx: RunContext[None], path: str, text: str) -> str:
        await ctx.workspace.write_text(path, text)
        return "written"

    return agent


def test_an_agent_edits_and_runs_a_program() -> None:
    capability = TideboxSandbox[None](SandboxOptions(files={"data.csv": "b,2\na,1\n"}), env={"GREETING": "hi"})
    model = scripted(
        ("write", {"path": "src/run.sh", "text": "echo $GREETING; sort data.csv\n"}),
        ("shell", {"command": "bash src/run.sh; exit 3"}),
    )
    assert agent_with(capability, model).run_sync("go").output == "3:hi\na,1\nb,2\n"


def test_runs_have_separate_sandboxes_until_a_history_continues() -> None:
    capability = TideboxSandbox[None]()
    agent = agent_with(capability, scripted(("shell", {"command": "echo x >> log; cat log"})))
    first, second = agent.run_sync("go"), agent.run_sync("go")
    assert (first.output, second.output) == ("0:x\n", "0:x\n")
    continued = agent.run_sync("again", message_history=first.all_messages())
    assert continued.output == "0:x\nx\n"


def test_a_sandbox_is_used_as_a_workspace() -> None:
    with Sandbox(files={"a.txt": "1"}) as sandbox:
        agent = agent_with(TideboxSandbox[None](), scripted(("shell", {"command": "cat a.txt; echo 2 > b.txt"})))
        assert agent.run_sync("go", workspace=TideboxSandboxBackend(sandbox)).output == "0:1"
        assert sandbox.read("b.txt").content == "2\n"


def test_a_destroyed_sandbox_is_unavailable() -> None:
    async def run() -> None:
        capability = TideboxSandbox[None]()
        backend = capability.backend()
        await backend.working_dir()
        assert backend.ref is not None
        await capability.destroy(backend.ref)
        with pytest.raises(WorkspaceUnavailableError):
            await backend.run(["true"])
        with pytest.raises(WorkspaceUnavailableError):
            await backend.write_bytes("/workspace/x", b"")
        with pytest.raises(WorkspaceUnavailableError, match="no sandbox"):
            await capability.backend(backend.ref).read_bytes("/workspace/x")

    asyncio.run(run())


def test_a_cancelled_first_call_keeps_its_sandbox() -> None:
    async def run() -> None:
        provider = Provider()
        backend = TideboxSandboxBackend(provider=provider)
        first = asyncio.ensure_future(backend.working_dir())
        await asyncio.sleep(0)
        first.cancel()
        assert await backend.working_dir() == "/workspace"
        assert backend.ref is not None and [one.id for one in provider.list()] == [backend.ref.id]

    asyncio.run(run())


def test_output_and_time_limits_are_errors_with_the_output() -> None:
    async def run() -> None:
        backend = TideboxSandboxBackend(AsyncSandbox(limits=Limits(output_bytes=1000)), command_timeout=0.3)
        with pytest.raises(WorkspaceOutputLimitError) as overflow:
            await backend.run("yes", shell=True)
        assert overflow.value.limit == 1000 and overflow.value.stdout.startswith("y\ny\n")
        with pytest.raises(WorkspaceTimeoutError) as late:
            await backend.run("echo begun; sleep 60", shell=True)
        assert late.value.stdout == "begun\n"

    asyncio.run(run())


@pytest.mark.parametrize("detach", ["setsid {} > log 2>&1 &", "nohup {} > log 2>&1 &", "({} > log 2>&1 &)", "{} &"])
def test_a_detached_process_lives_on(detach: str) -> None:
    capability = TideboxSandbox[None]()
    loop = "sh -c 'until [ -e go ]; do sleep 0.02; done; echo went > went'"
    model = scripted(
        ("shell", {"command": detach.format(loop)}),
        ("shell", {"command": "touch go; until [ -e went ]; do sleep 0.02; done; cat went"}),
    )
    assert agent_with(capability, model).run_sync("go").output == "0:went\n"


@pytest.mark.parametrize("end", ["timeout", "cancel"])
def test_a_stopped_command_stops_no_process_of_an_earlier_one(end: str) -> None:
    async def run() -> None:
        backend = TideboxSandboxBackend()
        await backend.run("(until [ -e go ]; do sleep 0.02; done; echo went > went) & echo begun", shell=True)
        stopped = "echo begun; touch ready; (sleep 2; touch late) & sleep 60"
        if end == "timeout":
            with pytest.raises(WorkspaceTimeoutError) as late:
                await backend.run(stopped, shell=True, timeout=1)
            assert late.value.stdout == "begun\n"
        else:
            task = asyncio.ensure_future(backend.run(stopped, shell=True))
            while (await backend.run(["test", "-e", "ready"])).exit_code:
                await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        wait = "sleep 2.2; touch go; until [ -e went ]; do sleep 0.02; done; ls"
        done = await backend.run(wait, shell=True, timeout=60)
        assert done.stdout == "go\nready\nwent\n"
        await backend.destroy()

    asyncio.run(run())


def test_a_deterministic_sandbox_ends_processes_with_their_command() -> None:
    async def run() -> None:
        async with AsyncSandbox(seed=1) as sandbox:
            backend = TideboxSandboxBackend(sandbox)
            assert (await backend.run("sleep 1000 & echo begun", shell=True)).stdout == "begun\n"
            assert await sandbox.processes() == []

    asyncio.run(run())


def test_commands_have_the_limits_of_the_whole_sandbox() -> None:
    async def run() -> None:
        backend = TideboxSandbox[None](SandboxOptions(limits=Limits(background_processes=1))).backend()
        for _ in range(2):
            result = await backend.run("sleep 1000 &", shell=True)
        assert result.exit_code == 0 and "background processes, the maximum" in result.stderr
        await backend.destroy()

    asyncio.run(run())


def test_a_command_without_timeout_outlives_the_wall_time_limit() -> None:
    backend = TideboxSandboxBackend(AsyncSandbox(limits=Limits(wall_time=0.2)))
    result = asyncio.run(backend.run(["sh", "-c", "sleep 0.6; echo done"]))
    assert result.stdout == "done\n"


def test_file_errors_have_the_number_and_the_path() -> None:
    async def run() -> None:
        workspace = Workspace(TideboxSandboxBackend(AsyncSandbox(files={"file": "x"})))
        await workspace.run("ln -s loop loop; mkfifo fifo; printf x > $'bad\\377'; ln -s file link", shell=True)
        with pytest.raises(OSError, match="Too many levels") as loop:
            await workspace.read_bytes("loop")
        assert loop.value.filename == "/workspace/loop"
        with pytest.raises(OSError, match="not a regular file"):
            await workspace.write_bytes("fifo", b"")
        with pytest.raises(NotADirectoryError):
            await workspace.read_bytes("file/x")
        assert not await workspace.exists("file/x")
        listed = {entry.name: entry.size for entry in await workspace.list_dir(".")}
        assert listed == {"bad\udcff": 1, "fifo": None, "file": 1, "link": 1, "loop": None}
        assert await workspace.read_bytes("bad\udcff") == b"x"
        assert (await workspace.stat("bad\udcff")).size == 1
        with pytest.raises(FileExistsError):
            await workspace.make_dir("bad\udcff")
        await workspace.remove("bad\udcff")
        assert not await workspace.exists("bad\udcff")
        await workspace.run(["ln", "-s", "/", "/tmp/here"])
        with pytest.raises(ValueError, match="working directory"):
            await workspace.remove("/tmp/here/workspace")
        await workspace.remove("/tmp/here")
        assert await workspace.exists("file")

    asyncio.run(run())


@pytest.mark.parametrize(
    "create, error",
    [
        (lambda: TideboxSandboxBackend(ref=WorkspaceRef(provider="tidebox", id="x")), TypeError),
        (lambda: TideboxSandboxBackend(provider=Provider(), ref=WorkspaceRef(provider="e2b", id="x")), ValueError),
        (lambda: TideboxSandboxBackend(Sandbox(), provider=Provider()), TypeError),
        (lambda: TideboxSandboxBackend(command_timeout=float("inf")), ValueError),
        (lambda: TideboxSandbox(SandboxOptions(), provider=Provider()), TypeError),
    ],
)
def test_wrong_arguments_are_rejected(create: Callable[[], object], error: type[Exception]) -> None:
    with pytest.raises(error):
        create()
