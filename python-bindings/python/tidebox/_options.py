"""Options of a sandbox."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from os import PathLike
from typing import Any, Literal, Union

Content = Union[str, bytes]
"""Content of a file: text is stored as UTF-8."""

Path = Union[str, bytes, "PathLike[str]", "PathLike[bytes]"]
"""A path in the sandbox; a relative one starts at its working directory."""

Command = Union[str, Sequence[str]]
"""A command line for `bash`, or a program and its arguments, which no shell expands."""

CommandOptions = tuple[
    Union[Content, None], Union[Path, None], list[tuple[str, str]], Union[float, None], Union[str, None], Union[bool, None], bool
]
"""Standard input, directory, variables, timeout, action at the output limit, persistence and kept processes of a command."""

Overflow = Literal["head", "tail", "stop"]
"""What happens at `Limits.output_bytes`: keep the first bytes, keep the last bytes, or stop the command."""

ShellMode = Literal["fresh", "persistent"]
"""Whether every command starts a new shell, or variables, functions and the working directory stay between commands."""


Dialect = Literal["python", "js", "langchain-tests"]
"""Rules of the file operations, where Deep Agents for Python, for JavaScript and its standard tests differ."""


@dataclass(frozen=True)
class Limits:
    """Limits of a sandbox. Sizes are in bytes, times in seconds. `None` keeps the default.

    `docs/limits.md` has the message, the exit code and `stopped_by` of each.
    """

    wall_time: float | None = None
    """Time of one command without a timeout of its own. Default 120. Exit code 124."""
    cpu_time: float | None = None
    """Processor time of one command over all its processes. Default: unlimited. Exit code 152."""
    process_memory_bytes: int | None = None
    """Memory of one process. Default 512 MiB."""
    sandbox_memory_bytes: int | None = None
    """Memory of all processes together. Default 1 GiB."""
    processes: int | None = None
    """Processes at once. Default 256."""
    descriptors: int | None = None
    """Open descriptors of one process. Default 1,024."""
    pipe_bytes: int | None = None
    """Capacity of a pipe. Default 64 KiB."""
    sockets: int | None = None
    """Sockets of all processes together. Default 1,024."""
    output_bytes: int | None = None
    """Output that one command may return. Default 8 MiB."""
    file_bytes: int | None = None
    """Bytes of all files. Default 512 MiB."""
    single_file_bytes: int | None = None
    """Bytes of one file. Default 512 MiB."""
    inodes: int | None = None
    """Files, directories and links. Default 200,000."""
    path_bytes: int | None = None
    """Length of a path. Default 4,096."""
    symlink_depth: int | None = None
    """Links that are followed in one path. Default 40."""
    argument_bytes: int | None = None
    """Arguments and environment of one process. Default 2 MiB."""
    module_bytes: int | None = None
    """Size of a program that a sandbox brings along. Default 64 MiB."""
    nesting: int | None = None
    """Nested function calls and processes. Default 1,000."""
    shell_state_bytes: int | None = None
    """What a persistent shell keeps between two commands. Default 4 MiB."""
    background_processes: int | None = None
    """Processes that outlive the call which started them. Default 16."""
    background_output_bytes: int | None = None
    """Output kept of each of them, the newest. Default 1 MiB."""
    background_memory_bytes: int | None = None
    """Memory of all of them together. Default 512 MiB."""
    background_time: float | None = None
    """Seconds for which each of them may run. Default 24 hours."""
    background_cpu_percent: int | None = None
    """Percent of one core that each of them may use, beyond a burst of 10 seconds. Default 50."""

    def _given(self) -> dict[str, float]:
        given: dict[str, float] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise TypeError(f"Limits.{field.name} must be a number, not {type(value).__name__}")
            try:
                given[field.name] = float(value)
            except OverflowError:
                raise ValueError(f"Limits.{field.name} is too large: {value}") from None
        return given


@dataclass(frozen=True)
class Mount:
    """A directory of the host in a sandbox. It counts as a part of the sandbox: whatever runs there can read all of it."""

    host: str | PathLike[str]
    """The directory on the host."""
    path: str
    """Where it appears. The directory must be empty or missing."""
    mode: Literal["ro", "rw", "cow"]
    """`ro`: writing fails. `rw`: writing changes the host's files. `cow`: writing changes a private view."""


