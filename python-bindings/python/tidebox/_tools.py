"""Python functions as commands of a sandbox."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Union

from ._native import ToolCall

if TYPE_CHECKING:
    import asyncio


@dataclass(frozen=True)
class ToolResult:
    """What a tool prints, and its exit code."""

    stdout: str | bytes = b""
    stderr: str | bytes = b""
    exit_code: int = 0


Answer = Union[str, bytes, ToolResult, None]
Tool = Callable[[ToolCall], Union[Answer, Awaitable[Answer]]]


def _bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


class NativeTool:
    """Calls a tool, and converts its answer. Runs on a thread of its own."""

    def __init__(self, function: Tool, loop: asyncio.AbstractEventLoop | None) -> None:
        self._function = function
        self._loop = loop

    def __call__(self, call: ToolCall) -> tuple[bytes, bytes, int]:
        try:
            answer: Any = self._function(call)
            if isinstance(answer, Awaitable):
                answer = self._wait(answer)
        except Exception as error:
            # The guest sees the message; the traceback, which may show secrets, stays on the host's standard error.
            import traceback

            traceback.print_exc()
            return b"", f"{call.name}: {error}\n".encode(errors="replace"), 1
        if isinstance(answer, ToolResult):
            return _bytes(answer.stdout), _bytes(answer.stderr), answer.exit_code & 0xFF
        if answer is None:
            return b"", b"", 0
        if isinstance(answer, (str, bytes)):
            return _bytes(answer), b"", 0
        message = f"{call.name}: the tool returned {type(answer).__name__}; expected str, bytes, ToolResult or None\n"
        return b"", message.encode(), 1

    def _wait(self, awaitable: Awaitable[Any]) -> Any:
        import asyncio

        async def result() -> Any:
            return await awaitable

        if self._loop is not None and self._loop.is_running():
            return asyncio.run_coroutine_threadsafe(result(), self._loop).result()
        return asyncio.run(result())
