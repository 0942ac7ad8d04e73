"""Scripted evaluations: a model without a network uses sandboxes through the tools of Inspect."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import ChatMessageTool, Model, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, Scorer, Target, accuracy, scorer
from inspect_ai.solver import Generate, Solver, TaskState, generate, solver, use_tools
from inspect_ai.tool import bash, python, text_editor
from inspect_ai.util import (
    ExecCompleted,
    ExecRemoteAwaitableOptions,
    ExecRemoteStreamingOptions,
    ExecStderr,
    ExecStdout,
    SandboxEnvironmentSpec,
    SandboxUnavailableError,
    SandboxUserUnsupportedError,
    sandbox,
)

from tidebox import Sandbox
from tidebox.integrations.inspect_ai import TideboxConfig, TideboxSandboxEnvironment


def scripted(*calls: tuple[str, dict[str, Any]], times: int = 1) -> Model:
    """Returns a model that calls the tools in order and ends, as many times as there are samples."""
    outputs = []
    for _ in range(times):
        outputs += [ModelOutput.for_tool_call("mockllm/model", name, arguments) for name, arguments in calls]
        outputs.append(ModelOutput.from_content("mockllm/model", "done"))
    for output in outputs:
        # Without a usage the mock model counts tokens by a vocabulary that it downloads.
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return get_model("mockllm/model", custom_outputs=outputs)


def run(sandboxed: Task, model: Model, logs: Path) -> EvalLog:
    return eval(sandboxed, model=model, log_dir=str(logs), display="none", max_samples=1)[0]


def tool_results(log: EvalLog) -> list[str]:
    assert log.status == "success", log.error
    samples = log.samples or []
    assert not any(sample.error for sample in samples), [sample.error for sample in samples]
    return [one.text for sample in samples for one in sample.messages if isinstance(one, ChatMessageTool)]


@scorer(metrics=[accuracy()])
def file_contains() -> Scorer:
    async def score(state: TaskState, target: Target) -> Score:
        text = await sandbox().read_file("answer.txt")
        return Score(value=text.strip() == target.text)

    return score


def test_a_sample_runs_tools_and_is_scored_by_its_files(tmp_path: Path) -> None:
    sample = Sample(
        input="Sort data.csv into answer.txt", target="a b",
        files={"data.csv": "b\na\n"}, setup="#!/bin/bash\necho prepared > ready\n",
    )  # fmt: skip
    solver = [use_tools(bash(timeout=20)), generate()]
    sandboxed = Task(dataset=[sample], solver=solver, scorer=file_contains(), sandbox="tidebox")
    model = scripted(
        ("bash", {"command": "cat ready; sort data.csv | xargs > answer.txt; id -un; exit 3"}),
        ("bash", {"command": "cat answer.txt"}),
    )
    log = run(sandboxed, model, tmp_path)
    assert tool_results(log) == ["prepared\ntidebox\n", "a b\n"]
    assert log.results is not None and log.results.scores[0].metrics["accuracy"].value == 1
    assert TideboxSandboxEnvironment._prepared == {}


def test_the_python_tool_runs_code(tmp_path: Path) -> None:
    if not Sandbox().execute(["python3", "-c", ""]).ok:
        pytest.skip("the pack python is not installed: tidebox pack add python")
    sandboxed = Task(dataset=[Sample(input="x")], solver=[use_tools(python(timeout=60)), generate()], sandbox="tidebox")
    log = run(sandboxed, scripted(("python", {"code": "print(6 * 7)"})), tmp_path)
    assert tool_results(log)[0].strip() == "42"


def test_samples_have_separate_sandboxes(tmp_path: Path) -> None:
    config = TideboxConfig(files={"shared.txt": "s\n"}, env={"NAME": "v"})
    samples = [Sample(input=str(n)) for n in range(3)]
    spec = SandboxEnvironmentSpec("tidebox", config)
    sandboxed = Task(dataset=samples, solver=[use_tools(bash()), generate()], sandbox=spec)
    model = scripted(("bash", {"command": "echo $NAME >> shared.txt; cat shared.txt"}), times=3)
    log = run(sandboxed, model, tmp_path)
    assert tool_results(log) == ["s\nv\n"] * 3
    restored = read_eval_log(log.location).eval.sandbox
    assert restored == spec and isinstance(restored.config, TideboxConfig)


def test_a_configuration_file_mounts_a_directory(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "a.txt").write_text("host\n")
    file = tmp_path / "tidebox.yaml"
    file.write_text("mounts: [{host: shared, path: /data, mode: ro}]\nlimits: {wall_time: 5}\nseed: 1\n")
    sandboxed = Task(
        dataset=[Sample(input="x")], solver=[use_tools(bash()), generate()], sandbox=("tidebox", str(file))
    )
    log = run(sandboxed, scripted(("bash", {"command": "cat /data/a.txt; echo no > /data/b.txt"})), tmp_path / "logs")
    assert "host" in tool_results(log)[0] and "Read-only file system" in tool_results(log)[0]


def test_a_tool_timeout_is_passed_to_the_model(tmp_path: Path) -> None:
    sandboxed = Task(dataset=[Sample(input="x")], solver=[use_tools(bash(timeout=1)), generate()], sandbox="tidebox")
    log = run(sandboxed, scripted(("bash", {"command": "echo begun; sleep 60"})), tmp_path)
    message = next(one for one in (log.samples or [])[0].messages if isinstance(one, ChatMessageTool))
    assert message.error is not None and message.error.type == "timeout"
    assert "begun" in message.text or "begun" in message.error.message


def test_a_tool_that_needs_a_linux_program_is_an_error(tmp_path: Path) -> None:
    sandboxed = Task(dataset=[Sample(input="x")], solver=[use_tools(text_editor()), generate()], sandbox="tidebox")
    log = run(sandboxed, scripted(("text_editor", {"command": "view", "path": "/workspace"})), tmp_path)
    assert log.status == "error" and log.error is not None
    assert "text_editor needs the Linux program of Inspect" in log.error.message, log.error.message


@solver
def with_remote_process() -> Solver:
    """Starts a process, writes to it and kills it, all through the object that Inspect gives to solvers."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        loop = ["sh", "-c", "echo $NAME; pwd; while read -r line; do echo got $line; echo oops >&2; done; exit 3"]
        options = ExecRemoteStreamingOptions(stdin_open=True, input="one\n", env={"NAME": "n"}, cwd="/tmp")
        process = await sandbox().exec_remote(loop, options)
        await process.write_stdin("two\n")
        await process.close_stdin()
        events = [event async for event in process]
        texts = ["".join(one.data for one in events if isinstance(one, kind)) for kind in (ExecStdout, ExecStderr)]
        assert texts == ["n\n/tmp\ngot one\ngot two\n", "oops\noops\n"], events
        assert isinstance(events[-1], ExecCompleted) and events[-1].exit_code == 3
        server = await sandbox().exec_remote(["sh", "-c", "touch begun; sleep 0.5; touch late"])
        while not (await sandbox().exec(["test", "-e", "begun"])).success:
            await asyncio.sleep(0.01)
        await server.kill()
        assert not any(isinstance(event, ExecCompleted) for event in [event async for event in server])
        done = await sandbox().exec_remote(["sh", "-c", "sleep 0.6; ls; nope"], stream=False)
        assert (done.returncode, done.stdout, done.success) == (127, "begun\n", False)
        with pytest.raises(TimeoutError):
            await sandbox().exec_remote(["sleep", "60"], ExecRemoteAwaitableOptions(timeout=0.2), stream=False)
        assert "sleep" not in (await sandbox().exec(["ps", "-ef"])).stdout
        return state

    return solve


