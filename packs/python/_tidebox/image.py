"""Builds the initial memory of interpreters. Imported once, when the pack is installed."""

import sys

LIBRARY = "/usr/local/lib/python3.15"
SITE = LIBRARY + "/site-packages"
FIRST = "/usr/local/lib/python315.zip"

# Modules that programs are likely to import, after their dependencies.
MODULES = """
    types enum operator functools itertools reprlib collections keyword re struct errno warnings copy pickle socket threading
    typing math cmath numbers fractions decimal random statistics
    datetime time calendar zoneinfo string textwrap re difflib struct codecs unicodedata
    io errno stat shutil tempfile glob fnmatch pathlib fileinput filecmp
    json csv configparser tomllib pickle copy copyreg shelve sqlite3 zlib gzip bz2 lzma zipfile tarfile
    hashlib hmac secrets base64 binascii uuid enum dataclasses abc contextlib types weakref heapq bisect array queue
    signal select selectors threading subprocess
    argparse getopt getpass optparse logging logging.handlers warnings traceback inspect ast dis tokenize linecache
    concurrent.futures concurrent.futures.thread asyncio contextvars
    shlex platform locale gettext html html.parser xml.etree.ElementTree urllib.parse urllib.request http.client
    ssl email email.message mimetypes unittest unittest.mock doctest pdb timeit cProfile pstats pprint reprlib
    socketserver http.server
    runpy importlib.metadata importlib.resources pkgutil code codeop graphlib ipaddress socket
    numpy numpy.random numpy.linalg numpy.fft numpy.testing
    dateutil.parser pandas PIL.Image
    matplotlib matplotlib.pyplot matplotlib.backends.backend_agg
    yaml attr
    requests httpx anyio._backends._asyncio rich.console rich.table rich.traceback rich.progress click dotenv jinja2 bs4 tabulate
    packaging.version iniconfig pluggy pygments pygments.lexers.python pygments.formatters.terminal _pytest.config pytest
""".split()

# Modules that every interpreter imports at startup, and those that the interpreter or Tidebox's part of it requires.
KEPT = frozenset("""
    sys builtins _frozen_importlib _imp _thread _warnings _weakref _io marshal posix _frozen_importlib_external time zipimport
    _codecs codecs _signal _abc abc io __main__ _stat stat _collections_abc genericpath posixpath os.path os _sitebuiltins site
    _host _reactor _zip_directory _missing_stdlib_info _types importlib importlib._bootstrap importlib._bootstrap_external
""".split())


def _moved(path):
    return LIBRARY + path[len(FIRST):] if path.startswith(FIRST) else path


def _move_library():
    """Changes paths from the archive used at build time to the installed files."""
    sys.path[:] = [LIBRARY]
    sys.path_importer_cache.clear()
    for module in list(sys.modules.values()):
        spec = getattr(module, "__spec__", None)
        loader = getattr(module, "__loader__", None)
        attributes = (module, "__file__"), (module, "__cached__"), (spec, "origin"), (spec, "cached"), (loader, "path")
        for holder, name in attributes:
            value = getattr(holder, name, None)
            if isinstance(value, str) and value.startswith(FIRST):
                setattr(holder, name, _moved(value))
        if isinstance(getattr(module, "__path__", None), list):
            module.__path__ = [_moved(entry) for entry in module.__path__]
            spec.submodule_search_locations = module.__path__


def prepare():
    import gc
    import os
    import signal

    _move_library()
    sys.path.append(SITE)
    sys.dont_write_bytecode = True
    os.environ.update(HOME="/tmp", MPLCONFIGDIR="/tmp/matplotlib", MPLBACKEND="agg")
    from . import errno_map

    errno_map.install()
    from . import command, memory, names, network, packages, preloaded, processes, session, sockets, system, threads  # noqa: F401

    system.install()
    processes.install()
    sys.modules.pop("subprocess", None)
    preloaded.install()
    preloaded.preload_present(KEPT)
    # Modules that import these use the replaced classes and functions.
    preloaded.preload("threading")
    threads.install(preloaded.module("_thread"), preloaded.module("threading"))
    preloaded.preload_with("socket", network.import_socket)
    for name in MODULES:
        if name not in sys.modules and name not in preloaded._groups:
            if name == "subprocess":
                preloaded.preload_with(name, processes.install)
            elif not preloaded.preload(name):
                print(f"cannot preload: {name}")
    network.patch_asyncio_loops(preloaded.module("asyncio.selector_events"))
    network.patch_threading_servers(preloaded.module("socketserver"), preloaded.module("select"))
    network.patch_anyio_errors(preloaded.module("anyio"))
    threads.patch_executors(preloaded.module("concurrent.futures.thread"), preloaded.module("contextvars"))
    threads.patch_asyncio_loops(preloaded.module("asyncio.base_events"))
    threads.patch_live_displays(preloaded.module("rich.live"))
    processes.patch_asyncio_child_watcher(preloaded.module("asyncio.unix_events"))
    os.environ.clear()
    signal.signal = system.set_signal
    for number in system.HANDLED:
        system.stock_signal(number, signal.default_int_handler)
    command.install()
    sys.path_importer_cache.clear()
    sys.stdout.flush()
    preloaded.live = True
    gc.collect()
    memory.optimize()
    gc.freeze()
    memory.record_collections()


try:
    prepare()
except BaseException:
    import traceback

    traceback.print_exc()
    sys.stderr.flush()
    raise
