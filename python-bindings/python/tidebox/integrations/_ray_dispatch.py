"""The driver's side of a pool: it sends tasks to the actors, collects results, and repeats lost tasks."""

from __future__ import annotations

import time
import uuid
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from ._ray_tasks import PackedResult, PackedTask, SandboxTask, TaskResult, pack, unpack

Retry = Literal["not_started", "always"]

POLL_SECONDS = 1.0
"""Maximum time of one wait for results, after which the list of nodes is read again."""

PAUSE_SECONDS = 0.2
"""Pause before a message to an actor that was unavailable, or that rejected a task, is sent again."""

SILENT_SECONDS = 5.0
"""Time after the last reply of an actor until which it gets tasks without a check."""

ORDERED_WINDOW = 4
"""With `ordered`, results and tasks that wait for an earlier task are at most this many times those in flight."""

MESSAGE_BYTES = 16 << 20
"""Bytes of tasks after which a message ends."""

PICKLED_FUNCTIONS = 64
"""Functions whose pickled form is kept while their tasks are sent."""


class ActorLost(Exception):
    """The actor does not exist any more."""


class ActorUnavailable(Exception):
    """The actor cannot be reached. It may exist, and may have received the message."""


class PoolError(RuntimeError):
    """A pool cannot run its tasks."""


class Member(Protocol):
    """A node with an actor."""

    node: str
    draining: bool
    in_flight: int
    """Number of tasks of all sessions of this pool."""

    def exchange(self, session: str, number: int, received: int, tasks: Sequence[PackedTask], wait: float) -> Any:
        """Sends a message, and returns a handle of its reply."""
        ...

    def end(self, session: str) -> None:
        """Sends the end of a session, without a reply."""
        ...


class Members(Protocol):
    """The nodes of a pool."""

    concurrency: int
    unavailable_timeout: float

    def ready(self) -> Sequence[Member]:
        """Returns the nodes with a ready actor that may get tasks.

        Raises:
            PoolError: There has been none for too long.
        """
        ...

    def wait(self, handles: Sequence[Any], timeout: float) -> list[Any]:
        """Waits until at least one reply has arrived, and returns the handles of those that have."""
        ...

    def reply(self, handle: Any) -> list[tuple[int, PackedResult]] | None:
        """Returns a reply that has arrived. It is None if the actor has ended the session.

        Raises:
            ActorLost, ActorUnavailable: There is no reply.
        """
        ...

    def remove(self, member: Member, reason: str) -> None:
        """Removes a node whose actor is lost, and ends the actor if it still exists."""
        ...


@dataclass
class _Entry:
    """A task that is not finished."""

    index: int
    task: SandboxTask
    run: bytes
    rest: bytes
    attempts: int = 0
    may_have_run: bool = False
    node: str | None = None


@dataclass
class _Link:
    """The session at one actor. At most one message is on its way."""

    member: Member
    session: str = field(default_factory=lambda: uuid.uuid4().hex)
    number: int = 0
    received: int = 0
    in_flight: dict[int, _Entry] = field(default_factory=dict)
    message: list[PackedTask] = field(default_factory=list)
    """Tasks of the message `number`, until its reply."""
    must_repeat: bool = False
    handle: Any = None
    pause_until: float = 0.0
    unavailable_since: float | None = None
    heard: float | None = None
    """Time of the last reply."""


