"""Threads, which this interpreter does not have: starting one fails, and executors call their functions directly."""

import sys
import time

from . import system

REASON = (
    "can't start new thread: in this sandbox Python has one thread. ThreadPoolExecutor, asyncio.to_thread and "
    "run_in_executor work and call the function directly; subprocess starts processes that run at the same time"
)

DEADLOCK = "this wait would never end: in this sandbox Python has one thread, and no other can release the lock or set the event"

# Interval at which a waiting program looks whether a signal handler has released the lock, in seconds.
_POLL = 0.02

_allocate = None


def _refuse(*args, **kwargs):
    raise RuntimeError(REASON)


class Lock:
    """A lock that only this thread uses. The interpreter's own would abort the process instead of waiting."""

    __slots__ = "_lock", "__weakref__"

    def __init__(self):
        self._lock = _allocate()

    def acquire(self, blocking=True, timeout=-1):
        if not blocking and timeout != -1:
            raise ValueError("can't specify a timeout for a non-blocking call")
        if timeout < 0 and timeout != -1:
            raise ValueError("timeout value must be a non-negative number")
        return self._lock.acquire(False) or blocking and self._wait(None if timeout == -1 else timeout)

    def _wait(self, timeout):
        """Waits until a signal handler releases the lock or the time is over."""
        if timeout is None and not system.has_handlers():
            raise RuntimeError(DEADLOCK)
        end = None if timeout is None else time.monotonic() + timeout
        while not self._lock.acquire(False):
            left = _POLL if end is None else end - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(left, _POLL))
        return True

    def release(self):
        self._lock.release()

    def locked(self):
        return self._lock.locked()

    def __enter__(self):
        return self._lock.acquire(False) or self._wait(None)

    def __exit__(self, *failed):
        self._lock.release()

    acquire_lock, release_lock, locked_lock = acquire, release, locked

    def _at_fork_reinit(self):
        self._lock = _allocate()

    def __repr__(self):
        return f"<{'locked' if self.locked() else 'unlocked'} _thread.lock object at {hex(id(self))}>"


def install(_thread, threading):
    """Makes starting a thread fail with the reason, and waiting for one end."""
    global _allocate
    _allocate = _thread.allocate_lock
    _thread.allocate_lock = _thread.allocate = threading._allocate_lock = threading.Lock = Lock
    _thread.start_new_thread = _thread.start_new = _thread.start_joinable_thread = _refuse
    threading._start_joinable_thread = _refuse
    if hasattr(threading, "_start_new_thread"):
        threading._start_new_thread = _refuse


class _Suspended:
    """Hides the running event loop and its task, as from another thread."""

    def __enter__(self):
        asyncio = sys.modules.get("asyncio")
        self._asyncio, self._loop = asyncio, asyncio and asyncio._get_running_loop()
        if self._loop is not None:
            self._task = asyncio.tasks._swap_current_task(self._loop, None)
            asyncio._set_running_loop(None)

    def __exit__(self, *failed):
        if self._loop is not None:
            self._asyncio._set_running_loop(self._loop)
            self._asyncio.tasks._swap_current_task(self._loop, self._task)


def patch_executors(module, contextvars):
    """Makes a thread pool call each function when it is submitted, before `submit` returns."""
    pool = module.ThreadPoolExecutor

    def submit(self, fn, /, *args, **kwargs):
        if self._broken:
            raise module.BrokenThreadPool(self._broken)
        if self._shutdown:
            raise RuntimeError("cannot schedule new futures after shutdown")
        future = module._base.Future()
        work = module._WorkItem(future, self._resolve_work_item_task(fn, args, kwargs))
        with _Suspended():
            # A new thread starts with an empty context.
            contextvars.Context().run(_run, self, work)
        if self._broken and not future.done():
            future.set_exception(module.BrokenThreadPool(self._broken))
        return future

    def _run(self, work):
        context = self.__dict__.get("_tidebox_context")
        if context is None:
            context = self._create_worker_context()
            try:
                context.initialize()
            except BaseException:
                module._base.LOGGER.critical("Exception in initializer:", exc_info=True)
                self._broken = "A thread initializer failed, the thread pool is not usable anymore"
                return
            self._tidebox_context = context
        work.run(context)

    submit.__doc__ = pool.submit.__doc__
    pool.submit = submit


def patch_asyncio_loops(base_events):
    """Ends the default executor of an event loop without a thread that waits for it."""

    async def shutdown_default_executor(self, timeout=None):
        self._executor_shutdown_called = True
        if self._default_executor is not None:
            self._default_executor.shutdown(wait=True)

    base_events.BaseEventLoop.shutdown_default_executor = shutdown_default_executor


def patch_live_displays(live):
    """Draws the live displays of `rich` when they change, instead of by a thread."""
    original = live.Live.__init__

    def __init__(self, *args, **kwargs):
        original(self, *args, **kwargs)
        self.auto_refresh = False

    live.Live.__init__ = __init__
