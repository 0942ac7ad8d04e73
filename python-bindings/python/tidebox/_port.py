"""Ports of the host that lead to servers in a sandbox."""

from __future__ import annotations

from types import TracebackType

from ._native import NativeExposedPort


class ExposedPort:
    """A port of 127.0.0.1 that leads to a port of a sandbox until `close`, the end of a `with` block, or the end of this object.

    Every program on this host can connect to it. Web pages cannot: an HTTP request for another host than `127.0.0.1` or
    `localhost` gets the status 403.
    """

    def __init__(self, native: NativeExposedPort) -> None:
        self._native = native

    @property
    def sandbox_port(self) -> int:
        """The port in the sandbox."""
        return self._native.sandbox_port

    @property
    def host(self) -> str:
        """The address of the host, `127.0.0.1`."""
        return self._native.host

    @property
    def port(self) -> int:
        """The port of the host."""
        return self._native.port

    @property
    def url(self) -> str:
        """The URL of an HTTP server at the port, such as `http://127.0.0.1:40123`."""
        return f"http://{self.host}:{self.port}"

    def close(self) -> None:
        """Closes the port and its connections."""
        self._native.close()

    def __enter__(self) -> ExposedPort:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"ExposedPort({self.url!r}, sandbox_port={self.sandbox_port})"
