"""Stream sockets: the class `_socket.socket`, which this interpreter lacks.

A socket with a local address is one of the kernel (`docs/abi.md`). One that is connected to another host carries an HTTP
request, which the sandbox's host sends.
"""

import errno
import os
import select
import struct

import _warnings

from . import host_call, http_exchange, names
from .names import AF_INET, AF_INET6, AF_UNIX, SOCK_STREAM

SOL_SOCKET, SO_TYPE, SO_ERROR, SO_DOMAIN, SO_PROTOCOL, SO_ACCEPTCONN = 1, 3, 4, 39, 38, 30
MSG_PEEK, MSG_DONTWAIT, MSG_WAITALL, MSG_NOSIGNAL = 2, 0x40, 0x100, 0x4000

NO_DATAGRAMS = "in this sandbox only stream sockets (SOCK_STREAM) exist"
NO_PATHS = "in this sandbox sockets have no paths; use a port of 127.0.0.1, or socket.socketpair()"
NO_SERVER = (
    "this engine runs the programs of a sandbox one after the other, so that none can wait for another's connection; "
    "sockets only send HTTP requests"
)
NO_MESSAGES = "in this sandbox sockets carry bytes only: no ancillary data, and no other address than the connection's"

# Numbers of the kernel.
_FAMILIES = {AF_INET: 1, AF_INET6: 2, AF_UNIX: 3}
_ADDRESS = struct.Struct("<HH16s")

default_timeout = None


def _error(number, reason=None):
    return OSError(number, reason or os.strerror(number))


