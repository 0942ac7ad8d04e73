"""Addresses of servers in a sandbox, and ports of the host that lead to them."""

from __future__ import annotations

from types import TracebackType

from ._native import NativeExposedPort, NativePortEndpoint


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


class PortEndpoint:
    """The address at which clients outside a sandbox reach one of its servers.

    That of a local sandbox is a port of 127.0.0.1, until `close`, the end of a `with` block, or the end of this object. That of a
    provider exists as long as the sandbox.
    """

    def __init__(self, native: NativePortEndpoint) -> None:
        self._native = native

    @property
    def url(self) -> str:
        """The URL without a path and without a slash at its end, such as `http://127.0.0.1:40123`."""
        return self._native.url

    @property
    def headers(self) -> dict[str, str]:
        """The headers that every request must have. Their values are credentials."""
        return self._native.headers

    def close(self) -> None:
        """Closes the port of a local sandbox and its connections."""
        self._native.close()

    def __enter__(self) -> PortEndpoint:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"PortEndpoint({self.url!r})"
