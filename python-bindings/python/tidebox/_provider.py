"""Many sandboxes with ids and labels: in this process, or at a cloud provider."""

from __future__ import annotations

import builtins
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike, fspath
from types import TracebackType
from typing import Any, Literal, cast

from ._async_sandbox import AsyncSandbox
from ._native import NativeCassette, NativeEmulator, NativeProvider, NativeSandbox
from ._options import Content, Limits, Mount, NetworkPolicy, Path, ShellMode, native_options
from ._sandbox import Sandbox

ProviderName = Literal["local", "daytona", "deno", "e2b", "langsmith", "modal", "runloop"]


@dataclass(frozen=True)
class SandboxInfo:
    """A sandbox of a provider."""

    id: str
    """Its id."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Its labels."""


@dataclass(frozen=True)
class SandboxOptions:
    """Options of every sandbox that a local provider or an emulator creates; those of `Sandbox`."""

    files: Mapping[str, Content] | None = None
    env: Mapping[str, str] | None = None
    cwd: Path | None = None
    limits: Limits | None = None
    mounts: Sequence[Mount] = ()
    seed_dir: str | PathLike[str] | None = None
    tar: bytes | None = None
    network: NetworkPolicy | None = None
    pip: bool = False
    shell: ShellMode = "fresh"
    seed: int | None = None
    time: float | None = None
    hostname: str | None = None

    def _native(self) -> dict[str, Any]:
        return native_options(
            files=self.files, env=self.env, cwd=self.cwd, limits=self.limits, mounts=self.mounts, seed_dir=self.seed_dir,
            tar=self.tar, network=self.network, pip=self.pip, shell=self.shell, seed=self.seed, time=self.time,
            hostname=self.hostname, id=None, tools=(),
        )  # fmt: skip


@dataclass(frozen=True)
class RemoteOptions:
    """Options of a cloud provider. What a provider does not support is rejected by name; its page in `docs` lists them."""

    api_key: str | None = None
    """Credential; by default from the provider's environment variable, such as `E2B_API_KEY`."""
    api_url: str | None = None
    """Address of the service; by default from the environment, or the provider's."""
    region: str | None = None
    proxy: str | None = None
    image: str | None = None
    """Image, template or snapshot of new sandboxes."""
    env: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    cpus: int | None = None
    memory_mib: int | None = None
    disk_mib: int | None = None
    time_to_live: float | None = None
    """Seconds until an unused sandbox is deleted. Default 1,800."""
    network: Literal["default", "blocked"] | Sequence[str] = "default"
    """The provider's default, no host, or the hosts that may be reached."""
    setup: str | None = None
    """A script that runs once in a new sandbox."""
    cwd: str | None = None
    """Working directory of commands that have none."""
    extra: Mapping[str, str] = field(default_factory=dict)
    """Options of one provider."""

    def __repr__(self) -> str:
        return f"RemoteOptions(api_url={self.api_url!r}, image={self.image!r})"

    def _native(self) -> dict[str, Any]:
        hosts = [] if isinstance(self.network, str) else list(self.network)
        if isinstance(self.network, str) and self.network not in ("default", "blocked"):
            raise ValueError(f"network must be 'default', 'blocked' or a list of hosts, not {self.network!r}")
        return {
            "api_key": self.api_key, "api_url": self.api_url, "region": self.region, "proxy": self.proxy,
            "image": self.image, "env": list(self.env.items()), "labels": dict(self.labels), "cpus": self.cpus,
            "memory_mib": self.memory_mib, "disk_mib": self.disk_mib, "time_to_live": self.time_to_live,
            "blocked": self.network == "blocked", "allow": hosts, "setup": self.setup, "cwd": self.cwd,
            "extra": dict(self.extra),
        }  # fmt: skip


