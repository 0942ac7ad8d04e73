"""What `os` lacks in a WASI interpreter, as far as the sandbox has it: processes, pipes, modes, identities, signals."""

import errno
import os
import posix
import signal
import struct
import sys

from . import door

_NOTE, _IGNORE, _DEFAULT = 2, 1, 0


def _path(path):
    """A path for the kernel. It resolves relative ones against the directory that it knows, which `chdir` keeps in step."""
    return os.fsencode(path)


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
        return fstat(path)
    if dir_fd is not None:
        return posix.stat(path, dir_fd=dir_fd, follow_symlinks=follow_symlinks)
    try:
        return _stat_result(door.stat(_path(path), follow_symlinks))
    except OSError as failed:
        raise OSError(failed.errno, failed.strerror, path) from None


def lstat(path, *, dir_fd=None):
    if isinstance(path, int):
        raise TypeError("lstat: path should be string, bytes or os.PathLike, not int")
    return stat(path, dir_fd=dir_fd, follow_symlinks=False)


def fstat(fd):
    return _stat_result(door.fstat(_descriptor(fd)))


class DirEntry:
    """What `scandir` hands out: the interpreter's own entry, but for the modes and owners that it does not know."""

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
    return _Scan(posix.scandir(path))


def chmod(path, mode, *, dir_fd=None, follow_symlinks=True):
    if isinstance(path, int):
        path = f"/proc/self/fd/{_shown(path)}"
    try:
        door.chmod(_path(path), mode & 0o7777)
    except OSError as failed:
        raise OSError(failed.errno, failed.strerror, path) from None


def fchmod(fd, mode):
    chmod(fd, mode)


def access(path, mode, *, dir_fd=None, effective_ids=False, follow_symlinks=True):
    if isinstance(path, int):
        raise TypeError("access: path should be string, bytes or os.PathLike, not int")
    try:
        door.access(_path(path), mode)
    except OSError:
        return False
    return True


def chdir(path):
    posix.chdir(path)
    door.chdir(_path(posix.getcwd()))


# The kernel numbers descriptors from 3 on with 64 more, because libc keeps the low ones for itself.


def _descriptor(fd):
    if not isinstance(fd, int):
        fd = fd.fileno()
    if fd < 0:
        raise door.error(errno.EBADF)
    return fd


def _shown(fd):
    return fd - 64 if fd >= 67 else fd


def pipe():
    return door.pipe()


def pipe2(flags):
    return door.pipe()


def dup(fd):
    return door.dup(_descriptor(fd), 67)


def dup2(fd, fd2, inheritable=True):
    door.dup_to(_descriptor(fd), fd2)
    return fd2


def get_inheritable(fd):
    fstat(fd)
    return fd < 3


def set_inheritable(fd, inheritable):
    fstat(fd)


def umask(mask):
    return door.umask(mask & 0o777)


# Identities.


def getpid():
    return door.getids()[0]


def getppid():
    return door.getids()[1]


def getpgrp():
    return door.getids()[2]


def getpgid(pid):
    if pid in (0, getpid()):
        return getpgrp()
    raise door.error(errno.ESRCH)


def getuid():
    return door.getids()[3]


def getgid():
    return door.getids()[4]


def getgroups():
    return [getgid()]


def getlogin():
    return os.environ.get("LOGNAME", "tidebox")


def setpgid(pid, group):
    door.setpgid(pid, group)


# Processes.

WNOHANG, WUNTRACED, WCONTINUED = 1, 2, 8


def waitpid(pid, options):
    try:
        child, status = door.wait(pid, options & WNOHANG)
    except OSError as failed:
        raise door.error(failed.errno) from None
    if child == 0:
        return 0, 0
    # As Unix has it: the exit code in the second byte, or the signal in the first.
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
    if pid == getpid() and number and raised(number):
        return
    door.kill(pid, number)


def killpg(group, number):
    door.kill(-group, int(number))


def raised(number):
    """Calls this process's own handler of a signal, if Python has one."""
    if number in _handled:
        signal_module_raise(number)
        return True
    return False


def system(command):
    sys.stdout.flush()
    pid = start([b"sh", b"-c", os.fsencode(command)], b"/bin/sh")
    return waitpid(pid, 0)[1]