class Dispatcher:
    """One `map`: at most `concurrency` tasks for each node are taken from the tasks before their results are taken."""

    def __init__(
        self, members: Members, tasks: Iterable[SandboxTask], retry: Retry, max_attempts: int, ordered: bool
    ) -> None:
        """Prepares to send tasks. `results` does all the work."""
        if retry not in ("not_started", "always"):
            raise ValueError(f"retry must be 'not_started' or 'always', not {retry!r}")
        if max_attempts < 1:
            raise ValueError(f"max_attempts must be at least 1, not {max_attempts}")
        self._members = members
        self._tasks = iter(tasks)
        self._exhausted = False
        self._retry = retry
        self._max_attempts = max_attempts
        self._ordered = ordered
        self._links: dict[int, _Link] = {}
        self._pending: deque[_Entry] = deque()
        self._finished: deque[TaskResult] = deque()
        self._waiting: dict[int, TaskResult] = {}
        """With `ordered`: results whose predecessors are missing."""
        self._pulled = 0
        self._returned = 0
        self._attempts = 0
        self._started = time.monotonic()
        self._functions: OrderedDict[int, tuple[Any, bytes]] = OrderedDict()

    def results(self) -> Iterator[TaskResult]:
        """Yields a result for each task. Closing the iterator stops the tasks."""
        self._started = time.monotonic()
        try:
            while True:
                while self._finished:
                    result = self._finished.popleft()
                    self._returned += 1
                    yield result
                self._join()
                self._assign()
                self._send()
                if self._finished:
                    continue
                if self._exhausted and not self._pending and not any(link.in_flight for link in self._links.values()):
                    return
                self._collect()
        finally:
            self._end()

    def _join(self) -> None:
        """Adds the nodes that have joined, and forgets those that left without a task in flight."""
        ready = self._members.ready()
        for member in ready:
            self._links.setdefault(id(member), _Link(member))
        present = {id(member) for member in ready}
        for key, link in list(self._links.items()):
            if key not in present and link.handle is None and not link.in_flight:
                del self._links[key]

    def _assign(self) -> None:
        """Distributes tasks to the nodes with room and without a message on its way, the emptiest first."""
        now = time.monotonic()
        if not self._attempts and now < self._started + POLL_SECONDS:
            if any(link.heard is None for link in self._links.values()):
                # The first node to reply would get all of a few tasks.
                return
        free = [link for link in self._links.values() if self._has_room(link, now)]
        size = {id(link): 0 for link in free}
        while free:
            link = min(free, key=lambda link: len(link.in_flight))
            entry = self._next_entry()
            if entry is None:
                return
            self._attempts += 1
            entry.attempts += 1
            entry.node = link.member.node
            link.in_flight[self._attempts] = entry
            link.member.in_flight += 1
            link.message.append(PackedTask(self._attempts, entry.run, entry.rest))
            size[id(link)] += len(entry.rest)
            if len(link.in_flight) >= self._members.concurrency or size[id(link)] > MESSAGE_BYTES:
                free.remove(link)

    def _has_room(self, link: _Link, now: float) -> bool:
        is_idle = link.handle is None and not link.must_repeat and not link.member.draining
        is_full = len(link.in_flight) >= self._members.concurrency
        return is_idle and not is_full and now >= link.pause_until and not _is_silent(link, now)

    def _next_entry(self) -> _Entry | None:
        if self._pending:
            return self._pending.popleft()
        while not self._exhausted and not self._is_window_full():
            try:
                task = next(self._tasks)
            except StopIteration:
                self._exhausted = True
                return None
            index = self._pulled
            self._pulled += 1
            try:
                rest = pack((task.arguments, task.files, task.sandbox, task.timeout))
                return _Entry(index, task, self._pack_run(task.run), rest)
            except Exception as error:
                message = f"cannot pickle the task: {type(error).__name__}: {error}"
                self._finish(TaskResult(index, task.labels, "failed", error=message))
        return None

    def _is_window_full(self) -> bool:
        if not self._ordered:
            return False
        window = ORDERED_WINDOW * self._members.concurrency * max(1, len(self._links))
        return self._pulled - self._returned >= window

    def _pack_run(self, run: Any) -> bytes:
        """Pickles a function, or returns its pickled form if it was pickled before."""
        known = self._functions.get(id(run))
        if known is None:
            # The entry keeps the function, so that its id stays unique.
            known = self._functions[id(run)] = (run, pack(run))
            if len(self._functions) > PICKLED_FUNCTIONS:
                self._functions.popitem(last=False)
        else:
            self._functions.move_to_end(id(run))
        return known[1]

    def _send(self) -> None:
        now = time.monotonic()
        for link in self._links.values():
            if link.handle is not None or now < link.pause_until:
                continue
            if not link.must_repeat:
                if not link.in_flight and not _is_silent(link, now):
                    continue
                link.number += 1
            link.must_repeat = False
            link.handle = link.member.exchange(
                link.session, link.number, link.received, tuple(link.message), POLL_SECONDS
            )

    def _collect(self) -> None:
        handles = {link.handle: link for link in self._links.values() if link.handle is not None}
        if not handles:
            time.sleep(PAUSE_SECONDS / 4)
            return
        # A pause ends earlier than a wait for other nodes.
        is_paused = any(link.handle is None and link.in_flight for link in self._links.values())
        for handle in self._members.wait(list(handles), PAUSE_SECONDS if is_paused else POLL_SECONDS):
            link = handles[handle]
            link.handle = None
            try:
                page = self._members.reply(handle)
            except ActorLost as error:
                self._lose(link, str(error))
            except ActorUnavailable as error:
                self._repeat_later(link, str(error))
            else:
                if page is None:
                    # The actor lives on, and gets another session.
                    self._lose(link, "the session was ended after a long time without a message", remove=False)
                else:
                    self._accept(link, page)

    def _accept(self, link: _Link, page: Sequence[tuple[int, PackedResult]]) -> None:
        link.message.clear()
        link.unavailable_since = None
        link.heard = time.monotonic()
        for number, packed in page:
            if number <= link.received:
                continue
            link.received = number
            entry = link.in_flight.pop(packed.attempt, None)
            if entry is None:
                continue
            link.member.in_flight -= 1
            if packed.outcome == "rejected":
                entry.attempts -= 1
                self._pending.append(entry)
                link.pause_until = time.monotonic() + PAUSE_SECONDS
            else:
                self._finish(_result(entry, packed, packed.outcome))

    def _repeat_later(self, link: _Link, reason: str) -> None:
        """Sends the same message again after a pause: the actor ignores what it has received already."""
        now = time.monotonic()
        link.unavailable_since = link.unavailable_since or now
        if now - link.unavailable_since > self._members.unavailable_timeout:
            self._lose(link, reason)
            return
        link.must_repeat = True
        link.pause_until = now + PAUSE_SECONDS

    def _lose(self, link: _Link, reason: str, *, remove: bool = True) -> None:
        """Handles the end of an actor, or of the session: each of its tasks may have run."""
        self._links.pop(id(link.member), None)
        if remove:
            self._members.remove(link.member, reason)
        for entry in link.in_flight.values():
            link.member.in_flight -= 1
            entry.may_have_run = True
            if self._retry == "always" and entry.attempts < self._max_attempts:
                self._pending.append(entry)
                continue
            message = f"the actor or its session ended, and the commands of the task may have run: {reason}"
            result = TaskResult(
                entry.index, entry.task.labels, "lost", error=message, node=entry.node,
                attempts=entry.attempts, may_have_run=True,
            )  # fmt: skip
            self._finish(result)

    def _finish(self, result: TaskResult) -> None:
        if not self._ordered:
            self._finished.append(result)
            return
        self._waiting[result.index] = result
        expected = self._returned + len(self._finished)
        while expected in self._waiting:
            self._finished.append(self._waiting.pop(expected))
            expected += 1

    def _end(self) -> None:
        for link in self._links.values():
            link.member.in_flight -= len(link.in_flight)
            if link.number:
                link.member.end(link.session)
        self._links.clear()


def _is_silent(link: _Link, now: float) -> bool:
    """Returns whether the actor must reply to an empty message before it gets tasks. It may have ended since its last reply,
    and the tasks would count as lost."""
    return link.heard is None or now - link.heard > SILENT_SECONDS


def _result(entry: _Entry, packed: PackedResult, outcome: Literal["done", "failed"]) -> TaskResult:
    value, error, traceback = None, packed.error, packed.traceback
    if packed.value is not None:
        try:
            value = unpack(packed.value)
        except Exception as failure:
            outcome, error = "failed", f"cannot unpickle the value: {type(failure).__name__}: {failure}"
    return TaskResult(
        entry.index, entry.task.labels, outcome, value, error, traceback, entry.node, entry.attempts,
        entry.may_have_run, packed.seconds,
    )  # fmt: skip
