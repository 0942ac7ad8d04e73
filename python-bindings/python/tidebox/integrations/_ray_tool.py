"""A tool with the interface that verl calls: create, execute, calc_reward and release. It does not import verl."""

from __future__ import annotations

import asyncio
import importlib
import sys
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

from .._async_sandbox import AsyncSandbox
from .._native import SandboxError
from .._options import Command, Content, Limits, NetworkPolicy
from .._provider import SandboxOptions
from ._ray_tasks import CommandResult, create_sandbox
from ._ray_worker import SandboxLost

if TYPE_CHECKING:
    from .ray import SandboxPool

SCHEMA: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "bash",
        "description": "Runs a command line of bash in a sandbox with files and common tools, and returns its output.",
        "parameters": {
            "type": "object",
            "properties": {"command": {"type": "string", "description": "The command line."}},
            "required": ["command"],
        },
    },
}
"""Schema of the tool, unless the configuration has another one."""


@dataclass
class ToolResponse:
    """Response of a tool, where verl's class of this name is not imported."""

    text: str | None = None
    image: list[Any] | None = None
    video: list[Any] | None = None


@dataclass
class ToolConfig:
    """Keys of the configuration. verl's own ones, such as `type`, are ignored if they are not listed here."""

    pool: str | None = None
    """Name of a pool whose actors have the sandboxes. By default they are in the process of the tool, which is the fastest."""
    pool_options: dict[str, Any] = field(default_factory=dict)
    """Further arguments of the `SandboxPool`, such as `num_cpus`."""
    sandbox: dict[str, Any] = field(default_factory=dict)
    """Options of each sandbox: the fields of `SandboxOptions`. `limits` is a table, `network` a list of hosts."""
    scope: Literal["trajectory", "instance"] = "trajectory"
    """`trajectory`: the calls of one trajectory, which verl's agent loop identifies by `agent_data.request_id`, have the same
    sandbox, although the loop creates and releases an instance for each call. `instance`: each instance has a sandbox."""
    idle_timeout: float = 600.0
    """Seconds without a call after which a sandbox is closed. The agent loop does not report the end of a trajectory."""
    timeout: float = 30.0
    """Seconds of one command."""
    max_chars: int = 16_384
    """Characters of a response: the first and the last half of a longer output are kept."""
    reward: str | None = None
    """A command line whose exit code 0 is the reward 1.0, and any other one 0.0; or `python:module:function`, a coroutine
    function that gets the sandbox and the arguments of `calc_reward`. The argument `reward` of `create` has priority."""
    step_rewards: bool = False
    """Whether each call returns the reward after it. By default a call returns none."""


class _Sandbox(Protocol):
    """The methods of `AsyncSandbox` and `RemoteSandbox` that the tool calls."""

    async def execute(self, command: Command, *, timeout: float | None = None) -> Any: ...
    async def write(self, path: str, content: Content) -> None: ...
    async def close(self) -> None: ...


@dataclass
class _Instance:
    """Arguments of `create`."""

    files: Mapping[str, Content]
    setup: str | None
    reward: str | None
    key: str | None = None
    """Key of its sandbox, after the first call."""


@dataclass
class _Kept:
    """A sandbox of a trajectory or an instance."""

    sandbox: asyncio.Task[_Sandbox]
    lock: asyncio.Lock
    used: float
    is_lost: bool = False


