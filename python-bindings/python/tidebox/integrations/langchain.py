"""LangChain: a sandbox as tools of an agent.

    from langchain.agents import create_agent
    from tidebox import Sandbox
    from tidebox.integrations.langchain import TideboxToolkit

    agent = create_agent(model=..., tools=TideboxToolkit(sandbox=Sandbox()).get_tools())
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from typing import Any, Literal, TypeVar, cast

from .. import _native
from .._async_sandbox import AsyncSandbox
from .._provider import AsyncProvider, Provider
from .._sandbox import Sandbox
from ._imports import missing_framework

try:
    from langchain_core.runnables import RunnableConfig
    from langchain_core.tools import BaseTool, BaseToolkit, ToolException
    from langchain_core.tools.base import ArgsSchema
    from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, model_validator
except ImportError as error:
    raise missing_framework("langchain", error) from error

ToolName = Literal["execute", "read_file", "write_file", "edit_file", "ls", "glob", "grep"]
"""Names of the tools."""

MAX_CHARS = 40_000
"""Default of the characters of one result that a model receives."""

MAX_TIMEOUT = 600.0
"""Default of the longest timeout in seconds that a model may choose."""

_Arguments = TypeVar("_Arguments", bound=BaseModel)


class ExecuteArguments(BaseModel):
    """Arguments of `execute`."""

    command: str = Field(description="Command line for bash.")
    timeout: float | None = Field(default=None, gt=0, description="Seconds after which the command is stopped.")


class ReadFileArguments(BaseModel):
    """Arguments of `read_file`."""

    path: str = Field(description="Path of the file; a relative one starts at the working directory.")
    offset: int = Field(default=0, ge=0, description="Number of lines to skip.")
    limit: int = Field(default=2000, gt=0, description="Number of lines to read.")


class WriteFileArguments(BaseModel):
    """Arguments of `write_file`."""

    path: str = Field(description="Path of the file; a relative one starts at the working directory.")
    content: str = Field(description="The whole new content.")


class EditFileArguments(BaseModel):
    """Arguments of `edit_file`."""

    path: str = Field(description="Path of the file; a relative one starts at the working directory.")
    old_string: str = Field(description="Text to replace. It must occur once, unless replace_all is true.")
    new_string: str = Field(description="Replacement.")
    replace_all: bool = Field(default=False, description="Replace every occurrence.")


class LsArguments(BaseModel):
    """Arguments of `ls`."""

    path: str = Field(default=".", description="Path of the directory.")


class GlobArguments(BaseModel):
    """Arguments of `glob`."""

    pattern: str = Field(description="Pattern such as **/*.py.")
    path: str = Field(default=".", description="Directory to search.")


class GrepArguments(BaseModel):
    """Arguments of `grep`."""

    pattern: str = Field(description="Text to find. It is not a regular expression.")
    path: str = Field(default=".", description="File or directory to search.")
    glob: str | None = Field(default=None, description="Only files whose names match, such as *.py.")


class TideboxToolkit(BaseToolkit):
    """The tools `execute`, `read_file`, `write_file`, `edit_file`, `ls`, `glob` and `grep` of a sandbox.

    Pass one sandbox for all calls, or a provider for one sandbox per thread of LangGraph: the label `thread` has the
    `thread_id` of the configuration. A missing file, a wrong argument and similar errors are results with the status
    `error`; a closed sandbox raises `SandboxError`.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    sandbox: Sandbox | AsyncSandbox | None = None
    """A sandbox for all calls."""
    provider: Provider | AsyncProvider | None = None
    """Creates or finds the sandbox of each thread."""
    names: tuple[ToolName, ...] = ("execute", "read_file", "write_file", "edit_file", "ls", "glob", "grep")
    """Names of the tools to return."""
    max_chars: int = Field(default=MAX_CHARS, gt=0)
    """Characters of one result that the model receives; the middle of a longer one is omitted."""
    max_timeout: float = Field(default=MAX_TIMEOUT, gt=0)
    """Longest timeout in seconds that the model may choose. Without a timeout, `Limits.wall_time` holds."""

    @model_validator(mode="after")
    def _check_source(self) -> TideboxToolkit:
        if (self.sandbox is None) == (self.provider is None):
            raise ValueError("pass either sandbox or provider")
        return self

    def get_tools(self) -> list[BaseTool]:
        """Returns the tools, in the order of `names`."""
        return [TideboxTool(self, name) for name in self.names]


