"""Pools on a local cluster of Ray."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tidebox import AsyncSandbox, Limits, SandboxOptions
from tidebox.integrations.ray import (
    CommandResult,
    PoolError,
    RemoteSandbox,
    SandboxLost,
    SandboxPool,
    SandboxTask,
    TaskResult,
)


def run_one(pool: SandboxPool, task: SandboxTask, **options: Any) -> TaskResult:
    [result] = pool.map([task], **options)
    return result


async def sum_up(sandbox: AsyncSandbox, path: str) -> int:
    return int((await sandbox.execute(f"awk '{{s+=$1}} END {{print s}}' {path}")).stdout)


async def kill_actor(sandbox: AsyncSandbox, until: str | None = None) -> str:
    """Ends the process of the actor, unless the file exists on the host."""
    if until is not None:
        try:
            os.close(os.open(until, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return "survived"
    os.kill(os.getpid(), signal.SIGKILL)
    return "unreachable"


async def actor_process(sandbox: AsyncSandbox) -> int:
    return os.getpid()


def import_error(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_tidebox_does_not_import_the_framework() -> None:
    assert import_error("import sys, tidebox; print('ray' in sys.modules)") == "False"


def test_missing_framework_is_reported_with_its_extra() -> None:
    code = """
import sys
sys.modules["ray"] = None
try:
    import tidebox.integrations.ray
except ImportError as error:
    print(error)
"""
    assert 'pip install "tidebox[ray]"' in import_error(code)


def test_pool_needs_an_initialised_ray() -> None:
    code = """
from tidebox.integrations.ray import SandboxPool
try:
    SandboxPool()
except RuntimeError as error:
    print(error)
