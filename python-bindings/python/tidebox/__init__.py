"""An in-process sandbox for code that language models write.

    from tidebox import Sandbox

    with Sandbox(files={"data.csv": "a,1\nb,2\n"}) as sandbox:
        print(sandbox.execute("sort -t, -k2nr data.csv | head -1").stdout)

A sandbox has files in memory, `bash` and about two hundred commands. It has no access to the files, the network and the
processes of the host unless it is given some. `Sandbox` waits for results; `AsyncSandbox` has the same methods for asyncio.
"""

from __future__ import annotations

import atexit
import os.path
from importlib import import_module

from ._native import (
    Change,
    ExecuteResult,
    FileInfo,
    FileOperationError,
    GlobResult,
    GrepMatch,
    GrepResult,
    OutputChunk,
    ProcessOutput,
    ProcessStatus,
    PythonResult,
    ReadResult,
    SandboxError,
    Snapshot,
    ToolCall,
    TransferResult,
    __version__,
    shut_down,
    use_archive,
    use_pack_wheels,
)
from ._async_sandbox import AsyncRunningCommand, AsyncSandbox
from ._options import Credential, HostRule, Limits, Mount, NetworkPolicy
from ._provider import AsyncProvider, Cassette, Emulator, Provider, RemoteOptions, SandboxInfo, SandboxOptions, create_sandbox
from ._port import ExposedPort, PortEndpoint
from ._process import AsyncProcess, Process
from ._python_session import AsyncPythonSession, PythonSession
from ._sandbox import RunningCommand, Sandbox
from ._tools import ToolResult

atexit.register(shut_down)
use_archive(os.path.join(os.path.dirname(__file__), "programs"))


def _pack_wheels() -> str | None:
    """Returns the directory of the package `tidebox-python`, which the extra `python` installs."""
    try:
        return os.path.dirname(import_module("tidebox_python").__file__ or "")
    except ImportError:
        return None


use_pack_wheels(_pack_wheels())

__all__ = [
    "AsyncProcess",
    "AsyncProvider",
    "AsyncPythonSession",
    "AsyncRunningCommand",
    "AsyncSandbox",
    "Cassette",
    "Change",
    "Credential",
    "Emulator",
    "ExecuteResult",
    "ExposedPort",
    "FileInfo",
    "FileOperationError",
    "GlobResult",
    "GrepMatch",
    "GrepResult",
    "HostRule",
    "Limits",
    "Mount",
    "NetworkPolicy",
    "OutputChunk",
    "PortEndpoint",
    "Process",
    "ProcessOutput",
    "ProcessStatus",
    "Provider",
    "PythonResult",
    "PythonSession",
    "ReadResult",
    "RemoteOptions",
    "RunningCommand",
    "Sandbox",
    "SandboxError",
    "SandboxInfo",
    "SandboxOptions",
    "Snapshot",
    "ToolCall",
    "ToolResult",
    "TransferResult",
    "create_sandbox",
    "__version__",
]
