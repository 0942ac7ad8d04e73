"""Functions of `os` that a WASI interpreter lacks and the sandbox supports: processes, pipes, modes, identities, signals."""

import errno
import operator
import os
import posix
import signal
import struct
import sys
import time

from . import host_call

_NOTE, _IGNORE, _DEFAULT = 2, 1, 0

# The interpreter's own functions, including those that are replaced in `posix`.
_stock = vars(posix).copy()


def _path(path):
    """Converts a path for the kernel, which resolves relative paths against its own working directory; `chdir` updates it."""
    path = os.fsencode(path)
    if b"\0" in path:
        raise ValueError("embedded null byte")
    return path


# Files.

_STAT = struct.Struct("<6Q4I")


def _stat_result(data):
    ino, nlink, size, atime, mtime, ctime, mode, uid, gid, dev = _STAT.unpack(data)
    seconds = [time // 10**9 for time in (atime, mtime, ctime)]
    floats = [time / 1e9 for time in (atime, mtime, ctime)]
    blocks = (size + 511) // 512
    return posix.stat_result(
        (mode, ino, dev, nlink, uid, gid, size, *seconds),
        dict(
            st_atime=floats[0], st_mtime=floats[1], st_ctime=floats[2],
            st_atime_ns=atime, st_mtime_ns=mtime, st_ctime_ns=ctime, st_blksize=4096, st_blocks=blocks, st_rdev=0,
        ),
    )


def stat(path, *, dir_fd=None, follow_symlinks=True):
    if isinstance(path, int):
        if not follow_symlinks:
            raise ValueError("stat: cannot use fd and follow_symlinks together")
        return fstat(path)
    if not isinstance(path, (str, bytes, os.PathLike)):
        kind = type(path).__name__
        raise TypeError(f"stat: path should be string, bytes, os.PathLike or integer, not {kind}")
    if dir_fd is not None:
        return _stock["stat"](path, dir_fd=dir_fd, follow_symlinks=follow_symlinks)
    try:
        return _stat_result(host_call.stat(_path(path), follow_symlinks))
    except OSError as failed:
        raise OSError(failed.errno, failed.strerror, os.fspath(path)) from None


def lstat(path, *, dir_fd=None):
    if isinstance(path, int):
        raise TypeError("lstat: path should be string, bytes or os.PathLike, not int")
    return stat(path, dir_fd=dir_fd, follow_symlinks=False)


def fstat(fd):
    return _stat_result(host_call.fstat(_descriptor(fd)))


class DirEntry:
    """An entry of `scandir`: the interpreter's own entry, with the modes and owners that it lacks."""

    __slots__ = ("_entry", "name", "path", "inode", "is_dir", "is_file", "is_symlink", "is_junction", "_stats")

    def __init__(self, entry):
        self._entry, self.name, self.path, self._stats = entry, entry.name, entry.path, {}
        self.inode, self.is_dir, self.is_file = entry.inode, entry.is_dir, entry.is_file
        self.is_symlink, self.is_junction = entry.is_symlink, entry.is_junction

    def stat(self, *, follow_symlinks=True):
        if follow_symlinks not in self._stats:
            self._stats[follow_symlinks] = stat(self.path, follow_symlinks=follow_symlinks)
        return self._stats[follow_symlinks]

    def __fspath__(self):
        return self.path

    def __repr__(self):
        return f"<DirEntry {self.name!r}>"


class _Scan:
    def __init__(self, found):
        self._found = found

    def __iter__(self):
        return self

    def __next__(self):
        return DirEntry(next(self._found))

    def close(self):
        self._found.close()

    def __enter__(self):
        return self

    def __exit__(self, *failed):
        self.close()


def scandir(path=None):
    return _Scan(_stock["scandir"](path))


def chmod(path, mode, *, dir_fd=None, follow_symlinks=True):
    if isinstance(path, int):
        return fchmod(path, mode)
    try:
        host_call.chmod(_path(path), mode & 0o7777)
    except OSError as failed:
        raise OSError(failed.errno, failed.strerror, os.fspath(path)) from None


def fchmod(fd, mode):
    try:
        host_call.chmod(b"/proc/self/fd/%d" % _shown(_descriptor(fd)), mode & 0o7777)
    except OSError as failed:
        raise host_call.error(errno.EBADF if failed.errno == errno.ENOENT else failed.errno) from None


def mkdir(path, mode=0o777, *, dir_fd=None):
    _stock["mkdir"](path, mode, dir_fd=dir_fd)
    if mode & 0o1777 != 0o777 and dir_fd is None:
        chmod(path, mode & 0o1777 & ~_mask())


def open(path, flags, mode=0o777, *, dir_fd=None):
    made = flags & posix.O_CREAT and dir_fd is None and not _exists(path)
    fd = _stock["open"](path, flags, mode, dir_fd=dir_fd)
    _inheritable_fds.discard(fd)
    # WASI calls have no modes.
    if made and mode & 0o7777 & ~_mask() != fstat(fd).st_mode & 0o7777:
        chmod(path, mode & 0o7777 & ~_mask())
    return fd


def _exists(path):
    try:
        host_call.stat(_path(path), True)
    except OSError:
        return False
    return True


def access(path, mode, *, dir_fd=None, effective_ids=False, follow_symlinks=True):
    if isinstance(path, int):
        raise TypeError("access: path should be string, bytes or os.PathLike, not int")
    try:
        host_call.access(_path(path), mode)
    except OSError:
        return False
    return True


def chdir(path):
    _stock["chdir"](path)
    host_call.chdir(_path(posix.getcwd()))


# The kernel's descriptors from 3 have numbers higher by 64, because libc uses the low ones.


def _descriptor(fd):
    if not isinstance(fd, int):
        fd = fd.fileno()
    if fd < 0:
        raise host_call.error(errno.EBADF)
    return fd


def _shown(fd):
    return fd - 64 if fd >= 67 else fd


def pipe():
    return host_call.pipe()


def pipe2(flags, /):
    flags = operator.index(flags)
    ends = host_call.pipe()
    # Without a WASI flag for it, it is always set.
    if posix.O_CLOEXEC and not flags & posix.O_CLOEXEC:
        _inheritable_fds.update(ends)
    return ends


def dup(fd, /):
    new = host_call.dup(_descriptor(fd), 67)
    _inheritable_fds.discard(new)
    return new


def dup2(fd, fd2, inheritable=True):
    host_call.dup_to(_descriptor(fd), fd2)
    set_inheritable(fd2, inheritable)
    return fd2


def close(fd):
    _stock["close"](fd)
    _inheritable_fds.discard(fd)


# Descriptors inherited by programs that are started without `close_fds`.
_inheritable_fds = {0, 1, 2}


def get_inheritable(fd, /):
    fstat(fd)
    return fd in _inheritable_fds


def set_inheritable(fd, inheritable, /):
    fstat(fd)
    (_inheritable_fds.add if inheritable else _inheritable_fds.discard)(fd)


def inheritable_fds():
    """Returns those that are still open."""
    return [fd for fd in sorted(_inheritable_fds) if _is_open(fd)]


_known_mask = None


def umask(mask, /):
    global _known_mask
    _known_mask = mask & 0o777
    return host_call.umask(_known_mask)


def _mask():
    global _known_mask
    if _known_mask is None:
        _known_mask = host_call.umask(0o22)
        host_call.umask(_known_mask)
    return _known_mask


def get_terminal_size(fd=1, /):
    fstat(fd)
    raise OSError(errno.ENOTTY, os.strerror(errno.ENOTTY))


def ttyname(fd, /):
    fstat(fd)
    raise OSError(errno.ENOTTY, os.strerror(errno.ENOTTY))


def sync():
    """No effect: writes are immediately in the sandbox's files."""


# Environment of started programs: `os.environ`, and variables set by `putenv` only.

_variables = {}


def putenv(name, value, /):
    name, value = os.fsencode(name), os.fsencode(value)
    if b"=" in name or not name:
        raise ValueError("illegal environment variable name")
    if b"\0" in name + value:
        raise ValueError("embedded null byte")
    _stock["putenv"](name, value)
    _variables[name] = value


def _clear_variables():
    _stock["_clearenv"]()
    _variables.clear()


def unsetenv(name, /):
    _stock["unsetenv"](name)
    _variables.pop(os.fsencode(name), None)


# Identities.


def getpid():
    return host_call.getids()[0]


def getppid():
    return host_call.getids()[1]


def getpgrp():
    return host_call.getids()[2]


def getpgid(pid):
    if pid in (0, getpid()):
        return getpgrp()
    raise host_call.error(errno.ESRCH)


def getuid():
    return host_call.getids()[3]


def getgid():
    return host_call.getids()[4]


def getgroups():
    return [getgid()]


getresuid = lambda: (getuid(),) * 3
getresgid = lambda: (getgid(),) * 3


def getlogin():
    return os.environ.get("LOGNAME", "tidebox")


def setpgid(pid, group):
    host_call.setpgid(pid, group)


# Processes.

WNOHANG, WUNTRACED, WCONTINUED = 1, 2, 8


def waitpid(pid, options):
    try:
        child, status = host_call.wait(pid, options & WNOHANG)
    except OSError as failed:
        raise host_call.error(failed.errno) from None
    if child == 0:
        return 0, 0
    # The encoding of Unix: the exit code in the second byte, or the signal in the first.
    return child, status << 8 if status < 256 else status - 256


def wait():
    return waitpid(-1, 0)


def waitstatus_to_exitcode(status):
    return -WTERMSIG(status) if WIFSIGNALED(status) else WEXITSTATUS(status)


def WIFEXITED(status):
    return status & 0x7F == 0


def WIFSIGNALED(status):
    return status & 0x7F != 0


def WIFSTOPPED(status):
    return False


def WIFCONTINUED(status):
    return False


def WCOREDUMP(status):
    return False


def WEXITSTATUS(status):
    return status >> 8 & 0xFF


def WTERMSIG(status):
    return status & 0x7F


def WSTOPSIG(status):
    return status >> 8 & 0xFF


def kill(pid, number):
    number = int(number)
    if pid == getpid() and number and raise_signal(number):
        return
    host_call.kill(pid, number)


def killpg(group, number):
    host_call.kill(-group, int(number))


def raise_signal(number):
    """Calls this process's Python handler of a signal, if set."""
    if number in _handled:
        signal_module_raise(number)
        return True
    return False


def abort():
    """Ends the process immediately, like a failed C assertion."""
    host_call.sig_set(signal.SIGABRT, _DEFAULT)
    host_call.kill(getpid(), signal.SIGABRT)


def system(command):
    if sys.stdout is not None:
        sys.stdout.flush()
    pid = start([b"sh", b"-c", os.fsencode(command)], b"/bin/sh")
    return waitpid(pid, 0)[1]


def start(arguments, path, environment=None, fds=((0, 0), (1, 1), (2, 2)), cwd=None, group=0, ignored=0):
    """Starts the program at this path and returns its process id."""
    if environment is None:
        environment = [name + b"=" + value for name, value in _variables.items()]
    fds = [(excluded, ours) for excluded, ours in fds if ours > 2 or _is_open(ours)]
    return host_call.spawn(path, arguments, environment, b"" if cwd is None else _path(cwd), fds, group, ignored)


def _is_open(fd):
    try:
        host_call.fstat(fd)
    except OSError:
        return False
    return True


def _replace(path, arguments, environment):
    """Implements `exec`: the program runs in a child process, and this one exits with its status."""
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.flush()
    arguments = [os.fsencode(argument) for argument in arguments]
    try:
        pid = start(arguments, _path(path), _entries(environment))
    except OSError as failed:
        raise host_call.error(failed.errno) from None
    status = waitpid(pid, 0)[1]
    if WIFSIGNALED(status):
        host_call.sig_set(WTERMSIG(status), _DEFAULT)
        host_call.kill(getpid(), WTERMSIG(status))
    os._exit(WEXITSTATUS(status))


def _spawn(mode, path, arguments, environment):
    if mode not in (os.P_WAIT, os.P_NOWAIT):
        raise ValueError("spawn*() arg 1 must be P_WAIT or P_NOWAIT")
    arguments = [os.fsencode(argument) for argument in _check_arguments("spawnv", arguments)]
    try:
        environment = None if environment is None else _entries(environment)
        pid = start(arguments, _path(path), environment, [(fd, fd) for fd in inheritable_fds()])
    except (OSError, ValueError):
        # With fork, the child would exist at this point and end with this code.
        if mode == os.P_WAIT:
            return 127
        raise
    if mode == os.P_NOWAIT:
        return pid
    return waitstatus_to_exitcode(waitpid(pid, 0)[1])


def _entries(environment):
    """Returns the environment in the form of the spawn call."""
    entries = []
    for name, value in environment.items():
        name, value = os.fsencode(name), os.fsencode(value)
        if b"=" in name or not name:
            raise ValueError("illegal environment variable name")
        if b"\0" in name + value:
            raise ValueError("embedded null byte")
        entries.append(name + b"=" + value)
    return entries


def _found(file, environment):
    """Returns the path of a program, searched in `PATH`."""
    if "/" in os.fsdecode(file):
        return file
    for directory in os.get_exec_path(environment):
        path = os.path.join(os.fsencode(directory), os.fsencode(file))
        if access(path, 1):
            return path
    return file


def spawnv(mode, file, args):
    return _spawn(mode, file, args, None)


def spawnve(mode, file, args, env):
    return _spawn(mode, file, args, env)


def spawnvp(mode, file, args):
    return _spawn(mode, _found(file, None), args, None)


def spawnvpe(mode, file, args, env):
    return _spawn(mode, _found(file, env), args, env)


def spawnl(mode, file, *args):
    return spawnv(mode, file, args)


def spawnle(mode, file, *args):
    return spawnve(mode, file, args[:-1], args[-1])


def spawnlp(mode, file, *args):
    return spawnvp(mode, file, args)


def spawnlpe(mode, file, *args):
    return spawnvpe(mode, file, args[:-1], args[-1])


def execv(path, argv):
    _replace(path, _check_arguments("execv", argv), os.environ)


def execve(path, argv, env):
    _replace(path, _check_arguments("execve", argv), env)


def _check_arguments(name, argv):
    if not isinstance(argv, (tuple, list)):
        raise TypeError(f"{name}() arg 2 must be a tuple or list")
    if not argv:
        raise ValueError(f"{name}() arg 2 must not be empty")
    if not argv[0]:
        raise ValueError(f"{name}() arg 2 first element cannot be empty")
    return argv


class _Pipe:
    """Return value of `popen`: a stream that waits for the command when closed."""

    def __init__(self, stream, process):
        self._stream, self._process = stream, process

    def close(self):
        self._stream.close()
        code = self._process.wait()
        return None if code == 0 else -code if code < 0 else code << 8

    def __enter__(self):
        return self

    def __exit__(self, *failed):
        self.close()

    def __getattr__(self, name):
        return getattr(self._stream, name)

    def __iter__(self):
        return iter(self._stream)


def popen(command, mode="r", buffering=-1):
    if not isinstance(command, str):
        raise TypeError(f"invalid cmd type ({type(command)}, expected string)")
    if mode not in ("r", "w"):
        raise ValueError(f"invalid mode {mode!r}")
    if buffering == 0 or buffering is None:
        raise ValueError("popen() does not support unbuffered streams")
    import subprocess

    end = {"stdout" if mode == "r" else "stdin": subprocess.PIPE}
    process = subprocess.Popen(command, shell=True, text=True, bufsize=buffering, **end)
    return _Pipe(process.stdout if mode == "r" else process.stdin, process)


# Signals. A Python handler runs between two bytecode instructions; the kernel records the signal and notifies the interpreter.

_handled = set()
# Signals that the engine can pass to the interpreter; `src/pack.rs` has the same list.
HANDLED = (1, 2, 3, 10, 12, 14, 15, 28)
stock_signal = signal.signal
signal_module_raise = signal.raise_signal


def set_signal(number, handler):
    old = stock_signal(number, handler)
    number = int(number)
    if number not in HANDLED and callable(handler):
        return old  # A Python handler runs only if this process itself sends the signal.
    try:
        if handler == signal.SIG_IGN:
            host_call.sig_set(number, _IGNORE)
            _handled.discard(number)
        elif handler == signal.SIG_DFL:
            host_call.sig_set(number, _DEFAULT)
            _handled.discard(number)
        else:
            host_call.sig_set(number, _NOTE)
            _handled.add(number)
    except OSError as failed:
        stock_signal(number, old)
        raise host_call.error(failed.errno) from None
    return old


_stock_sleep = time.sleep


def _sleep(seconds, /):
    """Implements `time.sleep`: goes on after a signal handler, for which the interpreter's own raises ENOTSUP."""
    end = None
    while True:
        start = time.monotonic()
        try:
            return _stock_sleep(seconds if end is None else max(0, end - start))
        except OSError as failed:
            if failed.errno != errno.ENOTSUP:
                raise
            end = start + seconds if end is None else end


def has_handlers():
    """Returns whether the program has set a handler that could run during a wait."""
    return any(signal.getsignal(number) is not signal.default_int_handler for number in _handled)


def register_signal_handlers():
    """Called at each start: registers the handlers of the initial memory with the kernel."""
    host_call.sig_set(signal.SIGPIPE, _IGNORE)
    host_call.sig_set(signal.SIGINT, _NOTE)
    _handled.clear()
    _handled.add(int(signal.SIGINT))


def install():
    """Installs all functions in `os` and `posix`."""
    names = [name for name in globals() if not name.startswith("_")]
    excluded = {"has_handlers", "host_call", "operator", "inheritable_fds", "errno", "os", "posix", "signal", "struct", "sys", "time", "install", "set_signal", "start", "raise_signal",
              "register_signal_handlers", "signal_module_raise", "HANDLED", "stock_signal"}
    for name in names:
        if name not in excluded:
            setattr(os, name, globals()[name])
            setattr(posix, name, globals()[name])
            if name not in os.__all__:
                os.__all__.append(name)
    os.geteuid, os.getegid, os.getpgrp = getuid, getgid, getpgrp
    posix.geteuid, posix.getegid = getuid, getgid
    os._clearenv = _clear_variables
    os.F_OK, os.R_OK, os.W_OK, os.X_OK = 0, 4, 2, 1
    os.P_WAIT, os.P_NOWAIT = 0, 1
    os.execvp.__globals__["execv"], os.execvp.__globals__["execve"] = execv, execve
    os.supports_follow_symlinks.update({stat, access})
    os.supports_fd.update({stat, chmod})
    signal.signal = set_signal
    time.sleep = _sleep
    import genericpath
    import posixpath
    # These need only existence and type, which the interpreter's own function returns faster.
    for module in genericpath, posixpath:
        module.os = os