class Cassette:
    """Requests to a cloud provider and their responses, in a file: recorded once, replayed in tests without the provider.

        with Cassette("tests/build.json", mode="missing") as cassette:
            sandbox = Provider("e2b", cassette=cassette).get_or_create()
            sandbox.execute("make")
    """

    def __init__(
        self,
        path: str | PathLike[str],
        *,
        mode: Literal["never", "missing", "always"] = "never",
        repeat: bool = False,
        secrets: Mapping[str, str] | None = None,
    ) -> None:
        """Opens the file.

        Args:
            path: The file. Its directory is created when it is saved.
            mode: `"never"` replays, and a request that is not recorded fails; `"missing"` records if the file is missing or
                empty; `"always"` records again.
            repeat: Whether the last response to a request also answers further ones. Otherwise each response is used once.
            secrets: Names and values. The file, and so what is replayed, contains `[redacted:NAME]` instead of the value.

        Raises:
            SandboxError: The file cannot be read.
            ValueError: The file is not a cassette, or the mode is unknown.
        """
        self._native = NativeCassette.open(fspath(path), mode, repeat, list((secrets or {}).items()))

    def save(self) -> bool:
        """Writes the file if something was recorded, and returns whether it was written.

        Raises:
            SandboxError: The file cannot be written.
        """
        return self._native.save()

    @property
    def unused(self) -> builtins.list[str]:
        """The recorded requests that were not replayed, one line each."""
        return self._native.unused()

    def __enter__(self) -> Cassette:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # A recording of a failed run would make later runs fail in the same way.
        if kind is None:
            self.save()


class ProviderBase:
    """What `Provider` and `AsyncProvider` have in common."""

    def __init__(
        self,
        name: ProviderName = "local",
        *,
        sandbox: SandboxOptions | None = None,
        save_in: str | PathLike[str] | None = None,
        store: str | None = None,
        idle_timeout: float | None = None,
        max_lifetime: float | None = None,
        labels: Mapping[str, str] | None = None,
        remote: RemoteOptions | None = None,
        cassette: Cassette | None = None,
    ) -> None:
        """Creates a provider.

        Args:
            name: `"local"` for sandboxes in this process, or the name of a cloud provider.
            sandbox: Options of local sandboxes.
            save_in: Directory in which local sandboxes are saved, so that they survive a restart of the program.
            store: URL of a store of local sandboxes that several programs share: `"file:///mnt/shared"`, or in a build with the
                feature `object-store` `"s3://bucket/path"`, `"gs://..."` or `"az://..."`. A program that opens a sandbox takes
                it over: the next change in the other program fails with `closed`.
            idle_timeout: Seconds after which an unused local sandbox is deleted.
            max_lifetime: Seconds after which a local sandbox is deleted even if it is used.
            labels: Labels of all local sandboxes.
            remote: Options of the cloud provider.
            cassette: Records the requests to the cloud provider, or replays them without it.

        Raises:
            SandboxError: The name is unknown, the key is missing, or an option is not supported.
        """
        if name == "local":
            if remote is not None or cassette is not None:
                raise ValueError("remote and cassette are for cloud providers; use sandbox for local sandboxes")
            if save_in is not None and store is not None:
                raise ValueError("save_in and store are two places for saved sandboxes; give one of them")
            self._native = NativeProvider.local(
                {
                    "sandbox": (sandbox or SandboxOptions())._native(), "save_in": None if save_in is None else fspath(save_in),
                    "store": store, "idle_timeout": idle_timeout, "max_lifetime": max_lifetime, "labels": dict(labels or {}),
                }
            )  # fmt: skip
            return
        given = {"sandbox": sandbox, "save_in": save_in, "store": store, "idle_timeout": idle_timeout, "max_lifetime": max_lifetime, "labels": labels}
        for option, value in given.items():
            if value is not None:
                raise ValueError(f"{option} is for local sandboxes; use RemoteOptions for {name}")
        options = (remote or RemoteOptions())._native()
        if cassette is None:
            self._native = NativeProvider.by_name(name, options)
        else:
            self._native = NativeProvider.recorded(name, options, cassette._native)

    @property
    def durability(self) -> Literal["memory", "local", "shared"] | None:
        """Durability of the changes of sandboxes: `"memory"` survives nothing, `"local"` the end of the program and of the
        system, and `"shared"` the loss of the host. `None` for cloud providers, which do not report it."""
        return cast('Literal["memory", "local", "shared"] | None', self._native.durability)


