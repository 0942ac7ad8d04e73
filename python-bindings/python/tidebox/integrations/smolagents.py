"""smolagents: an executor of Python code.

    from smolagents import CodeAgent
    from tidebox.integrations.smolagents import TideboxExecutor

    with CodeAgent(tools=[], model=..., executor=TideboxExecutor()) as agent:
        agent.run("What is 6 * 7?")

The sandbox needs the pack `python`.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Collection, Sequence
from typing import Any

from ._imports import missing_framework

try:
    import PIL.Image
    from smolagents.local_python_executor import CodeOutput  # type: ignore[import-untyped]
    from smolagents.monitoring import AgentLogger, LogLevel  # type: ignore[import-untyped]
    from smolagents.remote_executors import RemotePythonExecutor  # type: ignore[import-untyped]
    from smolagents.serialization import SafeSerializer  # type: ignore[import-untyped]
    from smolagents.tools import Tool, get_tools_definition_code  # type: ignore[import-untyped]
    from smolagents.utils import AgentError  # type: ignore[import-untyped]
except ImportError as error:
    raise missing_framework("smolagents", error) from error

from .._native import SandboxError, ToolCall
from .._python_session import PythonSession
from .._sandbox import Sandbox

HOST_COMMAND = "call-host-tool"
"""Name of the command that calls a tool in this process."""

_HOST_FUNCTION = """
def {name}(*args, **kwargs):
    import json, subprocess
    request = json.dumps([args, kwargs]).encode()
    done = subprocess.run([{command!r}, {name!r}], input=request, capture_output=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.decode(errors="replace").strip())
    return _deserialize(done.stdout.decode())
