"""The `socket` module: a connection carries one HTTP request, and everything else fails with the reason."""

import errno
import os

from . import http_exchange

NO_SERVER = (
    "in this sandbox programs cannot listen for connections: sockets only send HTTP requests; "
    "processes communicate by pipes and files"
)
NO_LOCAL_SOCKETS = (
    "in this sandbox only TCP sockets for HTTP requests exist; os.pipe, os.mkfifo and subprocess connect processes"
)
NO_RESOLVER = (
    "in this sandbox programs cannot resolve names: the host does so when it sends an HTTP request "
    "(urllib.request, requests, httpx, curl)"
)

_PORTS = {"http": 80, "https": 443}


def _unsupported(reason):
    def refuse(*args, **kwargs):
        raise OSError(errno.ENOTSUP, reason)

    return refuse


class Socket:
    """A TCP socket. `http_exchange.Exchange` is its connection."""

    def __init__(self, family=-1, type=-1, proto=-1, fileno=None):
        stream = type in (-1, _socket_module.SOCK_STREAM)
        internet = family in (-1, _socket_module.AF_INET, _socket_module.AF_INET6)
        if not stream or not internet or fileno is not None:
            raise OSError(errno.ENOTSUP, NO_LOCAL_SOCKETS)
        self.family = _socket_module.AddressFamily(_socket_module.AF_INET if family == -1 else family)
        self.type = _socket_module.SocketKind(_socket_module.SOCK_STREAM)
        self.proto = 0 if proto == -1 else proto
        self._timeout = _socket_module.getdefaulttimeout()
        self._exchange, self._peer = None, None
        self._io_refs, self._closed = 0, False

    def __enter__(self):
        return self

    def __exit__(self, *failed):
        if not self._closed:
            self.close()

    def __del__(self):
        if self.__dict__.get("_exchange") is not None:
            self._real_close()

    def __getstate__(self):
        raise TypeError(f"cannot pickle {type(self).__name__!r} object")

    def __repr__(self):
        state = " [closed]" if self._closed else ""
        return f"<{type(self).__module__}.{type(self).__qualname__}{state} fd={self.fileno()}, raddr={self._peer}>"

    # The connection.

    def connect(self, address, /):
        if self._closed:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        if self._exchange is not None:
            raise OSError(errno.EISCONN, os.strerror(errno.EISCONN))
        host, port = _host_name(address[0]), _port_number(address[1])
        self._exchange = http_exchange.Exchange(host, port)
        self._peer = (host, port, *address[2:])

    def connect_ex(self, address, /):
        try:
            self.connect(address)
        except OSError as error:
            return error.errno
        return 0

    def _connected(self):
        if self._exchange is None:
            number = errno.EBADF if self._closed else errno.ENOTCONN
            raise OSError(number, os.strerror(number))
        return self._exchange

    def send(self, data, flags=0, /):
        with memoryview(data) as view:
            self._connected().write(view.cast("B"), self._timeout)
            return view.nbytes

    def sendall(self, data, flags=0, /):
        self.send(data)

    def sendmsg(self, buffers, ancdata=(), flags=0, address=None, /):
        return self.send(b"".join(buffers))

    def recv(self, bufsize, flags=0, /):
        if flags:
            raise OSError(errno.ENOTSUP, "in this sandbox sockets have no flags such as MSG_PEEK")
        return self._connected().read(bufsize, self._timeout)

    def recv_into(self, buffer, nbytes=0, flags=0, /):
        with memoryview(buffer).cast("B") as view:
            data = self.recv(nbytes or view.nbytes, flags)
            view[:len(data)] = data
            return len(data)

    def recvfrom(self, bufsize, flags=0, /):
        return self.recv(bufsize, flags), self._peer

    def recvfrom_into(self, buffer, nbytes=0, flags=0, /):
        return self.recv_into(buffer, nbytes, flags), self._peer

    def shutdown(self, how, /):
        self._connected()

    def fileno(self):
        return -1 if self._exchange is None else self._exchange.fileno()

    def getpeername(self):
        self._connected()
        return self._peer

    def getsockname(self):
        return ("0.0.0.0", 0) if self.family == _socket_module.AF_INET else ("::", 0, 0, 0)

    # Options have no effect: the host has the connection.

    def setsockopt(self, level, option, value, length=None, /):
        pass

    def getsockopt(self, level, option, length=0, /):
        return int(self.type) if option == getattr(_socket_module, "SO_TYPE", None) else 0

    def gettimeout(self):
        return self._timeout

    timeout = property(gettimeout)

    def settimeout(self, seconds, /):
        if seconds is not None and seconds < 0:
            raise ValueError("Timeout value out of range")
        self._timeout = None if seconds is None else float(seconds)

    def setblocking(self, flag, /):
        self._timeout = None if flag else 0.0

    def getblocking(self):
        return self._timeout != 0

    def get_inheritable(self):
        return False

    def set_inheritable(self, inheritable, /):
        if inheritable:
            raise OSError(errno.ENOTSUP, NO_LOCAL_SOCKETS)

    # Closing, as in the `socket` module: files made of the socket keep it open.

    def _decref_socketios(self):
        self._io_refs -= bool(self._io_refs)
        if self._closed:
            self.close()

    def _real_close(self):
        exchange, self._exchange = self._exchange, None
        if exchange is not None:
            exchange.close()

    def close(self):
        self._closed = True
        if self._io_refs <= 0:
            self._real_close()

    bind = listen = accept = _unsupported(NO_SERVER)
    dup = detach = share = sendfile = recvmsg = recvmsg_into = sendto = _unsupported(NO_LOCAL_SOCKETS)


