"""One HTTP request of a socket, which the host sends if the sandbox's network policy allows it.

The program writes HTTP/1.1, and reads HTTP/1.1; the command of the host uses the frames of `docs/network.md`.
"""

import errno
import os
import re
import select
import struct

from . import system

# The command that the host implements if the sandbox has a network policy.
TOOL = "/usr/libexec/tidebox/http"
VERSION = b"tidebox-http 1"

# Written first by a program that uses TLS. The host encrypts, so that the request itself follows in plain text.
TLS_MARK = b"\x16tidebox-tls\n"

NO_NETWORK = (
    "in this sandbox the network is disabled; the application that created the sandbox can allow hosts "
    "(`tidebox exec --allow HOST`, NetworkPolicy)"
)
NOT_HTTP = (
    "in this sandbox sockets carry HTTP/1.1 requests only, which the host sends; "
    "use urllib.request, requests, httpx or curl"
)
NO_PROXY = "in this sandbox HTTP proxies are not supported: the host sends the requests; unset http_proxy and https_proxy"

# A pipe that is reported as writable accepts this amount without blocking.
_PIPE_BYTES = 4096
_READ_BYTES = _BODY_BYTES = 64 << 10
_MAX_HEAD_BYTES = 256 << 10
# The host never writes a larger frame.
_MAX_FRAME_BYTES = 256 << 10

_REQUEST_LINE = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+) (\S+) HTTP/1\.[01]")
_REQUEST_START = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}( |\Z)")

# Headers that describe the connection, which the host manages.
_OF_THE_CONNECTION = {b"connection", b"keep-alive", b"transfer-encoding"}


def is_enabled():
    return os.access(TOOL, os.X_OK)


def disabled():
    return OSError(errno.ENETUNREACH, NO_NETWORK)


def _not_http():
    return OSError(errno.ENOTSUP, NOT_HTTP)


