"""Replacement of sockets, which are not supported: every use raises an error."""

import errno

REASON = "there are no sockets in this sandbox; curl speaks to the hosts that it may reach"


def _refuse(*args, **kwargs):
    raise OSError(errno.ENOTSUP, REASON)


def install(socket, _socket):
    """Makes the two socket modules raise an error for every use of a socket."""
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
