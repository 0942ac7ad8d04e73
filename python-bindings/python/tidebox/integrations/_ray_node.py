"""The driver's view of an actor, and of a sandbox that stays in it."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import Any, cast

from ray.exceptions import RayActorError, RayTaskError

from .._options import Command, Content
from ._ray_tasks import CommandResult, PackedTask, pack
from ._ray_worker import SandboxLost


class Node:
    """A node of the pool and its actor."""

    def __init__(self, node: str, actor: Any, started: Any) -> None:
        self.node = node
        self.actor = actor
        self.started = started
        """Reply of `prepare`; None when it has arrived."""
        self.created = time.monotonic()
        self.draining = False
        self.in_flight = 0
        self.open = 0
        """Sandboxes that this process opened."""

    def exchange(self, session: str, number: int, received: int, tasks: Sequence[PackedTask], wait: float) -> Any:
        return self.actor.exchange.remote(session, number, received, tasks, wait)

    def end(self, session: str) -> None:
        self.actor.end.remote(session)


class RemoteSandbox:
    """A sandbox in an actor of a pool. All methods are to be awaited.

    Every method raises `SandboxLost` if the sandbox does not exist any more: its node or actor ended, or it was closed. A
    command that ran at that time may have had effects outside, such as requests that the network policy allows.
    """

    def __init__(self, node: Node, key: str) -> None:
        """Use `SandboxPool.open`."""
        self._node = node
        self._key = key
        self._closed = False
        node.open += 1

    @property
    def node(self) -> str:
        """Ray's id of its node."""
        return self._node.node

    async def execute(self, command: Command, *, timeout: float | None = None) -> CommandResult:
        """Runs a command and waits for its end. Arguments are those of `Sandbox.execute`."""
        return cast(CommandResult, await self._call("execute", command, timeout))

    async def write(self, path: str, content: Content) -> None:
        """Creates or replaces a file, and the directories above it."""
        await self._call("write", path, content)

    async def read(self, path: str) -> bytes:
        """Returns the content of a file.

        Raises:
            FileNotFoundError, OSError: The file cannot be read.
        """
        return cast(bytes, await self._call("read", path))

    async def call(self, function: Callable[..., Awaitable[Any]], *arguments: Any) -> Any:
        """Calls a coroutine function with the `AsyncSandbox` in the actor, and returns its value."""
        return await self._call("call", pack(function), pack(arguments))

    async def close(self) -> None:
        """Closes the sandbox. Closing twice, or after the end of the actor, is not an error."""
        if self._closed:
            return
        self._closed = True
        self._node.open -= 1
        try:
            await self._node.actor.close.remote(self._key)
        except RayActorError:
            pass

    async def __aenter__(self) -> RemoteSandbox:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _call(self, method: str, *arguments: Any) -> Any:
        try:
            return await getattr(self._node.actor, method).remote(self._key, *arguments)
        except RayTaskError as error:
            raise cast(BaseException, error.cause) from error
        except RayActorError as error:
            message = f"the actor of the sandbox ended, and the call may have run: {first_line(error)}"
            raise SandboxLost(message, may_have_run=True) from error


def first_line(error: BaseException) -> str:
    """Returns the first line of the message of an error."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
