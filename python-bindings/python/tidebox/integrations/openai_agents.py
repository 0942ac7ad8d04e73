"""OpenAI Agents SDK: a sandbox client.

    from agents import RunConfig, Runner
    from agents.sandbox import SandboxAgent, SandboxRunConfig
    from tidebox.integrations.openai_agents import TideboxSandboxClient

    config = RunConfig(sandbox=SandboxRunConfig(client=TideboxSandboxClient()))
    result = await Runner.run(SandboxAgent(name="coder", instructions="..."), "List the files.", run_config=config)

Import this module before a stored `RunState` is read: the import registers the session state.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Literal

from ._imports import missing_framework

try:
    from agents.sandbox.capabilities import Shell
    from agents.sandbox.capabilities.shell import ShellToolSet
    from agents.sandbox.capabilities.tools.shell_tool import ExecCommandArgs, ExecCommandTool
    from agents.sandbox.errors import WorkspaceStartError
    from agents.sandbox.manifest import Manifest
    from agents.sandbox.session import (
        BaseSandboxClient,
        BaseSandboxClientOptions,
        Dependencies,
        Instrumentation,
        SandboxSession,
        SandboxSessionState,
    )
    from agents.sandbox.snapshot import SnapshotBase, SnapshotSpec, resolve_snapshot
    from agents.sandbox.workspace_paths import posix_path_for_error
    from pydantic import ConfigDict
except ImportError as error:
    raise missing_framework("openai-agents", error) from error

from .._async_sandbox import AsyncSandbox
from .._native import SandboxError
from .._options import Limits, Mount
from .._provider import SandboxOptions
from .._tools import Tool
from ._openai_agents_session import Persistence, TideboxSandboxSession, TideboxSandboxSessionState
from ._processes import with_room_for_processes

__all__ = [
    "TideboxSandboxClient",
    "TideboxSandboxClientOptions",
    "TideboxSandboxSession",
    "TideboxSandboxSessionState",
    "create_shell",
]


class TideboxSandboxClientOptions(BaseSandboxClientOptions):
    """Options of one session. They are stored in its state, so secrets belong to the options of the client."""

    model_config = ConfigDict(arbitrary_types_allowed=True, frozen=True, extra="forbid")

    limits: Limits | None = None
    """Limits of the sandbox; those of the client by default."""
    seed: int | None = None
    """Makes the sandbox deterministic; see `Sandbox`."""
    workspace_persistence: Persistence = "tar"
    """`"tar"` saves the workspace portably. `"snapshot"` saves all files of the sandbox in the format of Tidebox."""
    exposed_ports: tuple[int, ...] = ()
    """Ports of the sandbox that `resolve_exposed_port` makes available at 127.0.0.1 of the host."""
    open_stdin: bool = False
    """Keeps standard input of the commands of `exec_command` open, so that the model can write to it with `write_stdin`.

    By default it is empty, as in other clients of the SDK. Programs that read an open input wait: `rg` without a path does.
    """
    # The framework reads the subclass from this literal. Options are frozen, which pyright does not see in `model_config`.
    type: Literal["tidebox"] = "tidebox"  # pyright: ignore[reportIncompatibleVariableOverride]


class TideboxSandboxClient(BaseSandboxClient[TideboxSandboxClientOptions | None]):
    """Creates sessions whose sandboxes live in this process."""

    backend_id = "tidebox"
    supports_default_options = True

    def __init__(
        self,
        *,
        sandbox: SandboxOptions | None = None,
        tools: Mapping[str, Tool] | None = None,
        instrumentation: Instrumentation | None = None,
        dependencies: Dependencies | None = None,
    ) -> None:
        """Creates a client.

        Args:
            sandbox: Options of all sandboxes, such as the network policy. The root of the manifest replaces `cwd`.
            tools: Python functions that are commands of all sandboxes; see `Sandbox.tool`.
            instrumentation: Receivers of events of sessions.
            dependencies: Objects that manifests and snapshots need.

        Raises:
            ValueError: The options have a working directory.
        """
        if sandbox is not None and sandbox.cwd is not None:
            raise ValueError(
                "cwd is not supported: the working directory is the root of the manifest; use Manifest(root=...)"
            )
        self._options = sandbox or SandboxOptions()
        self._tools = dict(tools or {})
        self._instrumentation = instrumentation or Instrumentation()
        self._dependencies = dependencies
        self._sandboxes: dict[str, AsyncSandbox] = {}

    async def create(
        self,
        *,
        snapshot: SnapshotSpec | SnapshotBase | None = None,
        manifest: Manifest | None = None,
        options: TideboxSandboxClientOptions | None = None,
    ) -> SandboxSession:
        """Creates a session with a new sandbox.

        Args:
            snapshot: Where the workspace is saved at the end; nowhere by default.
            manifest: Files and environment of the workspace.
            options: Options of the session.

        Raises:
            ValueError: The manifest has users or groups, or an exposed port is not a number from 1 to 65535.
            WorkspaceStartError: The root of the manifest cannot be created.
        """
        manifest = self._validate_manifest_for_create(manifest or Manifest())
        TideboxSandboxSession.reject_accounts(manifest)
        options = options or TideboxSandboxClientOptions()
        session_id = uuid.uuid4()
        state = TideboxSandboxSessionState(
            session_id=session_id, manifest=manifest, snapshot=resolve_snapshot(snapshot, str(session_id)),
            limits=options.limits, seed=options.seed, workspace_persistence=options.workspace_persistence,
            exposed_ports=options.exposed_ports, open_stdin=options.open_stdin,
        )  # fmt: skip
        return self._session(state, self._create_sandbox(state), is_preserved=False)

    async def delete(self, session: SandboxSession) -> SandboxSession:
        """Closes the sandbox of a session. Deleting twice is not an error.

        Raises:
            TypeError: The session is one of another client.
        """
        inner = session._inner
        if not isinstance(inner, TideboxSandboxSession):
            raise TypeError(f"session must be one of TideboxSandboxClient, not {type(inner).__name__}")
        self._sandboxes.pop(inner.state.sandbox_id, None)
        inner.close_ports()
        await inner.sandbox.close()
        return session

    async def resume(self, state: SandboxSessionState) -> SandboxSession:
        """Returns a session with the sandbox of a state if it still lives, else with a new one from the snapshot.

        Raises:
            TypeError: The state is one of another client.
        """
        if not isinstance(state, TideboxSandboxSessionState):
            raise TypeError(f"state must be one of TideboxSandboxClient, not {type(state).__name__}")
        state.assert_path_grants_rebound()
        TideboxSandboxSession.reject_accounts(state.manifest)
        sandbox = self._sandboxes.get(state.sandbox_id)
        if sandbox is not None:
            return self._session(state, sandbox, is_preserved=True)
        state.workspace_root_ready = False
        return self._session(state, self._create_sandbox(state), is_preserved=False)

    def deserialize_session_state(self, payload: dict[str, object]) -> SandboxSessionState:
        """Reads a state that `serialize_session_state` returned."""
        return self._deserialize_session_state_payload(payload, TideboxSandboxSessionState)

    def _session(
        self, state: TideboxSandboxSessionState, sandbox: AsyncSandbox, *, is_preserved: bool
    ) -> SandboxSession:
        inner = TideboxSandboxSession(state, sandbox, is_preserved=is_preserved)
        return self._wrap_session(inner, instrumentation=self._instrumentation)

    def _create_sandbox(self, state: TideboxSandboxSessionState) -> AsyncSandbox:
        options: dict[str, Any] = {field.name: getattr(self._options, field.name) for field in fields(self._options)}
        options["cwd"] = state.manifest.root
        # Sandboxes with one seed would have one id, and `resume` finds the living sandbox by it.
        options["id"] = f"session-{uuid.uuid4().hex}"
        options["limits"] = with_room_for_processes(state.limits or options["limits"])
        if state.seed is not None:
            options["seed"] = state.seed
        grants = [
            Mount(grant.host_path, grant.path, "ro" if grant.read_only else "rw")
            for grant in state.manifest.extra_path_grants
            if grant.host_path is not None
        ]
        options["mounts"] = [*self._options.mounts, *grants]
        try:
            sandbox = AsyncSandbox(tools=self._tools, **options)
        except SandboxError as error:
            path = posix_path_for_error(state.manifest.root)
            raise WorkspaceStartError(path=path, cause=error, message=f"cannot create the sandbox: {error}") from error
        state.sandbox_id = sandbox.id
        self._sandboxes[sandbox.id] = sandbox
        return sandbox


def create_shell(timeout: float = 120) -> Shell:
    """Returns the shell capability with another minimum of `yield_time_ms`, in seconds, for deterministic sandboxes.

    Their commands cannot outlive a call, so the SDK stops them after `yield_time_ms`, 10 seconds if the model does not
    set it. In other sandboxes a command runs on, and `timeout` is the time until the model gets the first output, at most
    30 seconds. Use it as `SandboxAgent(capabilities=[Filesystem(), create_shell(), Compaction()], ...)`.
    """
    if timeout <= 0:
        raise ValueError(f"timeout must be positive, not {timeout}")

    def configure(tools: ShellToolSet) -> None:
        tools.exec_command = _ExecCommandTool(
            session=tools.exec_command.session, user=tools.exec_command.user, workspace_scope=tools.workspace_scope
        )
        tools.exec_command.minimum_ms = round(timeout * 1000)

    return Shell(configure_tools=configure)


class _ExecCommandTool(ExecCommandTool):
    """The tool `exec_command` with a minimum of `yield_time_ms`."""

    minimum_ms = 0

    async def _run(self, args: ExecCommandArgs, wrapped_command: str) -> str:
        args = args.model_copy(update={"yield_time_ms": max(args.yield_time_ms, self.minimum_ms)})
        return await super()._run(args, wrapped_command)