class TideboxTool:
    """The tool `bash` for rollouts. In verl's configuration of tools:

    tools:
      - class_name: tidebox.integrations.ray.TideboxTool
        config: {type: native, sandbox: {limits: {wall_time: 10}}, reward: "sh test.sh"}

    A sample chooses the files of its sandbox in `tools_kwargs`: `{"bash": {"create_kwargs": {"files": {...}}}}`. All methods
    must be called in one event loop.
    """

    def __init__(self, config: Mapping[str, Any], tool_schema: Any = None) -> None:
        """Creates the tool. It starts nothing.

        Args:
            config: A mapping with the keys of `ToolConfig`.
            tool_schema: verl's `OpenAIFunctionToolSchema`. By default the tool is `bash` with the parameter `command`.

        Raises:
            TypeError, ValueError: The configuration is invalid.
        """
        self.config = dict(config)
        names = {one.name for one in fields(ToolConfig)}
        self._config = ToolConfig(**{name: value for name, value in config.items() if name in names})
        if self._config.scope not in ("trajectory", "instance"):
            raise ValueError(f"scope must be 'trajectory' or 'instance', not {self._config.scope!r}")
        self._options = _sandbox_options(self._config.sandbox)
        self.tool_schema = tool_schema if tool_schema is not None else _schema()
        self.name: str = self.tool_schema.function.name
        self._pool: SandboxPool | None = None
        self._template: AsyncSandbox | None = None
        self._instances: dict[str, _Instance] = {}
        self._kept: dict[str, _Kept] = {}
        self._housekeeping: asyncio.Task[None] | None = None

    def get_openai_tool_schema(self) -> Any:
        """Returns the schema of the tool."""
        return self.tool_schema

    async def create(
        self, instance_id: str | None = None, create_kwargs: Mapping[str, Any] | None = None, **kwargs: Any
    ) -> tuple[str, Any]:
        """Creates an instance. Its sandbox is created by the first call.

        Args:
            instance_id: Its id; a random one by default.
            create_kwargs: Arguments of the sample: `files`, paths with contents; `setup`, a command line that runs first;
                `reward`, which replaces that of the configuration. Other ones are ignored.
            kwargs: The same arguments, as other callers pass them.
        """
        given = {**kwargs, **(create_kwargs or {})}
        id = instance_id or str(uuid.uuid4())
        reward = given.get("reward") or self._config.reward
        self._instances[id] = _Instance(given.get("files") or {}, given.get("setup"), reward)
        return id, _response()()

    async def execute(
        self, instance_id: str, parameters: Mapping[str, Any], **kwargs: Any
    ) -> tuple[Any, float | None, dict[str, Any]]:
        """Runs the command of a call.

        Args:
            instance_id: Id of the instance.
            parameters: Arguments of the model: `command`.
            kwargs: `agent_data` of verl's agent loop, whose `request_id` is the trajectory.

        Returns:
            The response for the model, the reward of the step or None, and metrics: `exit_code`, `stopped_by`, `seconds`,
            and `may_have_run`, which is True if the actor ended during the command.
        """
        command = parameters.get("command")
        if not isinstance(command, str):
            return _response()(text="error: the argument `command` must be a string"), self._no_reward(), {}
        instance = self._instance(instance_id)
        instance.key = self._key(instance_id, kwargs.get("agent_data"))
        kept = self._keep(instance)
        async with kept.lock:
            try:
                if kept.is_lost:
                    raise SandboxLost("the sandbox of this trajectory was lost before")
                sandbox = await self._created(instance, kept)
                result = await sandbox.execute(command, timeout=self._config.timeout)
                reward = await self._reward(sandbox, instance, kwargs) if self._config.step_rewards else None
            except SandboxLost as error:
                kept.is_lost = True
                return _response()(text=f"error: {error}"), self._no_reward(), {"may_have_run": error.may_have_run}
            except (OSError, SandboxError, ValueError) as error:
                return _response()(text=f"error: {error}"), self._no_reward(), {}
            finally:
                kept.used = time.monotonic()
        metrics = {
            "exit_code": result.exit_code, "stopped_by": result.stopped_by, "seconds": result.duration,
            "may_have_run": False,
        }  # fmt: skip
        return _response()(text=_text(result, self._config.max_chars)), reward, metrics

    def _no_reward(self) -> float | None:
        return 0.0 if self._config.step_rewards else None

    async def calc_reward(self, instance_id: str, **kwargs: Any) -> float:
        """Returns the reward of an instance. It is 0.0 without a reward in the configuration, or if the sandbox is lost.

        Args:
            instance_id: Id of the instance.
            kwargs: `agent_data`, and arguments of a reward function.
        """
        instance = self._instance(instance_id)
        instance.key = instance.key or self._key(instance_id, kwargs.get("agent_data"))
        kept = self._keep(instance)
        async with kept.lock:
            if kept.is_lost:
                return 0.0
            try:
                return await self._reward(await self._created(instance, kept), instance, kwargs)
            except SandboxLost:
                kept.is_lost = True
                return 0.0
            finally:
                kept.used = time.monotonic()

    async def release(self, instance_id: str, **kwargs: Any) -> None:
        """Releases an instance. Its sandbox is closed, unless it belongs to a trajectory. A missing one is not an error."""
        instance = self._instances.pop(instance_id, None)
        if instance is not None and instance.key == instance_id:
            await self.end_trajectory(instance_id)

    async def end_trajectory(self, request_id: str) -> None:
        """Closes the sandbox of a trajectory. By default it is closed after `idle_timeout`."""
        kept = self._kept.pop(request_id, None)
        if kept is not None:
            await _close(kept)

    async def close(self) -> None:
        """Closes all sandboxes. The actors of the pool live on."""
        kept, self._kept = list(self._kept.values()), {}
        self._instances.clear()
        if self._housekeeping is not None:
            self._housekeeping.cancel()
            self._housekeeping = None
        for one in kept:
            await _close(one)

    def _instance(self, instance_id: str) -> _Instance:
        try:
            return self._instances[instance_id]
        except KeyError:
            raise ValueError(f"instance {instance_id!r} does not exist; call create() first") from None

    def _key(self, instance_id: str, agent_data: Any) -> str:
        request = getattr(agent_data, "request_id", None) if self._config.scope == "trajectory" else None
        return request or instance_id

    def _keep(self, instance: _Instance) -> _Kept:
        """Returns the sandbox of an instance. The first call starts to create it."""
        key = cast(str, instance.key)
        kept = self._kept.get(key)
        if kept is None:
            loop = asyncio.get_running_loop()
            task: asyncio.Task[_Sandbox] = loop.create_task(self._new_sandbox(instance))
            kept = self._kept[key] = _Kept(task, asyncio.Lock(), time.monotonic())
            if self._housekeeping is None:
                self._housekeeping = loop.create_task(self._close_idle())
        return kept

    async def _created(self, instance: _Instance, kept: _Kept) -> _Sandbox:
        try:
            # Cancelling one call must not cancel what the next one waits for.
            return await asyncio.shield(kept.sandbox)
        except Exception:
            # The next call tries again.
            if self._kept.get(cast(str, instance.key)) is kept:
                del self._kept[cast(str, instance.key)]
            raise

    async def _new_sandbox(self, instance: _Instance) -> _Sandbox:
        if self._config.pool is not None:
            pool = await self._shared_pool()
            sandbox: _Sandbox = await pool.open(idle_timeout=self._config.idle_timeout * 2)
        else:
            if self._template is None:
                template = create_sandbox(self._options)
                await template.execute("true")
                self._template = template
            sandbox = self._template.fork()
        try:
            for path, content in instance.files.items():
                await sandbox.write(path, content)
            if instance.setup is not None:
                await sandbox.execute(instance.setup, timeout=self._config.timeout)
        except BaseException:
            await sandbox.close()
            raise
        return sandbox

    async def _shared_pool(self) -> SandboxPool:
        if self._pool is None:
            from .ray import SandboxPool

            self._pool = await asyncio.to_thread(
                lambda: SandboxPool(name=self._config.pool, sandbox=self._options, **self._config.pool_options)
            )
        return self._pool

    async def _reward(self, sandbox: _Sandbox, instance: _Instance, kwargs: Mapping[str, Any]) -> float:
        reward = instance.reward
        if reward is None:
            return 0.0
        if reward.startswith("python:"):
            _, module, name = reward.split(":", 2)
            return float(await getattr(importlib.import_module(module), name)(sandbox, **kwargs))
        return float((await sandbox.execute(reward, timeout=self._config.timeout)).exit_code == 0)

    async def _close_idle(self) -> None:
        while True:
            await asyncio.sleep(min(self._config.idle_timeout / 4, 10.0))
            now = time.monotonic()
            for key, kept in list(self._kept.items()):
                if not kept.lock.locked() and now - kept.used > self._config.idle_timeout:
                    await self.end_trajectory(key)