"""

_MISSING_MODULES = """
import importlib.util, os, site, sys
site.addsitedir(os.path.expanduser("~/.local/lib/python%d.%d/site-packages" % sys.version_info[:2]))
importlib.invalidate_caches()
" ".join(name for name in {names!r} if importlib.util.find_spec(name) is None)
"""
"""Code whose value is the names of the modules that cannot be imported. It finds packages that pip just installed."""


class TideboxExecutor(RemotePythonExecutor):  # type: ignore[misc]  # smolagents has no type hints of its own.
    """Runs the code of an agent in a Python interpreter of a sandbox, which keeps its variables between steps."""

    def __init__(
        self,
        additional_imports: Sequence[str] = (),
        logger: AgentLogger | None = None,
        *,
        sandbox: Sandbox | None = None,
        host_tools: Collection[str] = (),
        timeout: float | None = None,
        **options: Any,
    ) -> None:
        """Uses a sandbox, or creates one.

        Values pass between the sandbox and this process as JSON, never as pickles.

        Args:
            additional_imports: Python packages that the code may import. Missing ones are installed with `pip install`.
            logger: Logger of the agent; errors are printed by default.
            sandbox: A sandbox to use. Host tools and managed agents need one that was not used before.
            host_tools: Names of tools that run in this process, because they need its network, files or secrets.
            timeout: Seconds of one step, calls of host tools included; `Limits.wall_time` by default.
            options: Options of a new `Sandbox`, such as `files`, `network` and `pip=True`.

        Raises:
            AgentError: A package cannot be installed.
            ValueError: The pack `python` is missing.
        """
        if sandbox is not None and options:
            raise TypeError("pass either a sandbox or options of a new one")
        super().__init__(list(additional_imports), logger or AgentLogger(level=LogLevel.ERROR), allow_pickle=False)
        self.host_tools = frozenset(host_tools)
        self.timeout = timeout
        self._owns_sandbox = sandbox is None
        self.sandbox = Sandbox(**options) if sandbox is None else sandbox
        self._host_objects: dict[str, Any] = {}
        self._can_call_host = self._add_host_command()
        self._definitions: dict[str, str] = {}
        self._session: PythonSession | None = None
        self._interpreter()
        self.installed_packages = self.install_packages(list(additional_imports))

    def _add_host_command(self) -> bool:
        try:
            self.sandbox.tool(name=HOST_COMMAND)(self._call_host)
        except SandboxError:  # The sandbox was used already.
            return False
        return True

    def _call_host(self, call: ToolCall) -> str:
        """Calls a tool with the arguments of the request. The command prints an exception and ends with code 1."""
        if len(call.arguments) != 1 or call.arguments[0] not in self._host_objects:
            raise LookupError(f"unknown tool {call.arguments}; use one of {sorted(self._host_objects)}")
        args, kwargs = json.loads(call.stdin)
        try:
            result = self._host_objects[call.arguments[0]](*args, **kwargs)
        except Exception as error:
            raise RuntimeError(f"{type(error).__name__}: {error}") from error
        return str(SafeSerializer.dumps(result, allow_pickle=False))

    def send_tools(self, tools: dict[str, Any]) -> None:
        """Defines the tools of an agent in the interpreter. The agent calls it before every run.

        The source code of a tool is sent to the sandbox. Managed agents, and tools named in `host_tools`, stay in this
        process, and the sandbox gets functions that call them.

        Raises:
            ValueError: A name in `host_tools` is unknown, or the sandbox was used before this executor had it.
        """
        if unknown := self.host_tools - set(tools):
            raise ValueError(f"unknown names in host_tools: {sorted(unknown)}; the agent has {sorted(tools)}")
        hosted = {name: tool for name, tool in tools.items() if not isinstance(tool, Tool) or name in self.host_tools}
        if "final_answer" in hosted:
            raise ValueError("final_answer cannot be a host tool: it ends the run inside of the sandbox")
        if hosted and not self._can_call_host:
            raise ValueError(f"the sandbox was used before, so it cannot call {sorted(hosted)}; pass a new one")
        self._host_objects = hosted
        functions = [_HOST_FUNCTION.format(name=name, command=HOST_COMMAND) for name in hosted]
        sent = {name: tool for name, tool in tools.items() if name not in hosted}
        answer = sent.pop("final_answer", None)
        needed = {package for tool in sent.values() for package in tool.to_dict()["requirements"]}
        needed -= {*self.installed_packages, "smolagents"}
        self.installed_packages += self.install_packages(sorted(needed))
        code = [_DESERIALIZER, *functions, get_tools_definition_code(sent), self._final_answer_code(answer)]
        self._define("tools", "\n".join(code))

    def _final_answer_code(self, tool: Any) -> str:
        # smolagents annotates its own tool, and accepts any.
        if tool is None:
            return ""
        if not hasattr(tool, "_forward"):
            # Once for each tool: a second time would make it call itself.
            self._patch_final_answer_with_exception(tool)
        # It imports them again where it needs them, and does without them where they are missing.
        return re.sub(
            r"^import (PIL|numpy)$", "", get_tools_definition_code({"final_answer": tool}), flags=re.MULTILINE
        )

    def send_variables(self, variables: dict[str, Any]) -> None:
        """Sets variables of the interpreter. Their values must be JSON or one of the types that smolagents adds to it.

        Raises:
            SerializationError: A value has another type.
        """
        if variables:
            values = SafeSerializer.dumps(variables, allow_pickle=False)
            self._define("variables", f"{_DESERIALIZER}\nglobals().update(_deserialize({values!r}))\n")

    def install_packages(self, additional_imports: list[str]) -> list[str]:
        """Installs the packages that the interpreter cannot import with `pip install`. Returns all names.

        Raises:
            AgentError: A package cannot be installed.
        """
        missing = self._missing(additional_imports)
        if missing:
            result = self.sandbox.execute(["pip", "install", *missing])
            if not result.ok:
                raise AgentError(f"cannot install {' '.join(missing)} in the sandbox:\n{result.output}", self.logger)
            self._missing(missing)  # Adds the directory with the packages to the interpreter.
        return additional_imports

    def _missing(self, names: list[str]) -> list[str]:
        if not names:
            return []
        missing = self.run_code_raise_errors(_MISSING_MODULES.format(names=names)).output
        return str(missing).strip("'").split()

    def __call__(self, code_action: str) -> CodeOutput:
        """Runs one step of an agent.

        Returns:
            The value of the last expression as text, or a figure; what was printed; whether it is the final answer.

        Raises:
            AgentError: The code raised an exception, exited or was stopped. The message has output and traceback.
        """
        return self.run_code_raise_errors(code_action)

    def run_code_raise_errors(self, code: str) -> CodeOutput:
        """Runs code like a step of an agent."""
        result = self._interpreter().run(code, timeout=self.timeout)
        if result.has_exited:
            self._session = None
            raise AgentError(f"{result.output}The interpreter ended; its variables are lost.", self.logger)
        if result.error == self.FINAL_ANSWER_EXCEPTION and result.error_message is not None:
            answer = self._deserialize_final_answer(result.error_message, allow_pickle=False)
            return CodeOutput(output=answer, logs=result.stdout, is_final_answer=True)
        if result.error is not None:
            raise AgentError(result.output, self.logger)
        output: Any = result.value
        if output is None and result.figures:
            output = self._figure(result.figures[-1])
        return CodeOutput(output=output, logs=result.output, is_final_answer=False)

    def cleanup(self) -> None:
        """Closes the sandbox if this executor created it. The agent calls it at the end of its `with` block."""
        self._session = None
        if self._owns_sandbox:
            self.sandbox.close()

    def _interpreter(self) -> PythonSession:
        """Returns the interpreter. A new one gets the tools and variables of the agent again."""
        if self._session is None:
            self._session = self.sandbox.python_session()
            for code in self._definitions.values():
                self.run_code_raise_errors(code)
        return self._session

    def _define(self, name: str, code: str) -> None:
        self.run_code_raise_errors(code)
        self._definitions[name] = code

    def _figure(self, path: str) -> PIL.Image.Image:
        return PIL.Image.open(io.BytesIO(_content(self.sandbox, path)))


def _content(sandbox: Sandbox, path: str) -> bytes:
    [file] = sandbox.download_files([path])
    if file.content is None:
        raise FileNotFoundError(f"cannot read the figure {path}: {file.message}")
    return file.content


_DESERIALIZER: str = SafeSerializer.get_deserializer_code(allow_pickle=False)
"""Code that defines `_deserialize`."""