class Socket:
    """The base class of `socket.socket`."""

    # Without `__weakref__`, which `socket.socket` adds.
    __slots__ = "__dict__",

    def __init__(self, family=-1, type=-1, proto=-1, fileno=None):
        self._exchange, self._fd, self._peer, self._options = None, -1, None, {}
        self._listening, self._target = False, None
        self._family, self._type = AF_INET if family == -1 else int(family), SOCK_STREAM if type == -1 else int(type)
        self._type &= ~(names.SOCK_NONBLOCK | names.SOCK_CLOEXEC)
        self._proto = max(int(proto), 0)
        if fileno is not None:
            self._adopt(fileno)
        if self._family not in _FAMILIES:
            raise _error(errno.EAFNOSUPPORT)
        if self._family == AF_UNIX and fileno is None:
            raise _error(errno.EAFNOSUPPORT, NO_PATHS)
        if self._type != SOCK_STREAM:
            raise _error(errno.EPROTONOSUPPORT, NO_DATAGRAMS)
        self._timeout = default_timeout
        if self._timeout is not None and self._fd >= 0:
            os.set_blocking(self._fd, False)

    def _adopt(self, fileno):
        """Takes a descriptor of a socket."""
        if not isinstance(fileno, int):
            raise TypeError(f"integer argument expected, got {type(fileno).__name__}")
        if fileno < 0:
            raise ValueError("negative file descriptor")
        number, _, _ = _ADDRESS.unpack(host_call.sock_name(fileno, 0))
        self._family = next(family for family, known in _FAMILIES.items() if known == number)
        self._fd = fileno

    def __del__(self):
        state = self.__dict__
        if state.get("_fd", -1) >= 0 or state.get("_exchange") is not None:
            _warnings.warn(f"unclosed {self!r}", ResourceWarning, 1, self)
            Socket.close(self)

    family = property(lambda self: self._family)
    type = property(lambda self: self._type)
    proto = property(lambda self: self._proto)
    timeout = property(lambda self: self._timeout)

    def _open(self):
        """Returns the descriptor of the kernel's socket, which exists from its first use on."""
        if self._exchange is not None:
            raise _error(errno.ENOTSUP, http_exchange.NOT_HTTP)
        if self._fd < 0:
            if getattr(self, "_closed", False):
                raise _error(errno.EBADF)
            try:
                self._fd = host_call.sock_open(_FAMILIES[self._family])
            except OSError as failed:
                raise _error(errno.ENOTSUP, NO_SERVER) if failed.errno == errno.ENOTSUP else failed from None
            if self._timeout is not None:
                os.set_blocking(self._fd, False)
        return self._fd

    def _connected(self):
        """Returns the descriptor of the kernel's socket."""
        if self._fd < 0:
            raise _error(errno.EBADF if getattr(self, "_closed", False) else errno.ENOTCONN)
        return self._fd

    def _until_ready(self, call, event, timeout=-1):
        """Calls, and waits as long as the call would block."""
        timeout = self._timeout if timeout == -1 else timeout
        if timeout is None or timeout == 0:
            return call()
        import time

        deadline = time.monotonic() + timeout
        while True:
            try:
                return call()
            except BlockingIOError:
                wait = select.poll()
                wait.register(self._fd, event)
                if not wait.poll(max(0, deadline - time.monotonic()) * 1000):
                    raise TimeoutError("timed out") from None

    # Names and connections.

    def _address(self, address):
        if self._family == AF_UNIX:
            raise _error(errno.EAFNOSUPPORT, NO_PATHS)
        if not isinstance(address, tuple):
            family = "AF_INET" if self._family == AF_INET else "AF_INET6"
            raise TypeError(f"{family} address must be tuple, not {type(address).__name__}")
        if not 2 <= len(address) <= (2 if self._family == AF_INET else 4):
            raise TypeError("AF_INET address must be a pair (host, port)" if self._family == AF_INET
                            else "AF_INET6 address must be a tuple (host, port[, flowinfo[, scopeid]])")
        return names.host_name(address[0]), names.port_number(address[1])

    def bind(self, address, /):
        host, port = self._address(address)
        packed = names.resolve(host, self._family)
        if packed is None:
            raise names.unknown(host)
        host_call.sock_bind(self._open(), _ADDRESS.pack(_FAMILIES[self._family], port, packed))

    def listen(self, backlog=128, /):
        host_call.sock_listen(self._open(), max(backlog, 0))
        self._listening = True

    def _accept(self):
        fd = self._until_ready(lambda: host_call.sock_accept(self._open()), select.POLLIN)
        try:
            return fd, self._name(fd, 1)
        except OSError:
            os.close(fd)
            raise

    def connect(self, address, /):
        host, port = self._address(address)
        if getattr(self, "_closed", False):
            raise _error(errno.EBADF)
        if self._exchange is not None:
            raise _error(errno.EISCONN)
        packed = names.resolve(host, self._family)
        if packed is None or not names.is_local(packed, self._family):
            exchange = http_exchange.Exchange(host, port)
            self._close_fd()
            self._exchange, self._peer = exchange, (host, port, *address[2:])
            return
        self._target = _ADDRESS.pack(_FAMILIES[self._family], port, packed)
        try:
            host_call.sock_connect(self._open(), self._target)
        except BlockingIOError:
            if self._timeout == 0:
                raise
            # The queue of the listener is full.
            self._until_ready(self._connect_again, select.POLLOUT)

    def _connect_again(self):
        """Completes a connection, which a wait for it may have done."""
        try:
            host_call.sock_connect(self._fd, self._target)
        except OSError as failed:
            if failed.errno != errno.EISCONN:
                raise

    def connect_ex(self, address, /):
        try:
            self.connect(address)
        except TimeoutError:
            return errno.EAGAIN
        except OSError as error:
            if isinstance(error, names.gaierror):
                raise
            return error.errno
        return 0

    def shutdown(self, how, /):
        if self._exchange is not None:
            return
        if how not in (0, 1, 2):
            raise _error(errno.EINVAL)
        host_call.sock_shutdown(self._connected(), how + 1)

    def _name(self, fd, of_peer):
        number, port, packed = _ADDRESS.unpack(host_call.sock_name(fd, of_peer))
        if number == 3:
            return ""
        return (names.ntop(AF_INET, packed[:4]), port) if number == 1 else (names.ntop(AF_INET6, packed), port, 0, 0)

    def getsockname(self):
        if self._fd < 0:
            if getattr(self, "_closed", False):
                raise _error(errno.EBADF)
            return ("0.0.0.0", 0) if self._family == AF_INET else ("::", 0, 0, 0)
        return self._name(self._fd, 0)

    def getpeername(self):
        return self._peer if self._exchange is not None else self._name(self._connected(), 1)

    # Data.

    def send(self, data, flags=0, /):
        with memoryview(data) as view, view.cast("B") as octets:
            if self._exchange is not None:
                self._exchange.write(octets, self._timeout)
                return octets.nbytes
            timeout = 0 if flags & MSG_DONTWAIT else self._timeout
            return self._with_flags(flags, lambda fd: self._until_ready(
                lambda: os.write(fd, octets), select.POLLOUT, timeout))

    def sendall(self, data, flags=0, /):
        with memoryview(data) as view, view.cast("B") as octets:
            sent = 0
            while sent < octets.nbytes:
                with octets[sent:] as rest:
                    sent += self.send(rest, flags)

    def _with_flags(self, flags, call):
        """Calls with the descriptor, which does not wait during the call if a flag says so."""
        fd = self._connected()
        if not flags & MSG_DONTWAIT or self._timeout is not None:
            return call(fd)
        os.set_blocking(fd, False)
        try:
            return call(fd)
        finally:
            os.set_blocking(fd, True)

    def sendmsg(self, buffers, ancdata=(), flags=0, address=None, /):
        if list(ancdata) or address is not None:
            raise _error(errno.ENOTSUP, NO_MESSAGES)
        return self.send(b"".join(buffers), flags)

    def sendto(self, data, flags_or_address, address=None, /):
        return self.send(data, 0 if address is None else flags_or_address)

    def recv(self, bufsize, flags=0, /):
        if bufsize < 0:
            raise ValueError("negative buffersize in recv")
        if self._exchange is not None:
            if flags & ~MSG_NOSIGNAL:
                raise _error(errno.ENOTSUP, "sockets to other hosts have no flags such as MSG_PEEK")
            return self._exchange.read(bufsize, self._timeout)
        timeout = 0 if flags & MSG_DONTWAIT else self._timeout
        # The kernel returns at most 1 MiB, so that a larger buffer would be allocated in vain.
        size = min(bufsize, 1 << 20)

        def read(fd):
            if flags & MSG_PEEK:
                return self._until_ready(lambda: host_call.sock_peek(fd, size), select.POLLIN, timeout)
            return self._until_ready(lambda: os.read(fd, size), select.POLLIN, timeout)

        if not flags:
            return read(self._connected())
        data = self._with_flags(flags, read)
        while flags & MSG_WAITALL and not flags & MSG_PEEK and data and len(data) < bufsize:
            size = min(bufsize - len(data), 1 << 20)
            more = self._with_flags(flags, read)
            if not more:
                break
            data += more
        return data

    def recv_into(self, buffer, nbytes=0, flags=0, /):
        with memoryview(buffer) as view, view.cast("B") as octets:
            size = nbytes or octets.nbytes
            if size < 0:
                raise ValueError("negative buffersize in recv_into")
            if size > octets.nbytes:
                raise ValueError("buffer too small for requested bytes")
            if self._exchange is None and not flags:
                fd = self._connected()
                with octets[:size] as part:
                    return self._until_ready(lambda: os.readinto(fd, part), select.POLLIN)
            data = self.recv(size, flags)
            octets[:len(data)] = data
            return len(data)

    def recvfrom(self, bufsize, flags=0, /):
        return self.recv(bufsize, flags), self._peer

    def recvfrom_into(self, buffer, nbytes=0, flags=0, /):
        return self.recv_into(buffer, nbytes, flags), self._peer

    def recvmsg(self, bufsize, ancbufsize=0, flags=0, /):
        return self.recv(bufsize, flags), [], 0, self._peer

    # Options. Those that concern a network are stored without an effect.

    def setsockopt(self, level, option, value, length=None, /):
        if isinstance(value, (bytes, bytearray)):
            value = bytes(value)
        self._options[int(level), int(option)] = value

    def getsockopt(self, level, option, length=0, /):
        if level == SOL_SOCKET and option in (SO_TYPE, SO_ERROR, SO_DOMAIN, SO_PROTOCOL, SO_ACCEPTCONN):
            value = self._state_of(option)
        else:
            value = self._options.get((int(level), int(option)), 0)
        if not length:
            return value if isinstance(value, int) else int.from_bytes(value[:4], "little")
        return value[:length] if isinstance(value, bytes) else int(value).to_bytes(4, "little", signed=True)[:length]

    def _state_of(self, option):
        if option == SO_TYPE:
            return self._type
        if option == SO_DOMAIN:
            return self._family
        if option == SO_PROTOCOL:
            return self._proto or (0 if self._family == AF_UNIX else names.IPPROTO_TCP)
        if option == SO_ACCEPTCONN:
            return int(self._listening)
        return self._connection_error()

    def _connection_error(self):
        """Returns the error number of a connection that `connect` began."""
        if self._fd >= 0 and self._target is not None:
            try:
                self._connect_again()
            except BlockingIOError:
                pass
            except OSError as failed:
                return failed.errno
        return 0

    def gettimeout(self):
        return self._timeout

    def settimeout(self, seconds, /):
        if seconds is not None and not seconds >= 0:
            raise ValueError("Timeout value out of range")
        self._timeout = None if seconds is None else float(seconds)
        if self._fd >= 0:
            os.set_blocking(self._fd, self._timeout is None)

    def setblocking(self, flag, /):
        self.settimeout(None if flag else 0.0)

    def getblocking(self):
        return self._timeout != 0

    def get_inheritable(self):
        return os.get_inheritable(self._open())

    def set_inheritable(self, inheritable, /):
        os.set_inheritable(self._open(), inheritable)

    # The descriptor.

    def fileno(self):
        if self._exchange is not None:
            return self._exchange.fileno()
        return self._fd if getattr(self, "_closed", False) else self._open()

    def detach(self):
        if self._exchange is not None:
            raise _error(errno.ENOTSUP, http_exchange.NOT_HTTP)
        fd, self._fd = self._open(), -1
        return fd

    def _close_fd(self):
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def close(self):
        exchange, self._exchange = self._exchange, None
        if exchange is not None:
            exchange.close()
        self._close_fd()


def pair():
    """Returns the descriptors of two connected sockets."""
    try:
        return host_call.sock_pair()
    except OSError as failed:
        raise _error(errno.ENOTSUP, NO_SERVER) if failed.errno == errno.ENOTSUP else failed from None