async def _close(kept: _Kept) -> None:
    kept.sandbox.cancel()
    try:
        sandbox = await kept.sandbox
    except (asyncio.CancelledError, Exception):
        # It was never created.
        return
    await sandbox.close()


def _sandbox_options(table: Mapping[str, Any]) -> SandboxOptions:
    options = dict(table)
    if isinstance(options.get("limits"), Mapping):
        options["limits"] = Limits(**options["limits"])
    if isinstance(options.get("network"), (list, tuple)):
        options["network"] = NetworkPolicy(allow=options["network"])
    return SandboxOptions(**options)


def _text(result: CommandResult, max_chars: int) -> str:
    """Returns the output for the model, with the exit code if it is not 0."""
    text = result.stdout + result.stderr
    if len(text) > max_chars:
        half = max_chars // 2
        text = f"{text[:half]}\n... {len(text) - 2 * half} characters are missing ...\n{text[len(text) - half :]}"
    notes = [] if result.stopped_by is None else [f"[stopped by its limit: {result.stopped_by}]"]
    if result.exit_code != 0:
        notes.append(f"[exit code {result.exit_code}]")
    if notes and text and not text.endswith("\n"):
        text += "\n"
    return text + "\n".join(notes)


def _response() -> Any:
    """Returns verl's class of responses if verl is imported, else the one of this module."""
    module = sys.modules.get("verl.tools.schemas")
    return ToolResponse if module is None else module.ToolResponse


def _schema() -> Any:
    module = sys.modules.get("verl.tools.schemas")
    return _Schema.of(SCHEMA) if module is None else module.OpenAIFunctionToolSchema.model_validate(SCHEMA)


class _Schema:
    """A schema where verl is not imported, with the attributes and the method that its agent loop uses."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        self._table = table
        self.__dict__.update({name: _Schema.of(value) for name, value in table.items()})

    @staticmethod
    def of(value: Any) -> Any:
        return _Schema(value) if isinstance(value, Mapping) else value

    def model_dump(self, **options: Any) -> dict[str, Any]:
        """Returns the schema as a dictionary. The options are those of pydantic; they change nothing here."""
        return dict(self._table)
