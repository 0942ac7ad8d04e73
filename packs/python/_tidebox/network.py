"""Replacement of sockets, which are not supported: every use raises an error."""

import errno

REASON = "sockets are not supported in this sandbox; use curl for the allowed hosts"


def _refuse(*args, **kwargs):
    raise OSError(errno.ENOTSUP, REASON)


def install(socket, _socket):
    """Makes every use of a socket fail in both socket modules."""
    for name in "getaddrinfo", "gethostbyname", "gethostbyname_ex", "gethostbyaddr", "getnameinfo", "socketpair":
        setattr(_socket, name, _refuse)
        setattr(socket, name, _refuse)

    def __init__(self, family=-1, type=-1, proto=-1, fileno=None):
        _refuse()

    socket.socket.__init__ = __init__
    socket.socket.__del__ = lambda self: None


def patch_asyncio_loops(selector_events):
    """Removes the socket pair by which other threads wake an asyncio loop; this interpreter has only one thread."""
    loop = selector_events.BaseSelectorEventLoop
    loop._make_self_pipe = loop._close_self_pipe = loop._write_to_self = lambda self: None