def test_a_solver_starts_remote_processes(tmp_path: Path) -> None:
    log = run(Task(dataset=[Sample(input="x")], solver=with_remote_process(), sandbox="tidebox"), scripted(), tmp_path)
    assert log.status == "success", log.error


def test_a_process_that_a_command_leaves_lives_on(tmp_path: Path) -> None:
    sandboxed = Task(dataset=[Sample(input="x")], solver=[use_tools(bash()), generate()], sandbox="tidebox")
    model = scripted(
        ("bash", {"command": "(until [ -e go ]; do sleep 0.02; done; echo went > went) > log 2>&1 & echo begun"}),
        ("bash", {"command": "touch go; until [ -e went ]; do sleep 0.02; done; cat went"}),
    )
    assert tool_results(run(sandboxed, model, tmp_path)) == ["begun\n", "went\n"]


async def test_an_environment_starts_remote_processes_directly() -> None:
    environment = await _environment()
    done = await environment.exec_remote(["cat"], ExecRemoteAwaitableOptions(input="x" * 200_000), stream=False)
    assert done.success and len(done.stdout) == 200_000
    with pytest.raises(SandboxUserUnsupportedError, match="no root"):
        await environment.exec_remote(["true"], ExecRemoteStreamingOptions(user="root"))
    process = await environment.exec_remote(["sleep", "60"])
    with pytest.raises(RuntimeError, match="stdin_open=True"):
        await process.write_stdin("x")
    await process.kill()
    await environment.sandbox.close()


def test_the_entry_point_registers_the_sandbox() -> None:
    program = "from inspect_ai.util._sandbox.registry import registry_find_sandboxenv as find; print(find('tidebox'))"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "TideboxSandboxEnvironment" in found.stdout, found.stderr


@pytest.mark.parametrize(
    "config, message",
    [
        ("compose.yaml", "no Linux images"),
        ({"limits": {"walltime": 1}}, "unknown limit 'walltime'"),
        ({"image": "ubuntu"}, "image"),
    ],
)
def test_wrong_configurations_are_rejected(config: Any, message: str) -> None:
    from tidebox.integrations._inspect_config import load_config

    with pytest.raises(ValueError, match=message):
        load_config(config if isinstance(config, str) else TideboxConfig(**config))


async def _environment() -> TideboxSandboxEnvironment:
    environments = await TideboxSandboxEnvironment.sample_init("direct", None, {})
    return environments["default"].as_type(TideboxSandboxEnvironment)


async def test_a_long_output_keeps_its_end_and_the_exit_code() -> None:
    from inspect_ai.util._sandbox.limits import override_max_exec_output_size

    environment = await _environment()
    with override_max_exec_output_size(100):
        result = await environment.exec(["sh", "-c", "seq 1 100000; exit 4"])
    assert (result.returncode, result.stdout[-7:], len(result.stdout)) == (4, "100000\n", 100)
    result = await environment.exec(["sh", "-c", "yes | head -c 30000000; echo end"])
    assert result.stdout.endswith("y\nend\n") and len(result.stdout) == 10 << 20


async def test_other_users_and_closed_sandboxes_are_errors() -> None:
    environment = await _environment()
    assert (await environment.exec(["whoami"], user="1000")).stdout == "tidebox\n"
    with pytest.raises(SandboxUserUnsupportedError, match="no root"):
        await environment.exec(["whoami"], user="root")
    with pytest.raises(UnicodeDecodeError):
        await environment.write_file("binary", b"\xff")
        await environment.read_file("binary")
    await environment.sandbox.close()
    with pytest.raises(SandboxUnavailableError):
        await environment.exec(["true"])
    with pytest.raises(SandboxUnavailableError):
        await environment.read_file("x")