class Provider(ProviderBase):
    """Many sandboxes with ids and labels: in this process, or at a cloud provider. Methods wait for the result."""

    def get_or_create(self, *, id: str | None = None, labels: Mapping[str, str] | None = None) -> Sandbox:
        """Returns the sandbox with an id, or the one with labels, which is created if missing; without both a new one.

        Raises:
            SandboxError: No sandbox has the id (`sandbox_not_found`), or the provider failed.
        """
        native = self._native.get_or_create(id, None if labels is None else dict(labels), False)
        return Sandbox._of(cast(NativeSandbox, native))

    def list(self, *, labels: Mapping[str, str] | None = None) -> builtins.list[SandboxInfo]:
        """Lists the sandboxes that have all of the labels."""
        found = cast("list[tuple[str, dict[str, str]]]", self._native.list(dict(labels or {}), False))
        return [SandboxInfo(id, labels) for id, labels in found]

    def delete(self, id: str) -> None:
        """Deletes a sandbox. Deleting a missing one is not an error."""
        self._native.delete(id, False)


class AsyncProvider(ProviderBase):
    """Many sandboxes with ids and labels: in this process, or at a cloud provider. Methods are to be awaited."""

    async def get_or_create(self, *, id: str | None = None, labels: Mapping[str, str] | None = None) -> AsyncSandbox:
        """Returns a sandbox. Like `Provider.get_or_create`."""
        native = await cast(
            "Awaitable[NativeSandbox]", self._native.get_or_create(id, None if labels is None else dict(labels), True)
        )
        return AsyncSandbox._of(native)

    async def list(self, *, labels: Mapping[str, str] | None = None) -> builtins.list[SandboxInfo]:
        """Lists the sandboxes that have all of the labels."""
        found = await cast("Awaitable[list[tuple[str, dict[str, str]]]]", self._native.list(dict(labels or {}), True))
        return [SandboxInfo(id, labels) for id, labels in found]

    async def delete(self, id: str) -> None:
        """Deletes a sandbox. Deleting a missing one is not an error."""
        await cast("Awaitable[None]", self._native.delete(id, True))


def create_sandbox(name: ProviderName, options: RemoteOptions | None = None) -> Sandbox:
    """Creates a sandbox at a provider, or in this process for `"local"`.

    Raises:
        SandboxError: The name is unknown, the key is missing, an option is not supported, or the provider failed.
    """
    return Provider(name, remote=options).get_or_create()


class Emulator:
    """A server that speaks the protocol of a cloud provider, with sandboxes of this process: for tests without an account.

        with Emulator("e2b") as emulator:
            os.environ.update(emulator.variables)
            # The provider's own SDK now talks to this process.
    """

    def __init__(
        self,
        provider: Literal["daytona", "deno", "e2b", "langsmith", "modal", "runloop"],
        *,
        key: str = "any-key",
        port: int = 0,
        sandbox: SandboxOptions | None = None,
    ) -> None:
        """Starts the server on a port of the loopback interface; 0 chooses a free one. Clients must send the key.

        Raises:
            ValueError: The provider is unknown, or the port is in use.
        """
        self._native = NativeEmulator.start(provider, key, port, (sandbox or SandboxOptions())._native())

    @property
    def url(self) -> str:
        """Address of the server."""
        return self._native.url

    @property
    def variables(self) -> dict[str, str]:
        """Environment variables that point the provider's SDK, and `Provider`, to the server."""
        return dict(self._native.variables)

    def close(self) -> None:
        """Stops the server and closes its sandboxes. Closing twice is not an error."""
        self._native.close()

    def __enter__(self) -> Emulator:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
