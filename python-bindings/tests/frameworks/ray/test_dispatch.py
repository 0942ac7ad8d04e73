"""The protocol between driver and actors, with lost messages and lost replies. The workers are in this process."""

import asyncio
import concurrent.futures
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from tidebox import AsyncSandbox, SandboxOptions
from tidebox.integrations._ray_dispatch import ActorLost, ActorUnavailable, Dispatcher, PoolError
from tidebox.integrations._ray_tasks import PackedResult, PackedTask, SandboxTask, TaskResult, pack
from tidebox.integrations._ray_worker import Worker

RUNS: Counter[int] = Counter()
"""Number of times that a task ran. Importable, so that the functions below are not copied when they are pickled."""


async def count(sandbox: AsyncSandbox, number: int) -> int:
    RUNS[number] += 1
    await asyncio.sleep(0.001 * (number % 3))
    return number


class Loop:
    """An event loop in a thread."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    def run(self, coroutine: Any) -> "concurrent.futures.Future[Any]":
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop)

    def close(self) -> None:
        async def cancel() -> None:
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)

        self.run(cancel()).result()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()


class FaultyMember:
    """A worker whose messages and replies are lost at random."""

    def __init__(self, node: str, faults: "Faults") -> None:
        self.node = node
        self.draining = False
        self.in_flight = 0
        self.faults = faults
        options = pack(SandboxOptions())
        self.worker = Worker(options, faults.max_sandboxes, 3600)
        faults.loop.run(self.worker.prepare(options)).result()

    def exchange(
        self, session: str, number: int, received: int, tasks: Sequence[PackedTask], wait: float
    ) -> "concurrent.futures.Future[Any]":
        def call() -> "concurrent.futures.Future[Any]":
            return self.faults.loop.run(self.worker.exchange(session, number, received, tasks, min(wait, 0.05)))

        chance = self.faults.random.random()
        failed: concurrent.futures.Future[Any] = concurrent.futures.Future()
        if chance < self.faults.kill:
            for one in list(self.worker._sessions):
                self.faults.loop.run(self.worker.end(one)).result()
            failed.set_exception(ActorLost("killed"))
            return failed
        if chance < self.faults.kill + self.faults.lose:
            if chance < self.faults.kill + self.faults.lose / 2:
                call()  # It arrives, and the reply is lost.
            failed.set_exception(ActorUnavailable("cut"))
            return failed
        if chance > 1 - self.faults.lose:
            call()  # It arrives twice.
        return call()

    def end(self, session: str) -> None:
        self.faults.loop.run(self.worker.end(session)).result()


class Faults:
    """Members with faults. A killed one is replaced."""

    unavailable_timeout = 5.0

    def __init__(
        self, loop: Loop, seed: int, *, lose: float = 0.0, kill: float = 0.0, concurrency: int = 8, max_sandboxes: int = 1000
    ) -> None:
        self.loop = loop
        self.random = random.Random(seed)
        self.lose = lose
        self.kill = kill
        self.concurrency = concurrency
        self.max_sandboxes = max_sandboxes
        self.members = [FaultyMember(f"n{number}", self) for number in range(3)]

    def ready(self) -> list[FaultyMember]:
        return self.members

    def wait(self, handles: Sequence[Any], timeout: float) -> list[Any]:
        done, _ = concurrent.futures.wait(handles, timeout, concurrent.futures.FIRST_COMPLETED)
        return list(done)

    def reply(self, handle: Any) -> list[tuple[int, PackedResult]] | None:
        page: list[tuple[int, PackedResult]] | None = handle.result()
        return page

    def remove(self, member: Any, reason: str) -> None:
        if member in self.members:
            self.members[self.members.index(member)] = FaultyMember(member.node, self)


@pytest.fixture
def loop() -> Iterator[Loop]:
    RUNS.clear()
    loop = Loop()
    yield loop
    loop.close()


def run(members: Faults, tasks: int, **options: Any) -> list[TaskResult]:
    given: dict[str, Any] = {"retry": "not_started", "max_attempts": 3, "ordered": False, **options}
    made = (SandboxTask(count, (number,)) for number in range(tasks))
    results = list(Dispatcher(members, made, **given).results())
    assert sorted(result.index for result in results) == list(range(tasks))
    assert all(result.value == result.index for result in results if result.ok)
    assert all(member.in_flight == 0 for member in members.members)
    return results


@pytest.mark.parametrize("seed", range(4))
def test_lost_messages_run_each_task_once(loop: Loop, seed: int) -> None:
    results = run(Faults(loop, seed, lose=0.3), 300)
    assert {result.outcome for result in results} == {"done"}
    assert set(RUNS.values()) == {1} and len(RUNS) == 300
    assert not any(result.may_have_run for result in results)


@pytest.mark.parametrize("seed", range(4))
def test_lost_actors_run_no_task_twice_by_default(loop: Loop, seed: int) -> None:
    results = run(Faults(loop, seed, lose=0.1, kill=0.05), 300)
    assert all(result.attempts == 1 for result in results)
    assert max(RUNS.values()) == 1
    lost = [result for result in results if result.outcome == "lost"]
    assert lost and all(result.may_have_run and "may have run" in str(result.error) for result in lost)
    assert all(RUNS[result.index] == 1 for result in results if result.ok)


@pytest.mark.parametrize("seed", range(4))
def test_always_repeats_tasks_of_lost_actors(loop: Loop, seed: int) -> None:
    results = run(Faults(loop, seed, lose=0.1, kill=0.05), 300, retry="always", max_attempts=50)
    assert {result.outcome for result in results} == {"done"}
    assert all(result.may_have_run == (result.attempts > 1) for result in results)
    assert all(1 <= RUNS[result.index] <= result.attempts for result in results)
    assert any(result.attempts > 1 for result in results)


def test_attempts_are_limited(loop: Loop) -> None:
    results = run(Faults(loop, 1, kill=0.5), 20, retry="always", max_attempts=2)
    results = [result for result in results if not result.ok]
    assert results
    assert {(result.outcome, result.attempts) for result in results} == {("lost", 2)}


def test_rejected_tasks_wait_and_count_no_attempt(loop: Loop) -> None:
    results = run(Faults(loop, 1, max_sandboxes=2), 40)
    assert {(result.outcome, result.attempts, result.may_have_run) for result in results} == {("done", 1, False)}
    assert set(RUNS.values()) == {1}


def test_unreachable_actor_counts_as_lost(loop: Loop) -> None:
    members = Faults(loop, 1)
    members.unavailable_timeout = 0.5

    def tasks() -> Iterator[SandboxTask]:
        # Messages are lost from the first one with tasks.
        members.lose = 2.0
        yield from [SandboxTask(count, (number,)) for number in range(5)]

    results = list(Dispatcher(members, tasks(), "not_started", 1, False).results())
    assert {(result.outcome, result.error) for result in results} == {
        ("lost", "the actor or its session ended, and the commands of the task may have run: cut")
    }


def test_actor_that_ended_before_gets_no_tasks(loop: Loop) -> None:
    members = Faults(loop, 1)
    first = members.members[0]
    first.exchange = _fail_with_lost_actor  # type: ignore[method-assign]
    results = run(members, 50)
    assert {(result.outcome, result.attempts, result.may_have_run) for result in results} == {("done", 1, False)}
    assert first not in members.members


def _fail_with_lost_actor(*arguments: Any) -> "concurrent.futures.Future[Any]":
    failed: concurrent.futures.Future[Any] = concurrent.futures.Future()
    failed.set_exception(ActorLost("ended"))
    return failed


def test_tasks_of_an_expired_session_are_lost(loop: Loop) -> None:
    members = Faults(loop, 1, concurrency=2)

    def tasks() -> Iterator[SandboxTask]:
        yield SandboxTask(["sleep 100"])

        async def expire() -> None:
            await asyncio.sleep(0.3)
            for member in members.members:
                await member.worker._expire(time.monotonic() + 4000)

        loop.run(expire())
        yield SandboxTask(["true"])

    results = list(Dispatcher(members, tasks(), "not_started", 1, False).results())
    assert sorted((result.index, result.outcome, result.may_have_run) for result in results) == [
        (0, "lost", True), (1, "done", False),
    ]  # fmt: skip
    assert len({id(member) for member in members.members}) == 3


def test_results_are_ordered_on_request(loop: Loop) -> None:
    results = run(Faults(loop, 1, lose=0.2, kill=0.05), 200, ordered=True, retry="always", max_attempts=50)
    assert [result.index for result in results] == list(range(200))


@pytest.mark.parametrize(("ordered", "most"), [(False, 24), (True, 96)])
def test_tasks_are_taken_as_there_is_room(loop: Loop, ordered: bool, most: int) -> None:
    taken = 0

    def tasks() -> Iterator[SandboxTask]:
        nonlocal taken
        while True:
            taken += 1
            yield SandboxTask(count, (taken,))

    results = Dispatcher(Faults(loop, 1), tasks(), "not_started", 1, ordered).results()
    for returned in range(1, 100):
        next(results)
        # Those in flight, and a reply of results that were not taken yet.
        assert taken <= returned + 2 * most
    results.close()  # type: ignore[attr-defined]


def test_tasks_that_cannot_be_pickled_fail(loop: Loop) -> None:
    made = [SandboxTask(count, (threading.Lock(),)), SandboxTask(count, (1,))]
    bad, good = Dispatcher(Faults(loop, 1), made, "not_started", 1, True).results()
    assert bad.outcome == "failed" and "cannot pickle the task" in str(bad.error) and bad.attempts == 0
    assert good.ok


def test_errors_of_the_tasks_end_the_map(loop: Loop) -> None:
    def tasks() -> Iterator[SandboxTask]:
        yield SandboxTask(count, (1,))
        raise LookupError("no more")

    members = Faults(loop, 1)
    with pytest.raises(LookupError, match="no more"):
        list(Dispatcher(members, tasks(), "not_started", 1, False).results())
    assert all(not member.worker._sessions for member in members.members)


def test_error_of_the_pool_is_raised(loop: Loop) -> None:
    members = Faults(loop, 1)

    def fail() -> list[FaultyMember]:
        raise PoolError("no node")

    members.ready = fail  # type: ignore[method-assign]
    with pytest.raises(PoolError, match="no node"):
        list(Dispatcher(members, [SandboxTask(["true"])], "always", 1, False).results())


def test_silent_sessions_and_idle_sandboxes_expire(loop: Loop) -> None:
    member = Faults(loop, 1).members[0]
    worker = member.worker
    task = PackedTask(1, pack(["sleep 100"]), pack(((), None, None, None)))
    assert loop.run(worker.exchange("s", 1, 0, [task], 0.05)).result() == []
    loop.run(worker.open("key", None, {}, 5)).result()
    assert loop.run(worker.status()).result() == {"running": 1, "open": 1, "sessions": 1}
    loop.run(worker._expire(time.monotonic() + 10)).result()
    assert loop.run(worker.status()).result() == {"running": 1, "open": 0, "sessions": 1}
    loop.run(worker._expire(time.monotonic() + 4000)).result()
    loop.run(asyncio.sleep(0.2)).result()
    assert loop.run(worker.status()).result() == {"running": 0, "open": 0, "sessions": 0}
    # Late messages do not start tasks again.
    for session, number in (("s", 1), ("s", 2), ("other", 2)):
        assert loop.run(worker.exchange(session, number, 0, [task], 0.05)).result() is None
    assert loop.run(worker.status()).result()["running"] == 0


def test_large_results_are_several_replies(loop: Loop) -> None:
    async def large(sandbox: AsyncSandbox) -> bytes:
        return b"x" * (12 << 20)

    members = Faults(loop, 1)
    worker = members.members[0].worker
    tasks = [PackedTask(number, pack(large), pack(((), None, None, None))) for number in range(1, 5)]
    pages = [loop.run(worker.exchange("s", 1, 0, tasks, 5)).result()]
    loop.run(asyncio.sleep(0.3)).result()
    while len(pages) < 10 and (page := loop.run(worker.exchange("s", 2, pages[-1][-1][0], [], 0.05)).result()):
        assert len(page) <= 2
        pages.append(page)
    assert sorted(result.attempt for page in pages for _, result in page) == [1, 2, 3, 4]