_socket_module = None


def _host_name(host):
    host = host.decode("ascii") if isinstance(host, (bytes, bytearray)) else host
    if not isinstance(host, str):
        raise TypeError(f"str, bytes or bytearray expected, not {type(host).__name__}")
    return host


def _port_number(port):
    if isinstance(port, (str, bytes)):
        name = os.fsdecode(port)
        port = int(name) if name.isdecimal() else _PORTS.get(name, -1)
    if not isinstance(port, int) or not 0 <= port <= 65535:
        raise OverflowError("getsockaddrarg: port must be 0-65535.")
    return port


def getaddrinfo(host, port, family=0, type=0, proto=0, flags=0):
    """Returns the name itself as the address: the host resolves it when it sends the request."""
    module = _socket_module
    if host is None:
        raise OSError(errno.ENOTSUP, NO_SERVER)
    if type not in (0, module.SOCK_STREAM):
        raise OSError(errno.ENOTSUP, NO_LOCAL_SOCKETS)
    if not http_exchange.is_enabled():
        raise module.gaierror(module.EAI_NONAME, http_exchange.NO_NETWORK)
    host, port = _host_name(host), 0 if port is None else _port_number(port)
    if ":" in host:
        address, kind = (host.strip("[]"), port, 0, 0), module.AddressFamily.AF_INET6
    else:
        address, kind = (host, port), module.AddressFamily.AF_INET
    if family not in (0, kind):
        raise module.gaierror(module.EAI_NONAME, f"in this sandbox addresses of the family {int(family)} are not available")
    return [(kind, module.SocketKind.SOCK_STREAM, module.IPPROTO_TCP, "", address)]


def install(socket, _socket):
    """Replaces the sockets of both modules."""
    global _socket_module
    _socket_module = socket
    for name in "gethostbyname", "gethostbyname_ex", "gethostbyaddr", "getnameinfo":
        setattr(_socket, name, _unsupported(NO_RESOLVER))
        setattr(socket, name, _unsupported(NO_RESOLVER))
    for name in "socketpair", "fromfd", "create_server":
        setattr(socket, name, _unsupported(NO_SERVER if name == "create_server" else NO_LOCAL_SOCKETS))
    _socket.socketpair = _unsupported(NO_LOCAL_SOCKETS)
    socket.getaddrinfo = _socket.getaddrinfo = getaddrinfo
    Socket.makefile = socket.socket.makefile
    Socket.__name__ = Socket.__qualname__ = "socket"
    Socket.__module__ = "socket"
    socket.socket = socket.SocketType = _socket.socket = _socket.SocketType = Socket


def patch_asyncio_loops(selector_events):
    """Removes the socket pair by which other threads wake an asyncio loop; this interpreter has only one thread."""
    loop = selector_events.BaseSelectorEventLoop
    loop._make_self_pipe = loop._close_self_pipe = loop._write_to_self = lambda self: None


def patch_anyio_errors(exceptions):
    """Makes the error of a broken connection show its cause, which httpx would omit."""

    def __str__(self):
        return Exception.__str__(self) or (str(self.__cause__) if self.__cause__ is not None else "")

    exceptions.BrokenResourceError.__str__ = __str__
