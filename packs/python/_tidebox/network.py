"""What stands in for sockets: there are none, and a program that wants one is told so."""

import errno

REASON = "there are no sockets in this sandbox; curl speaks to the hosts that it may reach"


def _refuse(*args, **kwargs):
    raise OSError(errno.ENOTSUP, REASON)


def install(socket, _socket):
    """Has the two modules of sockets refuse what needs one."""
    for name in "getaddrinfo", "gethostbyname", "gethostbyname_ex", "gethostbyaddr", "getnameinfo", "socketpair":
        setattr(_socket, name, _refuse)
        setattr(socket, name, _refuse)

    def __init__(self, family=-1, type=-1, proto=-1, fileno=None):
        _refuse()

    socket.socket.__init__ = __init__
    socket.socket.__del__ = lambda self: None


def let_loops_run(selector_events):
    """A loop of asyncio wakes itself by a pair of sockets when another thread has work for it. There are no other threads."""
    loop = selector_events.BaseSelectorEventLoop
    loop._make_self_pipe = loop._close_self_pipe = loop._write_to_self = lambda self: None
