"""The calls of `tidebox_v1`, through the only function that the interpreter imports in addition to WASI.

A request contains the name of a call, its arguments and the memory that its pointers refer to; the response is an error
number and that memory after the call.
"""

import errno
import struct

from _host import call as _call

from .errno_map import linux

_pack, _unpack = struct.pack, struct.unpack_from


def call(name, arguments=(), memory=b"", path=None):
    """Executes a call and returns the memory after it. Raises OSError."""
    number, memory = _try_call(name, arguments, memory)
    if number:
        raise error(number, path)
    return memory


def _try_call(name, arguments, memory):
    name = name.encode()
    count = len(arguments)
    words = map(_word, arguments)
    response = _call(_pack(f"<I{len(name)}sI{count}I", len(name), name, count, *words) + memory)
    number = _unpack("<I", response)[0]
    return number and linux(number), response[4:]


def error(number, path=None):
    import os

    text = os.strerror(number)
    return OSError(number, text) if path is None else OSError(number, text, path)


def _word(number):
    """Converts a C int, signed or unsigned. The host rejects those that are no descriptor, process or signal."""
    if not -0x8000_0000 <= number <= 0xFFFF_FFFF:
        raise OverflowError("Python int too large to convert to C int")
    return number & 0xFFFF_FFFF


def getcwd():
    size = 4096
    memory = call("getcwd", (0, size, size), bytes(size + 4))
    (length,) = _unpack("<I", memory, size)
    return memory[:length]


def chdir(path):
    call("chdir", (0, len(path)), path, path)


def getids():
    return _unpack("<5I", call("getids", (0,), bytes(20)))


def pipe():
    return _unpack("<2I", call("pipe", (0,), bytes(8)))


def dup(fd, at_least=0):
    (new,) = _unpack("<I", call("dup", (fd, at_least, 0), bytes(4)))
    return new


def dup_to(fd, target):
    call("dup_to", (fd, target))


def kill(pid, signal):
    call("kill", (pid, signal))


def setpgid(pid, group):
    call("setpgid", (pid, group))


def sig_set(signal, disposition):
    call("sig_set", (signal, disposition))


def umask(mask):
    (old,) = _unpack("<I", call("umask", (mask, 0), bytes(4)))
    return old


def chmod(path, mode):
    call("chmod", (0, len(path), mode), path, path)


def access(path, mode):
    call("access", (0, len(path), mode), path, path)


def stat(path, follow):
    at = len(path)
    return call("stat", (0, at, int(follow), at), path + bytes(64), path)[at:]


def fstat(fd):
    return call("fstat", (fd, 0), bytes(64))


def wait(pid, flags):
    """Returns process id and status; the id is 0 if no child has exited and `flags` disables waiting."""
    while True:
        try:
            return _unpack("<2I", call("wait", (pid, flags, 0), bytes(8)))
        except OSError as failed:
            if failed.errno != errno.EINTR:
                raise


def listen():
    """Waits for a request of the caller of an interactive process."""
    size = 64 << 10
    while True:
        number, memory = _try_call("listen", (0, size, size), bytes(size + 4))
        (length,) = _unpack("<I", memory, size)
        if number == errno.ERANGE:
            size = length
        elif number == 0:
            return memory[:length]
        elif number != errno.EINTR:
            raise error(number)


def reply(data):
    call("reply", (0, len(data)), data)


def rest():
    """Announces that the interpreter returns from its entry point and is called again for the next request. Returns False if the
    host does not support it."""
    number, _ = _try_call("rest", (), b"")
    if number not in (0, errno.ENOTSUP):
        raise error(number)
    return number == 0


def restored():
    """Returns True once in an interpreter that continues a saved one."""
    return _unpack("<I", call("restored", (0,), bytes(4)))[0] != 0


def sock_open(family):
    (fd,) = _unpack("<I", call("sock_open", (family, 0), bytes(4)))
    return fd


def sock_pair():
    return _unpack("<2I", call("sock_pair", (0,), bytes(8)))


def sock_bind(fd, address):
    call("sock_bind", (fd, 0), address)


def sock_listen(fd, backlog):
    call("sock_listen", (fd, backlog))


def sock_connect(fd, address):
    _repeat("sock_connect", (fd, 0), address)


def sock_accept(fd):
    (accepted,) = _unpack("<I", _repeat("sock_accept", (fd, 0, 0), bytes(4)))
    return accepted


def sock_name(fd, of_peer):
    return call("sock_name", (fd, of_peer, 0), bytes(20))


def sock_shutdown(fd, how):
    call("sock_shutdown", (fd, how))


def sock_peek(fd, size):
    """Returns the next bytes of a connection without taking them from it."""
    # A list of one buffer, the count, the flags of the data, and the buffer.
    memory = _repeat("sock_recv", (fd, 0, 1, 1, 8, 12), _pack("<2I", 16, size) + bytes(8 + size))
    (length,) = _unpack("<I", memory, 8)
    return memory[16:16 + length]


def _repeat(name, arguments, memory):
    """Executes a call that may wait. The handlers of signals run in between."""
    while True:
        try:
            return call(name, arguments, memory)
        except InterruptedError:
            pass


def write_words(value, addresses):
    """Writes a number to each of these addresses of this process's memory."""
    call("set_words", (value,), _pack(f"<{len(addresses)}I", *addresses))


def spawn(path, arguments, environment, cwd, fds, group=0, ignored=0):
    """Starts a program and returns its process id."""
    request = [_pack("<I", 1), _bytes(path)]
    for strings in arguments, environment:
        request.append(_pack("<I", len(strings)))
        request.extend(map(_bytes, strings))
    request.append(_bytes(cwd))
    request.append(_pack("<I", len(fds)))
    request.extend(_pack("<2I", *pair) for pair in fds)
    request.append(_pack("<IQ", group, ignored))
    memory = b"".join(request)
    at = len(memory)
    memory = call("spawn", (0, at, at), memory + bytes(4), path)
    return _unpack("<I", memory, at)[0]


def _bytes(data):
    return _pack("<I", len(data)) + data
