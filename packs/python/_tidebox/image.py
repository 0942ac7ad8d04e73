"""Makes the memory that interpreters begin with. It is imported once, when the pack is added."""

import sys

LIBRARY = "/usr/local/lib/python3.15"
SITE = LIBRARY + "/site-packages"
FIRST = "/usr/local/lib/python315.zip"

# What programs are likely to import, in an order in which each finds what it needs.
MODULES = """
    types enum operator functools itertools reprlib collections keyword re struct errno warnings copy pickle socket threading
    typing math cmath numbers fractions decimal random statistics
    datetime time calendar zoneinfo string textwrap re difflib struct codecs unicodedata
    io errno stat shutil tempfile glob fnmatch pathlib fileinput filecmp
    json csv configparser tomllib pickle copy copyreg shelve sqlite3 zlib gzip bz2 lzma zipfile tarfile
    hashlib hmac secrets base64 binascii uuid enum dataclasses abc contextlib types weakref heapq bisect array queue
    signal select selectors threading subprocess
    argparse getopt getpass optparse logging logging.handlers warnings traceback inspect ast dis tokenize linecache
    concurrent.futures asyncio contextvars
    shlex platform locale gettext html html.parser xml.etree.ElementTree urllib.parse urllib.request http.client
    email email.message mimetypes unittest unittest.mock doctest pdb timeit cProfile pstats pprint reprlib
    runpy importlib.metadata importlib.resources pkgutil code codeop graphlib ipaddress socket
    numpy numpy.random numpy.linalg numpy.fft numpy.testing
    dateutil.parser pandas PIL.Image
    matplotlib matplotlib.pyplot matplotlib.backends.backend_agg
    yaml attr
    packaging.version iniconfig pluggy pygments pygments.lexers.python pygments.formatters.terminal _pytest.config pytest
""".split()

# What every interpreter has imported when its program starts, and what the interpreter itself or our part of it asks for.
KEPT = frozenset("""
    sys builtins _frozen_importlib _imp _thread _warnings _weakref _io marshal posix _frozen_importlib_external time zipimport
    _codecs codecs _signal _abc abc io __main__ _stat stat _collections_abc genericpath posixpath os.path os _sitebuiltins site
    _host _reactor _zip_directory _missing_stdlib_info _types importlib importlib._bootstrap importlib._bootstrap_external
""".split())


def _moved(path):
    return LIBRARY + path[len(FIRST):] if path.startswith(FIRST) else path


def _move_library():
    """From where the makers of the module had an archive to where the files are."""
    sys.path[:] = [LIBRARY]
    sys.path_importer_cache.clear()
    for module in list(sys.modules.values()):
        spec = getattr(module, "__spec__", None)
        loader = getattr(module, "__loader__", None)
        places = (module, "__file__"), (module, "__cached__"), (spec, "origin"), (spec, "cached"), (loader, "path")
        for holder, name in places:
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
    from . import numbers

    numbers.install()
    from . import command, memory, network, packages, parked, processes, session, system  # noqa: F401

    system.install()
    processes.install()
    sys.modules.pop("subprocess", None)
    parked.install()
    parked.park_present(KEPT)
    for name in MODULES:
        if name not in sys.modules and name not in parked._groups:
            if name == "subprocess":
                parked.park_with(name, processes.install)
            elif not parked.park(name):
                print(f"not in the image: {name}")
    network.install(parked.module("socket"), parked.module("_socket"))
    network.let_loops_run(parked.module("asyncio.selector_events"))
    processes.let_loops_wait(parked.module("asyncio.unix_events"))
    os.environ.clear()
    signal.signal = system.set_signal
    for number in system.HANDLED:
        system.stock_signal(number, signal.default_int_handler)
    command.take_over()
    sys.path_importer_cache.clear()
    sys.stdout.flush()
    parked.live = True
    gc.collect()
    memory.settle()
    gc.freeze()
    memory.note_collections()


try:
    prepare()
except BaseException:
    import traceback

    traceback.print_exc()
    sys.stderr.flush()
    raise