class TideboxTool(BaseTool):
    """A tool of a sandbox. Its text is for the model; its artifact is a dict with the unshortened result."""

    args_schema: ArgsSchema | None = None
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    handle_tool_error: Any = True
    handle_validation_error: Any = True
    _toolkit: TideboxToolkit = PrivateAttr()
    _operation: _Operation = PrivateAttr()

    def __init__(self, toolkit: TideboxToolkit, name: ToolName) -> None:
        """Creates the tool with a name."""
        operation = _OPERATIONS[name]
        super().__init__(name=name, description=operation.description, args_schema=operation.arguments)
        self._toolkit, self._operation = toolkit, operation

    def _run(self, config: RunnableConfig, **given: Any) -> tuple[str, dict[str, Any]]:
        arguments = self._checked(given)
        provider = self._toolkit.provider
        sandbox: Any = self._toolkit.sandbox
        if provider is not None:
            sandbox = provider._native.get_or_create(None, _labels(config), False)
        try:
            return self._shown(self._operation.start(_native_of(sandbox), arguments, False), arguments)
        except _MODEL_ERRORS as error:
            raise ToolException(_message(error)) from error

    async def _arun(self, config: RunnableConfig, **given: Any) -> tuple[str, dict[str, Any]]:
        arguments = self._checked(given)
        provider = self._toolkit.provider
        sandbox: Any = self._toolkit.sandbox
        if provider is not None:
            sandbox = await cast("Awaitable[Any]", provider._native.get_or_create(None, _labels(config), True))
        try:
            result = await cast("Awaitable[Any]", self._operation.start(_native_of(sandbox), arguments, True))
            return self._shown(result, arguments)
        except _MODEL_ERRORS as error:
            raise ToolException(_message(error)) from error

    def _checked(self, given: dict[str, Any]) -> BaseModel:
        arguments = self._operation.arguments(**given)
        timeout = getattr(arguments, "timeout", None)
        if timeout is not None and timeout > self._toolkit.max_timeout:
            raise ToolException(f"timeout must be at most {self._toolkit.max_timeout:g} seconds, not {timeout:g}")
        return arguments

    def _shown(self, result: Any, arguments: BaseModel) -> tuple[str, dict[str, Any]]:
        text, artifact = self._operation.show(result, arguments)
        return _shortened(text, self._toolkit.max_chars), artifact


class _Operation:
    """A call of the native module, and its result as text and as an artifact."""

    def __init__(
        self,
        description: str,
        arguments: type[_Arguments],
        start: Callable[[_native.NativeSandbox, _Arguments, bool], Any],
        show: Callable[[Any, _Arguments], tuple[str, dict[str, Any]]],
    ) -> None:
        self.description = description
        self.arguments: type[BaseModel] = arguments
        self.start = cast("Callable[[_native.NativeSandbox, BaseModel, bool], Any]", start)
        self.show = cast("Callable[[Any, BaseModel], tuple[str, dict[str, Any]]]", show)


def _show_execute(result: Any, arguments: ExecuteArguments) -> tuple[str, dict[str, Any]]:
    artifact = {
        "exit_code": result.exit_code, "stdout": result.stdout, "stderr": result.stderr,
        "stopped_by": result.stopped_by, "truncated": result.truncated,
    }  # fmt: skip
    text: str = result.output
    if result.exit_code == 0:
        return text or "(no output)", artifact
    line = "" if not text or text.endswith("\n") else "\n"
    return f"{text}{line}[exit code: {result.exit_code}]", artifact


def _show_read(page: Any, arguments: ReadFileArguments) -> tuple[str, dict[str, Any]]:
    artifact = {"content": page.content, "mime": page.mime, "total_lines": page.total_lines}
    if not page.is_text:
        return f"{arguments.path} is not text but {page.mime} with {len(page.content)} bytes", artifact
    if page.next_offset is None:
        return page.content or "(empty file)", artifact
    rest = f"[{page.total_lines} lines; continue with offset={page.next_offset}]"
    return f"{page.content.rstrip(chr(10))}\n{rest}", artifact


