"""The `socket` module, and what depends on its sockets."""

from . import names, sockets


def import_socket():
    """Imports `socket` with sockets of the sandbox as its base."""
    import _socket

    names.install(_socket)
    _socket.socket = _socket.SocketType = sockets.Socket
    sockets.Socket.__name__ = sockets.Socket.__qualname__ = "socket"
    sockets.Socket.__module__ = "_socket"
    _socket.socketpair, _socket.dup, _socket.close = _pair, _duplicate, _close
    _socket.setdefaulttimeout, _socket.getdefaulttimeout = _set_default_timeout, _get_default_timeout
    import socket

    def socketpair(family=None, type=names.SOCK_STREAM, proto=0):
        """Returns two connected sockets."""
        if family not in (None, names.AF_UNIX, names.AF_INET, names.AF_INET6):
            raise OSError(names.errno.EAFNOSUPPORT, "Address family not supported by protocol")
        return tuple(socket.socket(names.AF_UNIX, type, proto, fd) for fd in sockets.pair())

    socket.socketpair = socketpair


def _pair(family=names.AF_UNIX, type=names.SOCK_STREAM, proto=0, /):
    return tuple(sockets.Socket(names.AF_UNIX, type, proto, fd) for fd in sockets.pair())


def _duplicate(fd, /):
    return names.os.dup(fd)


def _close(fd, /):
    names.os.close(fd)


def _set_default_timeout(seconds, /):
    """Sets the timeout of new sockets in seconds; None means that they wait."""
    if seconds is not None and not seconds >= 0:
        raise ValueError("Timeout value out of range")
    sockets.default_timeout = None if seconds is None else float(seconds)


def _get_default_timeout():
    return sockets.default_timeout


def patch_asyncio_loops(selector_events):
    """Removes the socket pair by which other threads wake an asyncio loop; this interpreter has only one thread."""
    loop = selector_events.BaseSelectorEventLoop
    loop._make_self_pipe = loop._close_self_pipe = loop._write_to_self = lambda self: None


def patch_threading_servers(socketserver, select):
    """Makes servers with threads serve one request after the other.

    A connection without a request does not hold up the others: browsers open such ones.
    """

    def process_request(self, request, client_address):
        waiting = self.__dict__.setdefault("_tidebox_waiting", {})
        waiting[request] = client_address
        while waiting:
            ready = select.select([self, *waiting], [], [])[0]
            for request in [request for request in ready if request is not self]:
                self.process_request_thread(request, waiting.pop(request))
            if self in ready:
                return

    def server_close(self):
        for request in self.__dict__.pop("_tidebox_waiting", {}):
            self.shutdown_request(request)
        super(socketserver.ThreadingMixIn, self).server_close()

    socketserver.ThreadingMixIn.process_request = process_request
    socketserver.ThreadingMixIn.server_close = server_close


def patch_anyio_errors(exceptions):
    """Makes the error of a broken connection show its cause, which httpx would omit."""

    def __str__(self):
        return Exception.__str__(self) or (str(self.__cause__) if self.__cause__ is not None else "")

    exceptions.BrokenResourceError.__str__ = __str__
