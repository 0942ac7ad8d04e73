"""Provider of sandboxes for Deep Agents Code; see `deepagents`."""

from __future__ import annotations

import os
import re
import shutil
import threading
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ._imports import missing_framework

try:
    from deepagents_code.integrations.sandbox_provider import (
        SandboxError,
        SandboxInstallHint,
        SandboxNotFoundError,
        SandboxProvider,
        SandboxProviderMetadata,
    )
except ImportError as error:
    raise missing_framework("deepagents-code", error) from error

from .. import _native
from .._options import Limits, Mount, NetworkPolicy
from .._provider import Provider, SandboxOptions
from .._sandbox import Sandbox
from .deepagents import TideboxSandbox

_ID = re.compile(r"tidebox-[0-9a-f]{32}")


class SavedSandbox(TideboxSandbox):
    """A sandbox that is saved in a directory of its own, whose name is the id."""

    def __init__(self, sandbox: Sandbox, id: str) -> None:
        """Uses a sandbox of a provider."""
        super().__init__(sandbox)
        self._id = id

    @property
    def id(self) -> str:
        """Name of the directory in which the sandbox is saved."""
        return self._id


class TideboxSandboxProvider(SandboxProvider):
    """Creates sandboxes in this process and saves them, so that `--sandbox-id` finds them in another process.

    Parameters in `~/.deepagents/config.toml` are those of `get_or_create`:

        [sandboxes.providers.tidebox]
        class_path = "tidebox.integrations.deepagents:TideboxSandboxProvider"
        params = { seed_dir = ".", allow = ["pypi.org"], limits = { wall_time = 600 } }
    """

    def __init__(self) -> None:
        """Creates a provider, without files and without a sandbox."""
        self._open: dict[str, tuple[Path, Provider, Sandbox]] = {}
        self._lock = threading.Lock()

    @property
    def metadata(self) -> SandboxProviderMetadata:
        """Description for Deep Agents Code: the working directory, and that ids are supported but no snapshots."""
        return SandboxProviderMetadata(
            name="tidebox", working_dir="/workspace", install=SandboxInstallHint(kind="package", name="tidebox"),
            supports_sandbox_id=True, supports_snapshot_name=False,
        )  # fmt: skip

    def get_or_create(  # type: ignore[override]  # Explicit parameters reject what is unknown with a TypeError.
        self,
        *,
        sandbox_id: str | None = None,
        save_in: str | os.PathLike[str] | None = None,
        seed_dir: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        allow: Sequence[str] = (),
        pip: bool = False,
        limits: Mapping[str, Any] | None = None,
        mounts: Sequence[Mapping[str, str]] = (),
    ) -> TideboxSandbox:
        """Returns a new sandbox, or the one with an id.

        Args:
            sandbox_id: Id of a saved sandbox.
            save_in: Directory of the saved sandboxes; by default `tidebox/sandboxes` in the user's state directory.
            seed_dir: A directory of the host whose content is copied to `/workspace` of a new sandbox.
            env: Environment variables of all commands.
            allow: Hosts that the sandbox may send GET and HEAD requests to, over TLS.
            pip: Installs Python packages with `pip install`, through the host.
            limits: Limits by their names; see `Limits`.
            mounts: Tables with `host`, `path` and `mode`; see `Mount`. The mode `cow` cannot be saved.

        Raises:
            SandboxNotFoundError: No saved sandbox has the id.
            SandboxError: Another process uses the sandbox, or it cannot be created or read.
            TypeError, ValueError: A parameter is unknown or invalid.
        """
        options = SandboxOptions(
            env=env, limits=Limits(**limits or {}), network=NetworkPolicy(allow=list(allow)), pip=pip,
            mounts=[Mount(mount["host"], mount["path"], _mode(mount)) for mount in mounts],
            seed_dir=seed_dir if sandbox_id is None else None,
        )  # fmt: skip
        with self._lock:
            if sandbox_id is not None and sandbox_id in self._open:
                return SavedSandbox(self._open[sandbox_id][2], sandbox_id)
            id = f"tidebox-{uuid.uuid4().hex}" if sandbox_id is None else sandbox_id
            directory = _directory(save_in, id)
            if sandbox_id is not None and not directory.is_dir():
                raise SandboxNotFoundError(f"no saved sandbox has the id {id!r} in {directory.parent}")
            self._open[id] = (directory, *_open_sandbox(directory, options, is_new=sandbox_id is None))
            return SavedSandbox(self._open[id][2], id)

    def delete(  # type: ignore[override]
        self, *, sandbox_id: str, save_in: str | os.PathLike[str] | None = None
    ) -> None:
        """Deletes a sandbox with its files. Deleting a missing one is not an error.

        Raises:
            SandboxError: Another process uses the sandbox.
        """
        with self._lock:
            directory, provider, sandbox = self._open.pop(sandbox_id, (_directory(save_in, sandbox_id), None, None))
            if provider is None and not directory.is_dir():
                return
            if provider is None or sandbox is None:
                # Opening it fails if another process uses it.
                provider, sandbox = _open_sandbox(directory, SandboxOptions(), is_new=False)
            provider.delete(sandbox.id)
            shutil.rmtree(directory)


def _open_sandbox(directory: Path, options: SandboxOptions, *, is_new: bool) -> tuple[Provider, Sandbox]:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        # One directory for each sandbox: a directory can be used by one process at a time.
        provider = Provider(sandbox=options, save_in=directory)
        if is_new:
            return provider, provider.get_or_create()
        [info] = provider.list()
        return provider, provider.get_or_create(id=info.id)
    except (_native.SandboxError, OSError) as error:
        if is_new:
            shutil.rmtree(directory, ignore_errors=True)
        raise SandboxError(f"cannot open the sandbox in {directory}: {error}") from error
    except ValueError as error:
        if is_new:
            shutil.rmtree(directory, ignore_errors=True)
            raise
        raise SandboxNotFoundError(f"the directory {directory} has no saved sandbox") from error


def _directory(save_in: str | os.PathLike[str] | None, id: str) -> Path:
    if not _ID.fullmatch(id):
        raise SandboxNotFoundError(f"invalid id {id!r}: ids of this provider look like tidebox-<32 hexadecimal digits>")
    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    return (Path(save_in) if save_in is not None else state / "tidebox" / "sandboxes") / id


def _mode(mount: Mapping[str, str]) -> Any:
    mode = mount.get("mode", "ro")
    if mode not in ("ro", "rw"):
        raise ValueError(f"mode of a mount must be 'ro' or 'rw', not {mode!r}")
    return mode