@dataclass(frozen=True)
class HostRule:
    """Requests that a sandbox may send."""

    host: str
    """A name, or `*.example.com` for all names below it."""
    methods: Sequence[str] | None = ("GET", "HEAD")
    """Methods; `None` allows all."""
    ports: Sequence[int] = ()
    """Ports; without any, that of the scheme."""
    http: bool = False
    """True allows requests without TLS, too."""
    git: Literal["fetch", "push"] | None = None
    """Allows only `git clone` and `git fetch`, or with `push` also `git push`. `methods` has no effect then."""
    path: str | None = None
    """With `git`: one repository, `org/repo`, or all below a path, `org/*`. `None` is every repository of the host."""


@dataclass(frozen=True)
class Credential:
    """A header that Tidebox adds to the requests for a host. The sandbox never sees its value."""

    host: str
    """A name, or `*.example.com` for all names below it."""
    header: str
    """Name of the header, such as `Authorization`."""
    value: str
    """Its value."""
    http: bool = False
    """True adds it to requests without TLS, too."""

    def __repr__(self) -> str:
        return f"Credential(host={self.host!r}, header={self.header!r}, value=...)"


@dataclass(frozen=True)
class NetworkPolicy:
    """The hosts that `curl`, Python and other programs in the sandbox may reach. Everything else is denied."""

    allow: Sequence[HostRule | str] = ()
    """Rules; a string is a host that allows GET and HEAD over TLS."""
    credentials: Sequence[Credential] = ()
    """Headers that Tidebox adds."""


def native_options(
    *,
    files: Mapping[str, Content] | None,
    env: Mapping[str, str] | None,
    cwd: Path | None,
    limits: Limits | None,
    mounts: Sequence[Mount],
    seed_dir: str | PathLike[str] | None,
    tar: bytes | None,
    network: NetworkPolicy | None,
    pip: bool,
    shell: ShellMode,
    seed: int | None,
    time: float | None,
    hostname: str | None,
    id: str | None,
    dialect: Dialect = "python",
    tools: Sequence[tuple[str, Any]],
) -> dict[str, Any]:
    """Converts the options of `Sandbox` to those of the native module."""
    if shell not in ("fresh", "persistent"):
        raise ValueError(f"shell must be 'fresh' or 'persistent', not {shell!r}")
    if time is not None and seed is None:
        raise ValueError("time needs seed: only a deterministic sandbox has a clock of its own")
    policy = network or NetworkPolicy()
    rules = [HostRule(rule) if isinstance(rule, str) else rule for rule in policy.allow]
    for rule in rules:
        if rule.path is not None and rule.git is None:
            raise ValueError("HostRule.path needs git: only rules for Git have a path")
    return {
        "files": list((files or {}).items()),
        "env": list((env or {}).items()),
        "cwd": cwd,
        "limits": (limits or Limits())._given(),
        "mounts": [{"host": mount.host, "path": mount.path, "mode": mount.mode} for mount in mounts],
        "seed_dir": seed_dir,
        "tar": tar,
        "allow": [
            {
                "host": rule.host,
                "methods": None if rule.methods is None else list(rule.methods),
                "ports": list(rule.ports),
                "http": rule.http,
                "git": rule.git,
                "path": rule.path,
            }
            for rule in rules
        ],
        "credentials": [
            {"host": one.host, "header": one.header, "value": one.value, "http": one.http}
            for one in policy.credentials
        ],
        "pip": pip,
        "persistent": shell == "persistent",
        "seed": seed,
        "time": time,
        "hostname": hostname,
        "dialect": dialect,
        "id": id,
        "tools": list(tools),
    }
