"""Ray: tasks with sandboxes on all nodes of a cluster.

    import ray
    from tidebox.integrations.ray import SandboxPool, SandboxTask

    ray.init()
    with SandboxPool(num_cpus=1) as pool:
        for result in pool.map(SandboxTask(["seq 3 | sort -r"]) for _ in range(1000)):
            print(result.value)

Each node has one actor, whose process has thousands of sandboxes. Ray itself repeats nothing: a task whose actor ends is
reported as lost, or repeated if the caller allows it. Sandboxes are not saved; they end with their actor.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, cast

from ._imports import missing_framework

try:
    import ray
    from ray.exceptions import ActorUnavailableError, RayActorError, RayError, RayTaskError
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
except ImportError as error:
    raise missing_framework("ray", error) from error

from .._native import __version__
from .._options import Content
from .._provider import SandboxOptions
from ._ray_dispatch import ActorLost, ActorUnavailable, Dispatcher, Member, PoolError, Retry
from ._ray_node import Node, RemoteSandbox, first_line
from ._ray_tasks import CommandResult, PackedResult, SandboxTask, TaskResult, pack
from ._ray_tool import TideboxTool
from ._ray_worker import SandboxLost, Worker

__all__ = [
    "CommandResult",
    "PoolError",
    "RemoteSandbox",
    "SandboxLost",
    "SandboxPool",
    "SandboxTask",
    "TaskResult",
    "TideboxTool",
]

NAMESPACE = "tidebox"
"""Ray namespace of the actors of named pools."""

REFRESH_SECONDS = 1.0
"""Time between two readings of the list of nodes."""

MAX_BACKOFF = 30.0
"""Maximum seconds before an actor is started again at a node where actors end early."""

LONG_LIFE = 60.0
"""Age in seconds of an actor whose end is not counted as a repeated failure."""

MESSAGES = 1000
"""Calls of one actor at the same time beyond those of its sandboxes."""


class SandboxPool:
    """One actor on each node of a Ray cluster, with sandboxes in its process. Nodes that join get an actor.

    Methods may be called by several threads. `map` may run several times at the same time; each has its own `concurrency`.
    """

    def __init__(
        self,
        *,
        sandbox: SandboxOptions | None = None,
        num_cpus: float = 1.0,
        resources: Mapping[str, float] | None = None,
        concurrency: int = 256,
        max_sandboxes: int = 10_000,
        name: str | None = None,
        start_timeout: float = 60.0,
        unavailable_timeout: float = 60.0,
        session_timeout: float = 3600.0,
    ) -> None:
        """Starts the actors, and waits until one is ready, and for the others of the present nodes half of `start_timeout`.

        Args:
            sandbox: Options of the sandboxes. Each sandbox is a fork of one with these options. Directories of the host, such
                as those of mounts, are those of the node.
            num_cpus: CPUs that Ray reserves for each actor. Nodes with fewer have no actor.
            resources: Further resources of Ray that it reserves for each actor.
            concurrency: Maximum number of tasks of one `map` at the same time at each node.
            max_sandboxes: Maximum number of sandboxes of each actor. Tasks beyond it wait.
            name: Name of a pool that other programs of the cluster share: they pass the same name and options. Its actors
                live until `close(shared=True)`. By default they belong to this object and end with it.
            start_timeout: Seconds without a ready actor after which there is an error.
            unavailable_timeout: Seconds for which an actor that cannot be reached is tried again. Then it counts as ended.
            session_timeout: Seconds after which an actor of a named pool stops the tasks of a program that ended, or that
                takes no results.

        Raises:
            PoolError: No actor is ready within `start_timeout`; the message has the reason.
            RuntimeError: Ray is not initialised.
            ValueError: A number is invalid.
        """
        if concurrency < 1 or max_sandboxes < 1:
            raise ValueError("concurrency and max_sandboxes must be at least 1")
        if not ray.is_initialized():
            raise RuntimeError("Ray is not initialised; call ray.init() first")
        self.concurrency = concurrency
        self.unavailable_timeout = unavailable_timeout
        self._options = pack(sandbox or SandboxOptions())
        self._num_cpus = num_cpus
        self._resources = dict(resources or {})
        self._max_sandboxes = max_sandboxes
        self._name = name
        self._start_timeout = start_timeout
        self._session_timeout = session_timeout
        self._lock = threading.RLock()
        self._nodes: dict[str, Node] = {}
        self._excluded: set[str] = set()
        self._failures: dict[str, tuple[int, float]] = {}
        """Number of failed actors of a node in a row, and the time of the next attempt."""
        self._error = "no node has the CPUs and resources of an actor"
        self._refreshed = 0.0
        self._without_actor: float | None = None
        """Time since which there has been no ready actor."""
        self._asked = 0.0
        """Time at which this was found the last time."""
        self._closed = False
        try:
            self._wait_for_start()
        except BaseException:
            self.close()
            raise

    def _wait_for_start(self) -> None:
        patience = time.monotonic() + self._start_timeout / 2
        while True:
            ready = self.ready()
            starting = [node.started for node in self._nodes.values() if node.started is not None]
            if ready and (not starting or time.monotonic() > patience):
                return
            if starting:
                ray.wait(starting, num_returns=len(starting), timeout=REFRESH_SECONDS / 4)
            else:
                time.sleep(REFRESH_SECONDS / 4)
            self._refreshed = 0.0

    @property
    def nodes(self) -> list[str]:
        """Ray's ids of the nodes with a ready actor."""
        with self._lock:
            return [node.node for node in self._nodes.values() if node.started is None and not node.draining]

    def map(
        self,
        tasks: Iterable[SandboxTask],
        *,
        retry: Retry = "not_started",
        max_attempts: int = 3,
        ordered: bool = False,
    ) -> Iterator[TaskResult]:
        """Runs tasks, and yields a result for each. Tasks are taken as nodes have room, so they may be endless.

        Args:
            tasks: The tasks. The next one is taken in this thread.
            retry: `"not_started"` repeats a task only if it has not started, such as one that an actor rejected. A task whose
                actor ended has the outcome `lost`. `"always"` repeats such a task at another node, up to `max_attempts`; its
                commands may then run more than once.
            max_attempts: Maximum number of attempts with `"always"`.
            ordered: Yields the results in the order of the tasks. By default a result is yielded as soon as it arrives.

        Raises:
            PoolError: No node had a ready actor for `start_timeout` seconds, or the pool is closed.
            ValueError: An argument is invalid.
        """
        return Dispatcher(self, tasks, retry, max_attempts, ordered).results()

    async def map_async(
        self,
        tasks: Iterable[SandboxTask],
        *,
        retry: Retry = "not_started",
        max_attempts: int = 3,
        ordered: bool = False,
    ) -> AsyncIterator[TaskResult]:
        """Runs tasks like `map`, for asyncio. The tasks are taken in another thread."""
        results = self.map(tasks, retry=retry, max_attempts=max_attempts, ordered=ordered)
        loop = asyncio.get_running_loop()
        end = object()
        thread = ThreadPoolExecutor(1, "tidebox-ray")
        try:
            while (result := await loop.run_in_executor(thread, next, results, end)) is not end:
                yield cast(TaskResult, result)
        finally:
            # After a `next` that still waits. The event loop does not wait for it.
            thread.submit(cast(Any, results).close)
            thread.shutdown(wait=False)

    async def open(
        self,
        *,
        files: Mapping[str, Content] | None = None,
        sandbox: SandboxOptions | None = None,
        idle_timeout: float = 3600.0,
    ) -> RemoteSandbox:
        """Creates a sandbox at the node where this process has opened the fewest. It lives until it is closed.

        Args:
            files: Files by their paths.
            sandbox: Its options instead of those of the pool.
            idle_timeout: Seconds after which it is closed if it is not used.

        Raises:
            PoolError: No node has a ready actor.
            RuntimeError: The actor has too many sandboxes.
            SandboxLost: The actor ended.
        """
        node = min(await asyncio.to_thread(self._wait_for_ready), key=lambda node: node.open)
        opened = RemoteSandbox(node, uuid.uuid4().hex)
        try:
            await opened._call("open", sandbox, files or {}, idle_timeout)
        except BaseException:
            await opened.close()
            raise
        return opened

    def _wait_for_ready(self) -> list[Node]:
        while not (ready := self.ready()):
            time.sleep(REFRESH_SECONDS / 4)
            self._refreshed = 0.0
        return ready

    def drain(self, node: str) -> None:
        """Sends no further tasks to a node. Its actor ends when the tasks of this pool there are finished, except in a
        named pool. Sandboxes that were opened there live until they are closed.

        Args:
            node: Ray's id of the node.
        """
        with self._lock:
            self._excluded.add(node)
            self._error = "nodes were drained"
            if node in self._nodes:
                self._nodes[node].draining = True
            self._refreshed = 0.0

    def close(self, *, shared: bool = False) -> None:
        """Ends the actors, with all their sandboxes. Those of a named pool live on, unless `shared` is True.

        Closing twice is not an error.
        """
        with self._lock:
            self._closed = True
            nodes, self._nodes = list(self._nodes.values()), {}
            if ray.is_initialized() and (self._name is None or shared):
                for node in nodes:
                    ray.kill(node.actor)

    def __enter__(self) -> SandboxPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # The methods of `Members`.

    def ready(self) -> list[Node]:
        """Returns the nodes with a ready actor, after starting those of nodes that have joined.

        Raises:
            PoolError: There was none for `start_timeout` seconds, or the pool is closed.
        """
        with self._lock:
            if self._closed:
                raise PoolError("the pool is closed")
            now = time.monotonic()
            if now - self._refreshed >= REFRESH_SECONDS:
                self._refreshed = now
                self._refresh(now)
            ready = [node for node in self._nodes.values() if node.started is None and not node.draining]
            if ready:
                self._without_actor = None
                return ready
            if self._without_actor is None or now - self._asked > 5 * REFRESH_SECONDS:
                # Time in which nothing needed an actor does not count.
                self._without_actor = now
            self._asked = now
            if now - self._without_actor > self._start_timeout:
                raise PoolError(
                    f"cannot run tasks: no node has a ready actor for {self._start_timeout:g} s: {self._error}; check "
                    "num_cpus, and that the nodes have the same version of tidebox"
                )
            return []

    def wait(self, handles: Sequence[Any], timeout: float) -> list[Any]:
        """Waits until at least one reply has arrived. Replies that arrived with it are returned, too."""
        arrived, others = ray.wait(list(handles), num_returns=1, timeout=timeout)
        if arrived and others:
            arrived += ray.wait(others, num_returns=len(others), timeout=0)[0]
        return cast("list[Any]", arrived)

    def reply(self, handle: Any) -> list[tuple[int, PackedResult]] | None:
        """Returns a reply that has arrived. It is None if the actor has ended the session.

        Raises:
            ActorLost: The actor ended.
            ActorUnavailable: The actor cannot be reached, or the reply is lost.
        """
        try:
            return cast("list[tuple[int, PackedResult]] | None", ray.get(handle))
        except RayTaskError:
            raise
        except ActorUnavailableError as error:
            raise ActorUnavailable(first_line(error)) from error
        except RayActorError as error:
            raise ActorLost(first_line(error)) from error
        except RayError as error:
            # The actor keeps results until they are confirmed.
            raise ActorUnavailable(first_line(error)) from error

    def remove(self, member: Member, reason: str) -> None:
        """Removes a node whose actor is lost. If the node is alive it gets another one later."""
        with self._lock:
            node = self._nodes.get(member.node)
            if node is not None and node is member:
                self._fail(node, reason)

    # The list of nodes.

    def _refresh(self, now: float) -> None:
        list_nodes: Callable[[], list[dict[str, Any]]] = ray.nodes
        alive = {node["NodeID"] for node in list_nodes() if node["Alive"] and self._fits(node["Resources"])}
        for node in list(self._nodes.values()):
            if node.started is not None:
                self._check_start(node)
            elif node.draining and not node.in_flight and not node.open:
                if self._name is None:
                    ray.kill(node.actor)
                del self._nodes[node.node]
            elif node.node not in alive:
                del self._nodes[node.node]
        for id in alive - self._nodes.keys() - self._excluded:
            if self._failures.get(id, (0, 0.0))[1] <= now:
                self._start(id)
        for id in self._failures.keys() - alive:
            del self._failures[id]

    def _fits(self, resources: Mapping[str, float]) -> bool:
        wanted = {"CPU": self._num_cpus, **self._resources}
        return all(resources.get(name, 0.0) >= amount for name, amount in wanted.items())

    def _start(self, id: str) -> None:
        options: dict[str, Any] = {
            "num_cpus": self._num_cpus,
            "resources": self._resources,
            # Ray would repeat calls silently.
            "max_restarts": 0,
            "max_task_retries": 0,
            "max_concurrency": self._max_sandboxes + MESSAGES,
            "scheduling_strategy": NodeAffinitySchedulingStrategy(id, soft=False),
        }
        if self._name is not None:
            options |= {
                "name": f"{self._name}@{id}", "namespace": NAMESPACE, "lifetime": "detached", "get_if_exists": True,
            }  # fmt: skip
        # The actors of this object end with its program.
        session_timeout = math.inf if self._name is None else self._session_timeout
        remote: Any = ray.remote(Worker)
        actor = remote.options(**options).remote(self._options, self._max_sandboxes, session_timeout)
        self._nodes[id] = Node(id, actor, actor.prepare.remote(self._options))

    def _check_start(self, node: Node) -> None:
        if not ray.wait([node.started], timeout=0)[0]:
            return
        try:
            version = ray.get(node.started)
        except RayTaskError as error:
            self._fail(node, f"{type(error.cause).__name__}: {error.cause}")
        except RayError as error:
            self._fail(node, first_line(error))
        else:
            if version != __version__:
                self._fail(node, f"the node has tidebox {version}, and this process {__version__}")
            node.started = None

    def _fail(self, node: Node, reason: str) -> None:
        """Removes a node, and sets the time at which it gets another actor."""
        self._error = reason
        self._nodes.pop(node.node, None)
        now = time.monotonic()
        before = self._failures.get(node.node, (0, 0.0))[0]
        count = 1 if now - node.created > LONG_LIFE else before + 1
        self._failures[node.node] = (count, now + min(2.0**count / 2, MAX_BACKOFF))
        if self._name is None or node.started is None:
            ray.kill(node.actor)