class Exchange:
    """A connection that carries one request and its response."""

    def __init__(self, host, port):
        self.host, self.port, self.tls = host, port, False
        # The bytes of the program that are not parsed yet, and the state of the request.
        self._written, self._step, self._left = bytearray(), self._head, 0
        # Frames of the host, and the part of the response that the program has not read.
        self._received, self._response = bytearray(), bytearray()
        self._error, self._complete, self._closed_by_host, self._timed_out = None, False, False, False
        child_in, self._to = os.pipe()
        self._from, child_out = os.pipe()
        try:
            self._pid = system.start([b"http"], os.fsencode(TOOL), [], [(0, child_in), (1, child_out)])
        except FileNotFoundError:
            os.close(self._to)
            os.close(self._from)
            raise disabled() from None
        finally:
            os.close(child_in)
            os.close(child_out)

    def fileno(self):
        """Returns a descriptor that is readable when the response, or its next part, has arrived."""
        return self._from

    def close(self):
        """Cancels the request if the response is not complete."""
        os.close(self._to)
        os.close(self._from)
        try:
            system.waitpid(self._pid, 0)
        except OSError:
            pass  # The program has waited for all its children.

    # The request.

    def write(self, data, timeout):
        """Sends a part of the request. At its end, waits for the response, because most errors come instead of one."""
        if self._error is not None:
            raise self._error
        self._written += data
        while self._step():
            pass
        if self._step == self._end and timeout != 0 and not self._timed_out:
            self._timed_out = not self._await_frames(timeout)
            if self._error is not None and not self._response:
                raise self._error

    def _head(self):
        if self._written.startswith(TLS_MARK):
            self.tls = True
            del self._written[:len(TLS_MARK)]
        elif TLS_MARK.startswith(self._written):
            return False
        if self._written and not _REQUEST_START.match(self._written):
            raise _not_http()
        line, ended, _ = bytes(self._written[:_MAX_HEAD_BYTES]).partition(b"\n")
        found = _REQUEST_LINE.fullmatch(line.removesuffix(b"\r"))
        end = self._written.find(b"\r\n\r\n", 0, _MAX_HEAD_BYTES)
        if ended and not found or end < 0 and len(self._written) > _MAX_HEAD_BYTES:
            raise _not_http()
        if end < 0:
            return False
        lines = bytes(self._written[:end]).split(b"\r\n")
        del self._written[:end + 4]
        method, target = found.groups()
        if method == b"CONNECT" or not target.startswith(b"/"):
            raise OSError(errno.ENOTSUP, NO_PROXY)
        headers, body = self._headers(lines[1:])
        head = [VERSION, b"method " + method, b"url " + self._origin() + target, b"body " + body, *headers, b""]
        self._put(b"H", b"\n".join(head))
        self._step = {b"none": self._end, b"stream": self._chunk}.get(body, self._fixed)
        if self._step == self._fixed:
            self._left = int(body)
        return True

    def _headers(self, lines):
        """Returns the headers for the host, and the kind of the body."""
        headers, body = [], b"none"
        for line in lines:
            name, _, value = line.partition(b":")
            name, value = name.strip(), value.strip()
            known = name.lower()
            if known == b"content-length" and value.isdigit():
                body = value if body == b"none" else body
            elif known == b"transfer-encoding" and value.lower() == b"chunked":
                body = b"stream"
            elif known == b"connection" and value.lower() in (b"close", b"keep-alive") or known == b"keep-alive":
                pass
            # Another name than the connection's is for the host to reject.
            elif known != b"host" or value.lower() not in (self._origin().partition(b"://")[2], self._authority(True)):
                headers.append(b"header " + name + b": " + value)
        return headers, body

    def _origin(self):
        return (b"https://" if self.tls else b"http://") + self._authority(self.port != (443 if self.tls else 80))

    def _authority(self, with_port):
        host = self.host.encode("utf-8").lower()
        host = b"[" + host + b"]" if b":" in host else host
        return host + b":%d" % self.port if with_port else host

    def _fixed(self):
        taken = bytes(self._written[:min(self._left, _BODY_BYTES)])
        del self._written[:len(taken)]
        self._left -= len(taken)
        if taken:
            self._put(b"D", taken)
        if self._left == 0:
            self._put(b"E")
            self._step = self._end
        return bool(taken) and bool(self._written)

    def _chunk(self):
        """The size of a chunk."""
        end = self._written.find(b"\r\n")
        if end < 0:
            return False
        try:
            self._left = int(bytes(self._written[:end]).partition(b";")[0], 16)
        except ValueError:
            raise OSError(errno.EPROTO, "the size of a chunk is not a hexadecimal number") from None
        del self._written[:end + 2]
        self._step = self._chunk_data if self._left else self._trailers
        return True

    def _chunk_data(self):
        taken = bytes(self._written[:min(self._left, _BODY_BYTES)])
        if taken:
            del self._written[:len(taken)]
            self._left -= len(taken)
            self._put(b"D", taken)
        if self._left or len(self._written) < 2:
            return bool(self._left and self._written)
        del self._written[:2]
        self._step = self._chunk
        return True

    def _trailers(self):
        """The lines after the last chunk; an empty one is the last."""
        end = self._written.find(b"\r\n")
        if end < 0:
            return False
        del self._written[:end + 2]
        if end == 0:
            self._put(b"E")
            self._step = self._end
        return True

    def _end(self):
        if self._written:
            # As if the server had closed the connection, which the response announces.
            raise BrokenPipeError(errno.EPIPE, "this connection carries one request")
        return False

    def _put(self, kind, payload=b""):
        """Writes a frame. Reads in between, because a host that waits for its reader does not read."""
        data = memoryview(kind + struct.pack("<I", len(payload)) + payload)
        while data:
            readable, writable, _ = select.select([self._from], [self._to], [])
            if writable:
                try:
                    data = data[os.write(self._to, data[:_PIPE_BYTES]):]
                except BrokenPipeError:
                    return  # The host has replied early; the reply has the reason.
            elif readable and (not self._fill() or len(self._received) > _MAX_FRAME_BYTES):
                return

    # The response.

    def read(self, size, timeout):
        """Returns the next part of the response, empty at its end."""
        if self._timed_out:
            self._timed_out = False
            raise TimeoutError("timed out")
        if self._step == self._head and not self._response and timeout != 0:
            raise _not_http()  # A server that speaks first, or an incomplete request.
        if not self._await_frames(timeout):
            if timeout == 0:
                raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
            raise TimeoutError("timed out")
        if not self._response and self._error is not None:
            raise self._error
        taken = bytes(self._response[:size])
        del self._response[:size]
        return taken

    def _await_frames(self, timeout):
        """Waits for a part of the response, its end or an error. Returns whether there is one in time."""
        import time

        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            self._decode()
            if self._response or self._error is not None or self._complete:
                return True
            left = None if deadline is None else max(0, deadline - time.monotonic())
            if not select.select([self._from], [], [], left)[0]:
                return False
            if not self._fill():
                self._decode()
                if not self._complete and self._error is None:
                    self._error = self._unanswered()

    def _fill(self):
        data = b"" if self._closed_by_host else os.read(self._from, _READ_BYTES)
        self._closed_by_host = not data
        self._received += data
        return bool(data)

    def _decode(self):
        while len(self._received) >= 5 and not self._complete and self._error is None:
            kind, length = self._received[0:1], struct.unpack_from("<I", self._received, 1)[0]
            if length > _MAX_FRAME_BYTES:
                self._error = OSError(errno.EPROTO, "the host's response has an invalid frame")
            if len(self._received) < 5 + length:
                return
            payload = bytes(self._received[5:5 + length])
            del self._received[:5 + length]
            if kind == b"D":
                self._response += payload
            elif kind == b"H":
                self._response += _head_of(payload)
            elif kind == b"E":
                self._complete = True
            else:
                self._error = _failure(payload)

    def _unanswered(self):
        """The host has ended the exchange without a reason. The command of a restored snapshot has no host: exit code 126."""
        try:
            status = system.waitpid(self._pid, 0)[1]
        except OSError:
            status = 0
        if system.WIFEXITED(status) and system.WEXITSTATUS(status) == 126:
            return disabled()
        return ConnectionResetError(errno.ECONNRESET, "the host ended the request without a response")