def start(arguments, path, environment=None, fds=((0, 0), (1, 1), (2, 2)), cwd=None, group=0, ignored=0):
    """Starts a program of this path and answers its process id."""
    if environment is None:
        environment = [os.fsencode(f"{name}={value}") for name, value in os.environ.items()]
    fds = [(theirs, ours) for theirs, ours in fds if ours > 2 or _is_open(ours)]
    return door.spawn(path, arguments, environment, b"" if cwd is None else _path(cwd), fds, group, ignored)


def _is_open(fd):
    try:
        door.fstat(fd)
    except OSError:
        return False
    return True


def _replace(path, arguments, environment):
    """`exec`: the program runs in a process of its own, and this one ends as it does."""
    for stream in sys.stdout, sys.stderr:
        stream.flush()
    arguments = [os.fsencode(argument) for argument in arguments]
    environment = [os.fsencode(name) + b"=" + os.fsencode(value) for name, value in environment.items()]
    pid = start(arguments, _path(path), environment)
    status = waitpid(pid, 0)[1]
    if WIFSIGNALED(status):
        door.sig_set(WTERMSIG(status), _DEFAULT)
        door.kill(getpid(), WTERMSIG(status))
    os._exit(WEXITSTATUS(status))


def execv(path, argv):
    _replace(path, _checked("execv", argv), os.environ)


def execve(path, argv, env):
    for name, value in env.items():
        if "=" in os.fsdecode(name) or not name:
            raise ValueError("illegal environment variable name")
        if "\0" in os.fsdecode(name) + os.fsdecode(value):
            raise ValueError("embedded null byte")
    _replace(path, _checked("execve", argv), env)


def _checked(name, argv):
    if not isinstance(argv, (tuple, list)):
        raise TypeError(f"{name}() arg 2 must be a tuple or list")
    if not argv:
        raise ValueError(f"{name}() arg 2 must not be empty")
    if not argv[0]:
        raise ValueError(f"{name}() arg 2 first element cannot be empty")
    return argv


class _Pipe:
    """What `popen` answers: the stream, whose end waits for the command."""

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


# Signals. A handler of Python runs between two steps of the interpreter; the kernel notes the signal and lets it know.

_handled = set()
# Those that the engine can let the interpreter know of; `src/pack.rs` has the same list.
HANDLED = (1, 2, 3, 10, 12, 14, 15, 28)
stock_signal = signal.signal
signal_module_raise = signal.raise_signal


def set_signal(number, handler):
    old = stock_signal(number, handler)
    number = int(number)
    if number not in HANDLED and callable(handler):
        return old  # Only this process itself can send it so that a handler of Python runs.
    try:
        if handler == signal.SIG_IGN:
            door.sig_set(number, _IGNORE)
            _handled.discard(number)
        elif handler == signal.SIG_DFL:
            door.sig_set(number, _DEFAULT)
            _handled.discard(number)
        else:
            door.sig_set(number, _NOTE)
            _handled.add(number)
    except OSError as failed:
        stock_signal(number, old)
        raise door.error(failed.errno) from None
    return old


def note_interrupts():
    """For each start: what the memory says of handlers is told to the kernel of this process."""
    door.sig_set(signal.SIGPIPE, _IGNORE)
    door.sig_set(signal.SIGINT, _NOTE)
    _handled.clear()
    _handled.add(int(signal.SIGINT))


def install():
    """Puts it all where programs look for it."""
    names = [name for name in globals() if not name.startswith("_")]
    theirs = {"door", "errno", "os", "posix", "signal", "struct", "sys", "install", "set_signal", "start", "raised",
              "note_interrupts", "signal_module_raise", "HANDLED", "stock_signal"}
    for name in names:
        if name not in theirs:
            setattr(os, name, globals()[name])
            if name not in os.__all__:
                os.__all__.append(name)
    os.geteuid, os.getegid, os.getpgrp = getuid, getgid, getpgrp
    os.F_OK, os.R_OK, os.W_OK, os.X_OK = 0, 4, 2, 1
    os.P_WAIT, os.P_NOWAIT = 0, 1
    os.execvp.__globals__["execv"], os.execvp.__globals__["execve"] = execv, execve
    os.supports_follow_symlinks.update({stat, access})
    os.supports_fd.update({stat, chmod})
    signal.signal = set_signal
    import genericpath
    import posixpath
    # These ask only whether something is there and what it is, which the interpreter's own function tells faster.
    for module in genericpath, posixpath:
        module.os = os
