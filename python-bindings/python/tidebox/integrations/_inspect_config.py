"""Configuration of the sandboxes of an Inspect evaluation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal

import yaml  # type: ignore[import-untyped]
from inspect_ai.util import SandboxEnvironmentConfigType
from pydantic import BaseModel, ConfigDict, Field, field_validator

from .._async_sandbox import AsyncSandbox
from .._options import HostRule, Limits, Mount, NetworkPolicy
from ._inspect_remote import launcher_archive
from ._processes import with_room_for_processes

OUTPUT_BYTES = 21 << 20
"""Default of `Limits.output_bytes`: 10 MiB of each output stream, which is the limit of Inspect, and a message."""


class MountConfig(BaseModel):
    """A directory of the host in the sandboxes; see `tidebox.Mount`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str
    """The directory on the host. In a file, a relative one starts at the directory of the file."""
    path: str
    """Path in the sandboxes."""
    mode: Literal["ro", "rw", "cow"]
    """`ro`: writing fails. `rw`: writing changes the host's files. `cow`: writing changes a private view."""


class HostConfig(BaseModel):
    """Requests that sandboxes may send; see `tidebox.HostRule`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str
    """A name, or `*.example.com` for all names below it."""
    methods: tuple[str, ...] | None = ("GET", "HEAD")
    """Methods; null allows all."""
    ports: tuple[int, ...] = ()
    """Ports; without any, that of the scheme."""
    http: bool = False
    """True allows requests without TLS, too."""
    git: Literal["fetch", "push"] | None = None
    """Allows only `git clone` and `git fetch`, or with `push` also `git push`."""
    path: str | None = None
    """With `git`: one repository, `org/repo`, or all below a path, `org/*`."""


class TideboxConfig(BaseModel):
    """Options of the sandboxes of a task. They appear in the log, so they must not contain secrets.

        Task(..., sandbox=SandboxEnvironmentSpec("tidebox", TideboxConfig(files={"a.txt": "1"})))
        Task(..., sandbox=("tidebox", "tidebox.yaml"))
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    files: Mapping[str, str] = Field(default_factory=dict)
    """Texts of files by their paths; relative ones are below `cwd`."""
    env: Mapping[str, str] = Field(default_factory=dict)
    """Environment variables of all commands."""
    cwd: str | None = None
    """Working directory, `/workspace` by default."""
    seed_dir: str | None = None
    """A directory of the host whose content is copied to `cwd`."""
    mounts: tuple[MountConfig, ...] = ()
    """Directories of the host."""
    limits: Mapping[str, float] = Field(default_factory=dict)
    """Limits by the names of the fields of `tidebox.Limits`. The default of `output_bytes` is 21 MiB here."""
    network: tuple[HostConfig | str, ...] = ()
    """Hosts that may be reached; a string is a host that allows GET and HEAD over TLS."""
    pip: bool = False
    """Installs Python packages with `pip install`, through the host."""
    seed: int | None = None
    """Makes the sandboxes deterministic."""
    time: float | None = None
    """Start of the clock of a deterministic sandbox in seconds since 1970."""
    hostname: str | None = None
    """Name of the host that the sandboxes see."""

    @field_validator("limits")
    @classmethod
    def _check_limits(cls, limits: Mapping[str, float]) -> Mapping[str, float]:
        known = [field.name for field in fields(Limits)]
        for name in limits:
            if name not in known:
                raise ValueError(f"unknown limit {name!r}; known ones are {', '.join(known)}")
        return limits

    def __hash__(self) -> int:
        return hash(json.dumps(self.model_dump(mode="json"), sort_keys=True))

    def create_sandbox(self) -> AsyncSandbox:
        """Creates a sandbox with these options.

        Raises:
            SandboxError, ValueError: An option is invalid.
        """
        rules = [one if isinstance(one, str) else HostRule(**dict(one)) for one in self.network]
        limits: dict[str, Any] = {"output_bytes": OUTPUT_BYTES, **self.limits}
        return AsyncSandbox(
            files=self.files, env=self.env, cwd=self.cwd, seed_dir=self.seed_dir, pip=self.pip, seed=self.seed,
            time=self.time, hostname=self.hostname, network=NetworkPolicy(allow=rules),
            mounts=[Mount(one.host, one.path, one.mode) for one in self.mounts],
            limits=with_room_for_processes(Limits(**limits)),
            # A deterministic sandbox has no processes that outlive a call, and no `exec_remote`.
            tar=launcher_archive() if self.seed is None else None,
        )  # fmt: skip


def load_config(config: SandboxEnvironmentConfigType | None) -> TideboxConfig:
    """Returns the configuration of a task.

    Args:
        config: A `TideboxConfig`, the path of a YAML or JSON file, or None for the defaults.

    Raises:
        ValueError: The configuration is invalid, or one for another kind of sandbox.
        OSError: The file cannot be read.
    """
    if config is None:
        return TideboxConfig()
    if isinstance(config, TideboxConfig):
        return config
    if not isinstance(config, str):
        raise ValueError(f"'tidebox' needs a TideboxConfig or the path of a file, not {type(config).__name__}")
    path = Path(config)
    if path.name.startswith("Dockerfile") or "compose" in path.name:
        raise ValueError(f"cannot use {config}: Tidebox runs no Linux images; pass a TideboxConfig instead")
    # A JSON file is a YAML file, too.
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    if not isinstance(content, dict):
        raise ValueError(f"{config} must contain a mapping of the fields of TideboxConfig")
    return TideboxConfig(**_resolved(content, path.resolve().parent))


def _resolved(content: dict[str, Any], base: Path) -> dict[str, Any]:
    """Makes the directories of the host absolute."""
    resolved = dict(content)
    if isinstance(content.get("seed_dir"), str):
        resolved["seed_dir"] = str(base / content["seed_dir"])
    if isinstance(content.get("mounts"), list):
        resolved["mounts"] = [
            {**one, "host": str(base / str(one["host"]))} if isinstance(one, dict) and "host" in one else one
            for one in content["mounts"]
        ]
    return resolved