def _show_ls(entries: Any, arguments: LsArguments) -> tuple[str, dict[str, Any]]:
    lines = [f"{one.path}/" if one.is_dir else f"{one.path} ({_size(one)})" for one in entries]
    found = [{"path": one.path, "kind": one.kind, "size": one.size} for one in entries]
    return "\n".join(lines) or "(empty directory)", {"entries": found}


def _size(entry: Any) -> str:
    return str(entry.kind) if entry.size is None else f"{entry.size} bytes"


def _show_glob(found: Any, arguments: GlobArguments) -> tuple[str, dict[str, Any]]:
    paths = [one.path for one in found.files]
    return _lines(paths, found.truncated), {"paths": paths, "truncated": found.truncated}


def _show_grep(found: Any, arguments: GrepArguments) -> tuple[str, dict[str, Any]]:
    lines = [f"{one.path}:{one.line}:{one.text}" for one in found.matches]
    matches = [{"path": one.path, "line": one.line, "text": one.text} for one in found.matches]
    return _lines(lines, found.truncated), {"matches": matches, "truncated": found.truncated}


def _lines(lines: list[str], truncated: str | None) -> str:
    return "\n".join(lines + ([f"[truncated: {truncated}]"] if truncated else [])) or "(nothing found)"


_OPERATIONS: dict[str, _Operation] = {
    "execute": _Operation(
        "Runs a command line in bash and returns its output and exit code. Background processes end with the call.",
        ExecuteArguments,
        lambda native, one, wait: native.execute(one.command, (None, None, [], one.timeout, "head", None, False), wait),
        _show_execute,
    ),
    "read_file": _Operation(
        "Reads lines of a text file.",
        ReadFileArguments,
        lambda native, one, wait: native.read(one.path, one.offset, one.limit, wait),
        _show_read,
    ),
    "write_file": _Operation(
        "Creates or replaces a file, and creates the directories above it.",
        WriteFileArguments,
        lambda native, one, wait: native.write(one.path, one.content, wait),
        lambda result, one: (f"Wrote {len(one.content.encode())} bytes to {one.path}", {"path": one.path}),
    ),
    "edit_file": _Operation(
        "Replaces a text in a file.",
        EditFileArguments,
        lambda native, one, wait: native.edit(one.path, one.old_string, one.new_string, one.replace_all, wait),
        lambda count, one: (f"Replaced {count} occurrence(s) in {one.path}", {"path": one.path, "occurrences": count}),
    ),
    "ls": _Operation("Lists a directory.", LsArguments, lambda native, one, wait: native.ls(one.path, wait), _show_ls),
    "glob": _Operation(
        "Finds files by a pattern of their paths.",
        GlobArguments,
        lambda native, one, wait: native.glob(one.pattern, one.path, wait),
        _show_glob,
    ),
    "grep": _Operation(
        "Finds lines that contain a text, in a file or below a directory.",
        GrepArguments,
        lambda native, one, wait: native.grep(one.pattern, one.path, one.glob, None, wait),
        _show_grep,
    ),
}

_MODEL_ERRORS = (OSError, _native.FileOperationError, ValueError)
"""Errors that a model can correct."""


def _message(error: Exception) -> str:
    """Returns the message for a model: that of the system and the path for a file error."""
    if isinstance(error, OSError) and error.errno is not None and error.filename is not None:
        return f"{os.strerror(error.errno)}: {os.fsdecode(error.filename)}"
    return str(error)


def _native_of(sandbox: Any) -> _native.NativeSandbox:
    return sandbox if isinstance(sandbox, _native.NativeSandbox) else cast(_native.NativeSandbox, sandbox._native)


def _labels(config: RunnableConfig) -> dict[str, str]:
    thread = (config.get("configurable") or {}).get("thread_id")
    if thread is None:
        raise RuntimeError(
            "cannot choose a sandbox: the configuration has no thread_id; invoke the agent with "
            "config={'configurable': {'thread_id': ...}}, or pass sandbox instead of provider"
        )
    return {"thread": str(thread)}


def _shortened(text: str, limit: int) -> str:
    """Omits the middle of a long text."""
    if len(text) <= limit:
        return text
    head, tail = text[: limit - limit // 2], text[len(text) - limit // 2 :]
    return f"{head}\n[{len(text) - limit} characters omitted]\n{tail}"
