"""`subprocess` based on the sandbox's spawn call."""

import errno
import os
import sys
import types

from . import host_call, system

_NO_CHILD = 0x7FFFFFFF


def fork_exec(
    args, executables, close_fds, pass_fds, cwd, env, p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite,
    errpipe_read, errpipe_write, restore_signals, start_new_session, process_group, gid, groups, uid, umask, preexec,
):
    """Implements the function of `_posixsubprocess`: starts the first of the programs that exists. A failure is written to
    the pipe that the caller reads."""
    if preexec is not None:
        raise NotImplementedError("preexec_fn is not supported: programs start without fork")
    if gid is not None or groups is not None or uid is not None:
        raise PermissionError(errno.EPERM, "a program of this sandbox cannot change its user")
    places = (p2cread, c2pwrite, errwrite)
    fds = [(number, number if given == -1 else given) for number, given in enumerate(places)]
    more = set(pass_fds) if close_fds else {*pass_fds, *system.inheritable_fds()}
    fds += [(fd, fd) for fd in sorted(more) if fd not in (errpipe_write, 0, 1, 2)]
    group = 1 if start_new_session or process_group == 0 else process_group if process_group > 0 else 0
    environment = list(env) if env is not None else None
    arguments = [os.fsencode(argument) for argument in args]
    before = None if umask < 0 else host_call.umask(umask)
    failed, where = errno.ENOENT, ""
    try:
        if cwd is not None:
            try:
                if not os.path.isdir(cwd):
                    os.listdir(cwd)
            except OSError as error:
                failed, where = error.errno, "noexec:chdir"
                executables = ()
        for path in executables:
            try:
                return system.start(arguments, os.path.abspath(path), environment, fds, cwd, group)
            except OSError as error:
                if error.errno not in (errno.ENOENT, errno.ENOTDIR):
                    failed = error.errno
                    if error.errno != errno.EACCES:
                        break
    finally:
        if before is not None:
            host_call.umask(before)
    os.write(errpipe_write, b"OSError:%x:%s" % (failed, where.encode()))
    return _NO_CHILD


def install():
    """Makes `subprocess` treat this platform as a Unix that can start programs."""
    module = types.ModuleType("_posixsubprocess", "Starts programs of the sandbox.")
    module.fork_exec = fork_exec
    sys.modules["_posixsubprocess"] = module
    platform, sys.platform = sys.platform, "linux"
    sys.modules.pop("subprocess", None)
    try:
        import subprocess
    finally:
        sys.platform = platform
    subprocess._USE_POSIX_SPAWN = subprocess._USE_VFORK = False
    return subprocess


def patch_asyncio_child_watcher(unix_events):
    """Makes the event loop poll its child processes at growing intervals, instead of using a thread per child."""

    def add_child_handler(self, pid, callback, *args):
        loop = unix_events.events.get_running_loop()

        def look(pause):
            try:
                ended, status = os.waitpid(pid, os.WNOHANG)
                if not ended:
                    loop.call_later(pause, look, min(pause * 1.5, 0.05))
                    return
                code = os.waitstatus_to_exitcode(status)
            except ChildProcessError:
                code = 255  # Other code has waited for it, which the thread would detect, too.
            callback(pid, code, *args)

        loop.call_soon(look, 0.001)

    def _read_ready(self):
        # On Linux the write end becomes readable when the reader closes. Here it is always readable, and writing reports the error.
        self._loop._remove_reader(self._fileno)

    unix_events._ThreadedChildWatcher.add_child_handler = add_child_handler
    unix_events._UnixWritePipeTransport._read_ready = _read_ready