"""
    assert import_error(code) == "Ray is not initialised; call ray.init() first"


def test_commands_run_in_order_in_a_new_sandbox(pool: SandboxPool) -> None:
    tasks = [
        SandboxTask(
            ["cat a; echo $NAME", "exit 3", ["printf", "%s", "$HOME"], "echo x > b; ls"],
            files={"a": f"{number}\n"},
            labels={"number": str(number)},
        )
        for number in range(20)
    ]
    results = list(pool.map(tasks, ordered=True))
    for number, result in enumerate(results):
        assert (result.index, result.labels, result.outcome) == (number, {"number": str(number)}, "done")
        assert all(isinstance(one, CommandResult) for one in result.value)
        assert [(one.stdout, one.exit_code, one.ok) for one in result.value] == [
            (f"{number}\npool\n", 0, True), ("", 3, False), ("$HOME", 0, True), ("a\nb\n", 0, True),
        ]  # fmt: skip
        assert (result.attempts, result.may_have_run, result.error) == (1, False, None)
        assert result.node in pool.nodes and 0 < result.seconds < 60


def test_functions_get_the_sandbox_and_arguments(pool: SandboxPool) -> None:
    task = SandboxTask(sum_up, ("data.txt",), files={"data.txt": "40\n2\n"})
    assert run_one(pool, task).value == 42


def test_options_of_a_task_replace_those_of_the_pool(pool: SandboxPool) -> None:
    options = SandboxOptions(env={"NAME": "task"}, files={"a": "1"}, limits=Limits(wall_time=0.2))
    result = run_one(pool, SandboxTask(["echo $NAME; cat a", "sleep 9"], sandbox=options))
    assert result.value[0].stdout == "task\n1"
    assert (result.value[1].exit_code, result.value[1].stopped_by) == (124, "timeout")


def test_failures_are_results(pool: SandboxPool) -> None:
    async def fail(sandbox: AsyncSandbox) -> None:
        raise LookupError("no data")

    async def leave(sandbox: AsyncSandbox) -> None:
        sys.exit(3)

    async def cancelled(sandbox: AsyncSandbox) -> None:
        raise asyncio.CancelledError

    async def unpicklable(sandbox: AsyncSandbox) -> Any:
        return sandbox

    late = SandboxTask(["sleep 100"], timeout=0.1)
    invalid = SandboxTask(["true"], sandbox=SandboxOptions(hostname="\0"))
    tasks = [SandboxTask(run) for run in (fail, leave, cancelled, unpicklable)] + [late, invalid]
    results = list(pool.map(tasks, ordered=True))
    assert {(result.outcome, result.value, result.attempts) for result in results} == {("failed", None, 1)}
    errors = [str(result.error) for result in results]
    assert errors[:3] == ["LookupError: no data", "SystemExit: 3", "CancelledError: the function was cancelled"]
    assert errors[3].startswith("TypeError: cannot pickle")
    assert errors[4] == "TimeoutError: the task reached its timeout of 0.1 s"
    assert "is not a valid host name" in errors[5]
    assert 'raise LookupError("no data")' in str(results[0].traceback)


def test_invalid_tasks_are_rejected(pool: SandboxPool) -> None:
    with pytest.raises(TypeError, match="async def"):
        SandboxTask(lambda sandbox: None)  # type: ignore[arg-type, return-value]
    with pytest.raises(TypeError, match=r"write \[command\]"):
        SandboxTask("ls")
    with pytest.raises(TypeError, match="arguments are for a function"):
        SandboxTask(["ls"], (1,))
    with pytest.raises(ValueError, match="retry must be"):
        pool.map([], retry="never")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="max_attempts"):
        pool.map([], max_attempts=0)
    assert list(pool.map([])) == []


def test_task_of_a_lost_actor_is_not_repeated_by_default(pool: SandboxPool) -> None:
    result = run_one(pool, SandboxTask(kill_actor))
    assert (result.outcome, result.attempts, result.may_have_run, result.value) == ("lost", 1, True, None)
    assert "may have run" in str(result.error)


def test_task_of_a_lost_actor_is_repeated_on_request(pool: SandboxPool, tmp_path: Path) -> None:
    result = run_one(pool, SandboxTask(kill_actor, (str(tmp_path / "mark"),)), retry="always")
    assert (result.outcome, result.value, result.attempts, result.may_have_run) == ("done", "survived", 2, True)


def test_task_that_ends_every_actor_is_lost_in_the_end(pool: SandboxPool) -> None:
    result = run_one(pool, SandboxTask(kill_actor), retry="always", max_attempts=2)
    assert (result.outcome, result.attempts, result.may_have_run) == ("lost", 2, True)


def test_nodes_join_and_leave_during_a_map(cluster: Any) -> None:
    joined: Any = None
    has_left = False
    by_node: Counter[str | None] = Counter()
    deadline = time.monotonic() + 90

    def tasks() -> Iterator[SandboxTask]:
        while not has_left and time.monotonic() < deadline:
            yield SandboxTask(["sleep 0.05"])
        yield from [SandboxTask(["true"])] * 100

    with SandboxPool(num_cpus=0.1, concurrency=8) as pool:
        assert len(pool.nodes) == 2
        for result in pool.map(tasks(), retry="always"):
            assert result.ok
            by_node[result.node] += 1
            if by_node.total() == 50:
                joined = cluster.add_node(num_cpus=1)
            if joined is not None and by_node[joined.node_id] == 20 and not has_left:
                has_left = True
                cluster.remove_node(joined, allow_graceful=False)
        assert 20 <= by_node[joined.node_id] and len(by_node) == 3
        while joined.node_id in pool.nodes and time.monotonic() < deadline:
            list(pool.map([SandboxTask(["true"])]))
        assert joined.node_id not in pool.nodes


def find_processes(pool: SandboxPool) -> dict[str | None, int]:
    """Runs tasks until each node had one, and returns the processes of the actors."""
    found: dict[str | None, int] = {}
    deadline = time.monotonic() + 60
    while len(found) < 2 and time.monotonic() < deadline:
        found |= {result.node: result.value for result in pool.map([SandboxTask(actor_process)] * 20)}
    assert set(found) == set(pool.nodes)
    return found


def test_drained_node_gets_no_tasks(cluster: Any) -> None:
    with SandboxPool(num_cpus=0.1, concurrency=4) as pool:
        drained, other = pool.nodes
        process = Path(f"/proc/{find_processes(pool)[drained]}")
        pool.drain(drained)
        assert pool.nodes == [other]
        assert {result.node for result in pool.map([SandboxTask(["true"])] * 20)} == {other}
        deadline = time.monotonic() + 20
        while process.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not process.exists()


def test_named_pools_are_shared(cluster: Any) -> None:
    options = SandboxOptions(files={"a": "shared"})
    with SandboxPool(num_cpus=0.1, name="shared", sandbox=options) as first:
        found = find_processes(first)
    with SandboxPool(num_cpus=0.1, name="shared", sandbox=options) as second:
        assert find_processes(second) == found
        with pytest.raises(PoolError, match="the pool exists with other options"):
            SandboxPool(num_cpus=0.1, name="shared", start_timeout=2)
        assert find_processes(second) == found
        second.close(shared=True)
        with pytest.raises(PoolError, match="the pool is closed"):
            list(second.map([SandboxTask(["true"])]))


def test_pool_without_room_reports_the_reason(cluster: Any) -> None:
    with pytest.raises(PoolError, match="no node has the CPUs and resources of an actor"):
        SandboxPool(num_cpus=64, start_timeout=1)
    with pytest.raises(ValueError, match="at least 1"):
        SandboxPool(concurrency=0)


async def test_tasks_run_for_asyncio(pool: SandboxPool) -> None:
    values = [result.value async for result in pool.map_async(SandboxTask(sum_up, ("a",), {"a": "1\n"}) for _ in range(50))]
    assert values == [1] * 50


async def test_leaving_the_results_stops_the_tasks(cluster: Any, tmp_path: Path) -> None:
    async def leave_mark(sandbox: AsyncSandbox, number: int) -> None:
        await sandbox.execute(["sleep", str(min(number, 1) * 60)])
        (tmp_path / str(number)).touch()

    with SandboxPool(num_cpus=0.1, concurrency=4) as pool:
        results = pool.map_async(SandboxTask(leave_mark, (number,)) for number in range(100))
        async for _ in results:
            break
        await results.aclose()  # type: ignore[attr-defined]
        deadline = time.monotonic() + 20
        while await count_running(pool) and time.monotonic() < deadline:
            await asyncio.sleep(0.1)
        assert await count_running(pool) == 0
        assert os.listdir(tmp_path) == ["0"]
        assert [result.ok for result in pool.map([SandboxTask(["true"])])] == [True]


async def count_running(pool: SandboxPool) -> int:
    return sum([(await node.actor.status.remote())["running"] for node in pool.ready()])


async def test_open_sandbox_keeps_its_files(pool: SandboxPool) -> None:
    async with await pool.open(files={"data.txt": "40\n"}) as sandbox:
        assert sandbox.node in pool.nodes
        await sandbox.write("data.txt", b"40\n2\n")
        assert (await sandbox.execute("cat data.txt; echo $NAME")).stdout == "40\n2\npool\n"
        assert await sandbox.read("data.txt") == b"40\n2\n"
        assert await sandbox.call(sum_up, "data.txt") == 42
        assert (await sandbox.execute("sleep 9", timeout=0.1)).stopped_by == "timeout"
        with pytest.raises(FileNotFoundError):
            await sandbox.read("missing")
        with pytest.raises(ValueError, match="invalid literal"):
            await sandbox.call(sum_up, "missing")
    await sandbox.close()
    with pytest.raises(SandboxLost, match="was closed") as closed:
        await sandbox.execute("true")
    assert not closed.value.may_have_run


async def test_open_sandbox_ends_with_its_actor(cluster: Any) -> None:
    with SandboxPool(num_cpus=0.1, max_sandboxes=1) as pool:
        sandboxes: list[RemoteSandbox] = [await pool.open(), await pool.open()]
        assert {sandbox.node for sandbox in sandboxes} == set(pool.nodes)
        with pytest.raises(RuntimeError, match="raise max_sandboxes"):
            await pool.open()
        with pytest.raises(SandboxLost, match="may have run") as lost:
            await sandboxes[0].call(kill_actor)
        assert lost.value.may_have_run
        assert (await sandboxes[1].execute("echo on")).stdout == "on\n"
        await sandboxes[0].close()


def test_example_survives_the_end_of_a_node() -> None:
    example = Path(os.environ["TIDEBOX_EXAMPLES"]) / "ray_rollouts.py"
    done = subprocess.run(
        [sys.executable, example, "--rollouts", "400", "--concurrency", "16"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line for line in done.stdout.splitlines() if not line[:1].isspace()]
    assert "outcomes:          {'done': 400}, each task once: True" in lines, done.stdout
    assert "mean reward:       0.7500" in lines, done.stdout