def _head_of(payload):
    """Returns the head of a response as the server sent it, for a connection that ends with the response."""
    status, headers = b"HTTP/1.1 502 Bad Gateway", []
    for line in payload.split(b"\n"):
        key, _, value = line.partition(b" ")
        if key == b"status":
            status = b"HTTP/" + value
        elif key == b"header" and value.partition(b":")[0].strip().lower() not in _OF_THE_CONNECTION:
            headers.append(value)
    return b"\r\n".join([status, *headers, b"Connection: close", b"", b""])


def _failure(payload):
    """Returns the exception for a request that the host did not send, or whose response failed."""
    lines = payload.decode(errors="replace").split("\n")
    who, _, kind = lines[0].partition(" ")
    message = next((line[8:] for line in lines if line.startswith("message ")), kind)
    if who == "refused":
        return PermissionError(errno.EACCES, message)
    if kind == "resolve":
        import socket

        return socket.gaierror(socket.EAI_NONAME, message)
    if kind in ("tls", "certificate"):
        import ssl

        return (ssl.SSLCertVerificationError if kind == "certificate" else ssl.SSLError)(1, message)
    if kind == "timeout":
        return TimeoutError(errno.ETIMEDOUT, message)
    if kind == "connect":
        return ConnectionRefusedError(errno.ECONNREFUSED, message)
    if kind in ("send", "empty", "receive"):
        return ConnectionResetError(errno.ECONNRESET, message)
    return OSError(errno.EPROTO, message)
