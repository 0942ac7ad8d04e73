"""The command lines of `python3` and the commands installed with it."""

import atexit
import os
import sys

# Always available, while `importlib.machinery` may be a preloaded module.
from _frozen_importlib import BuiltinImporter

from . import host_call, memory, preloaded, session, system

LIBRARY = "/usr/local/lib/python3.15"
SITE = LIBRARY + "/site-packages"

VERSION = "Python " + sys.version.split()[0]
PROGRAM = "/usr/bin/python3"
TIDEBOX_FILES = __file__.rpartition("/")[0] + "/"

USAGE = "usage: {} [option] ... [-c cmd | -m mod | file | -] [arg] ..."
HELP = """\
Options (and corresponding environment variables):
-B     : don't write .pyc files on import; also PYTHONDONTWRITEBYTECODE=x
-c cmd : program passed in as string (terminates option list)
-E     : ignore PYTHON* environment variables (such as PYTHONPATH)
-h     : print this help message and exit (also -? or --help)
-i     : inspect interactively after running script; also PYTHONINSPECT=x
-I     : isolate Python from the user's environment (implies -E -P -s)
-m mod : run library module as a script (terminates option list)
-O     : remove assert and __debug__-dependent statements; also PYTHONOPTIMIZE=x
-OO    : do -O changes and also discard docstrings
-P     : don't prepend a potentially unsafe path to sys.path; also PYTHONSAFEPATH
-q     : don't print version and copyright messages on interactive startup
-s     : don't add user site directory to sys.path; also PYTHONNOUSERSITE=x
-S     : don't imply 'import site' on initialization
-u     : force the stdout and stderr streams to be unbuffered; also PYTHONUNBUFFERED=x
-V     : print the Python version number and exit (also --version)
-W arg : warning control (arg is action:message:category:module:lineno); also PYTHONWARNINGS=arg
-x     : skip first line of source, allowing use of non-Unix forms of #!cmd
-X opt : set implementation-specific option

Arguments:
file   : program read from script file
-      : program read from stdin (default)
arg ...: arguments passed to program in sys.argv[1:]
"""

class Usage(Exception):
    """The command line is invalid."""


class Flags:
    """Parsed options."""

    def __init__(self):
        self.mode, self.target, self.rest = "stdin", None, []
        self.ignore_environment = self.isolated = self.no_user_site = self.no_site = self.safe_path = False
        self.dont_write_bytecode = self.unbuffered = self.inspect = self.skip_first = self.dev_mode = False
        self.optimize = self.quiet = self.verbose = self.version = self.debug = self.bytes_warning = 0
        self.warnings, self.options = [], {}

    def parse(self, arguments):
        at = 0
        while at < len(arguments):
            word = arguments[at]
            at += 1
            if word == "-":
                self.target, self.rest = "-", arguments[at:]
                return
            if not word.startswith("-"):
                self.mode, self.target, self.rest = "script", word, arguments[at:]
                return
            if word.startswith("--"):
                if word == "--":
                    if at < len(arguments):
                        self.mode, self.target, self.rest = "script", arguments[at], arguments[at + 1:]
                    return
                self._long(word)
                continue
            for place, letter in enumerate(word[1:], 2):
                if letter in "cmWX":
                    value = word[place:]
                    if not value:
                        if at >= len(arguments):
                            raise Usage(f"Argument expected for the -{letter} option")
                        value, at = arguments[at], at + 1
                    if letter in "cm":
                        self.mode, self.target, self.rest = letter, value, arguments[at:]
                        return
                    if letter == "W":
                        self.warnings.append(value)
                    else:
                        name, equals, setting = value.partition("=")
                        self.options[name] = setting if equals else True
                        self.dev_mode |= name == "dev"
                    break
                self._short(letter)

    def _long(self, word):
        if word == "--version":
            self.version += 1
        elif word in ("--help", "--help-all"):
            raise SystemExit(self.help())
        else:
            raise Usage(f"Unknown option: {word}")

    def _short(self, letter):
        if letter == "B":
            self.dont_write_bytecode = True
        elif letter == "E":
            self.ignore_environment = True
        elif letter == "I":
            self.isolated = self.ignore_environment = self.no_user_site = self.safe_path = True
        elif letter == "O":
            self.optimize += 1
        elif letter == "P":
            self.safe_path = True
        elif letter == "S":
            self.no_site = True
        elif letter == "V":
            self.version += 1
        elif letter == "b":
            self.bytes_warning += 1
        elif letter == "d":
            self.debug += 1
        elif letter in "h?":
            raise SystemExit(self.help())
        elif letter == "i":
            self.inspect = True
        elif letter == "q":
            self.quiet += 1
        elif letter == "s":
            self.no_user_site = True
        elif letter == "u":
            self.unbuffered = True
        elif letter == "v":
            self.verbose += 1
        elif letter == "x":
            self.skip_first = True
        elif letter in "Rt":
            pass
        else:
            raise Usage(f"Unknown option: -{letter}")

    def help(self):
        print(USAGE.format(sys.orig_argv[0]))
        print(HELP, end="")
        return 0

    def read_environment(self):
        """Applies the environment variables, unless they are disabled."""
        if self.ignore_environment:
            return
        given = os.environ.get
        self.dont_write_bytecode |= bool(given("PYTHONDONTWRITEBYTECODE"))
        self.unbuffered |= bool(given("PYTHONUNBUFFERED"))
        self.inspect |= bool(given("PYTHONINSPECT"))
        self.no_user_site |= bool(given("PYTHONNOUSERSITE"))
        self.safe_path |= bool(given("PYTHONSAFEPATH"))
        self.dev_mode |= bool(given("PYTHONDEVMODE"))
        self.verbose |= bool(given("PYTHONVERBOSE"))
        optimize = given("PYTHONOPTIMIZE")
        if optimize:
            self.optimize = max(self.optimize, int(optimize) if optimize.isdigit() else 1)
        warnings = given("PYTHONWARNINGS")
        if warnings:
            self.warnings = warnings.split(",") + self.warnings


class _SysFlags(tuple):
    """`sys.flags`, whose own type cannot be instantiated."""

    def __new__(cls, values):
        self = super().__new__(cls, values.values())
        self.__dict__.update(values)
        return self

    def __repr__(self):
        return "sys.flags(" + ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items()) + ")"


_stock_flags = {name: getattr(sys.flags, name) for name in dir(sys.flags)
                if not name.startswith(("_", "n_")) and name not in ("count", "index")}


def _set_flags(flags):
    sys.flags = _SysFlags({
        **_stock_flags,
        "debug": flags.debug, "inspect": int(flags.inspect), "interactive": int(flags.inspect),
        "optimize": flags.optimize, "dont_write_bytecode": int(flags.dont_write_bytecode),
        "no_user_site": int(flags.no_user_site), "no_site": int(flags.no_site),
        "ignore_environment": int(flags.ignore_environment), "verbose": flags.verbose,
        "bytes_warning": flags.bytes_warning, "quiet": flags.quiet, "isolated": int(flags.isolated),
        "dev_mode": flags.dev_mode, "safe_path": flags.safe_path, "hash_randomization": 1,
    })
    sys.dont_write_bytecode = flags.dont_write_bytecode
    sys._xoptions.clear()
    sys._xoptions.update(flags.options)
    if flags.dev_mode:
        flags.warnings.insert(0, "default")
    sys.warnoptions[:] = flags.warnings
    if flags.warnings:
        import warnings

        warnings._processoptions(flags.warnings)
    if flags.optimize:
        _optimize(min(flags.optimize, 2))


def _optimize(level):
    """Compiles imported sources without assertions, too."""
    import importlib._bootstrap_external as external

    external.SourceLoader.source_to_code.__kwdefaults__["_optimization"] = level


def _set_path(flags):
    first = []
    if not flags.safe_path:
        if flags.mode == "script":
            first = [os.path.dirname(os.path.realpath(flags.target))]
        elif flags.mode == "m":
            first = [os.getcwd()]
        else:
            first = [""]
    more = []
    if not flags.ignore_environment and os.environ.get("PYTHONPATH"):
        here = os.getcwd()
        more = [os.path.join(here, entry) if entry else here for entry in os.environ["PYTHONPATH"].split(":")]
    sys.path[:] = first + more + [LIBRARY]
    if flags.no_site:
        return
    own, with_system = _environment()
    if own is None and not flags.no_user_site:
        user = os.path.expanduser("~/.local/lib/python3.15/site-packages")
        if os.path.isdir(user):
            sys.path.append(user)
            more.append(user)
    if own is not None and os.path.isdir(own):
        import site

        site.addsitedir(own)
        more.append(own)
    if with_system:
        sys.path.append(SITE)
    if more:
        try:
            import sitecustomize  # noqa: F401
        except ImportError as error:
            if error.name != "sitecustomize":
                raise


def _environment():
    """Returns the package directory of the virtual environment of this `python3`, and whether it includes those of the pack."""
    name = sys.orig_argv[0] if sys.orig_argv else ""
    if "/" in name:
        path = os.path.abspath(name)
    elif os.environ.get("VIRTUAL_ENV"):
        directories = os.environ.get("PATH", "").split(":")
        path = next((path for directory in directories if os.access(path := os.path.join(directory, name), os.X_OK)), PROGRAM)
    else:
        return None, True
    prefix = os.path.dirname(os.path.dirname(path))
    if prefix == "/usr":
        return None, True
    try:
        with open(prefix + "/pyvenv.cfg", encoding="utf-8") as settings:
            text = settings.read()
    except OSError:
        return None, True
    sys.executable = os.path.join(os.path.dirname(path), "python3")
    sys.prefix = sys.exec_prefix = prefix
    words = (line.lower().replace(" ", "") for line in text.splitlines())
    return prefix + "/lib/python3.15/site-packages", "include-system-site-packages=true" in words


def _streams(flags):
    import _reactor

    _reactor._refresh(flags.unbuffered)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            host_call.fstat(number)
        except OSError:
            setattr(sys, name, None)
            setattr(sys, f"__{name}__", None)
    wanted = "" if flags.ignore_environment else os.environ.get("PYTHONIOENCODING", "")
    if wanted:
        encoding, _, errors = wanted.partition(":")
        for stream in filter(None, (sys.stdin, sys.stdout, sys.stderr)):
            kept = "backslashreplace" if stream is sys.stderr else errors or None
            stream.reconfigure(encoding=encoding or None, errors=kept)


def main(argv, environ):
    """Entry point called by the interpreter: executes the command line and returns the exit code."""
    sys.orig_argv = list(argv)
    os.environ.clear()
    os.environ.update(environ)
    system.register_signal_handlers()
    try:
        os.chdir(os.fsdecode(host_call.getcwd()))
    except OSError:
        pass  # It was removed; the interpreter then runs in `/`, and relative paths fail as in a deleted directory.
    name = os.path.basename(argv[0]) if argv else "python3"
    sys.executable = sys._base_executable = PROGRAM
    flags = Flags()
    try:
        try:
            if name == "python3-session":
                flags.mode = "session"
            elif name.startswith("pip"):
                flags.mode, flags.target, flags.rest = "pip", name, argv[1:]
            elif name in ("pytest", "py.test"):
                flags.mode, flags.target, flags.rest = "m", "pytest", argv[1:]
                flags.safe_path = True
            else:
                flags.parse(argv[1:])
        except Usage as error:
            print(error, file=sys.stderr)
            print(USAGE.format(argv[0]), file=sys.stderr)
            print("Try `python -h' for more information.", file=sys.stderr)
            return _finish(2)
        if flags.version:
            print(VERSION if flags.version == 1 else "Python " + sys.version)
            return _finish(0)
        flags.read_environment()
        _set_flags(flags)
        _streams(flags)
        _set_path(flags)
        if flags.mode == "session":
            names = _fresh_main()
            sys.argv = [""]
            return _rest_or_finish(lambda: session.serve(names))
        return _finish(_run(flags), flags)
    except SystemExit as error:
        return _finish(_exit_code(error), flags)
    except BaseException as error:
        return _finish(_report(error), flags)


def turn(_source, start):
    """Entry point called by the interpreter for each request of a session that rests in between. `start` is the pair of arguments
    and environment in the first call, then None. Returns the exit code and whether the interpreter ends."""
    code = _rest_or_finish(session.go_on) if start is None else main(*start)
    return code, False


def _rest_or_finish(serve):
    try:
        code = serve()
    except BaseException as error:
        code = _report(error)
    return 0 if code is None else _finish(code)


def _fresh_main():
    main = type(sys)("__main__")
    main.__dict__.update(__builtins__=sys.modules["builtins"], __loader__=BuiltinImporter)
    sys.modules["__main__"] = main
    return main.__dict__


def _run(flags):
    level = min(flags.optimize, 2)
    names = _fresh_main()
    sys.argv = [{"c": "-c", "m": "-m"}.get(flags.mode) or flags.target or "", *flags.rest]
    if flags.mode == "pip":
        from . import packages

        return packages.pip(flags.target, flags.rest)
    if flags.mode == "c":
        source = flags.target + "\n"
        code = compile(source, "<string>", "exec", dont_inherit=True, optimize=level)
        # Not imported, because the program has not imported it.
        preloaded.module("linecache")._register_code(code, source, "<string>")
        exec(code, names)
    elif flags.mode == "m":
        if flags.target == "pip":
            from . import packages

            return packages.pip("pip", flags.rest)
        import runpy

        runpy._run_module_as_main(flags.target)
    elif flags.mode == "script":
        return _script(flags, names, level)
    elif flags.inspect:
        return _interact(flags, names)
    else:
        source = b"" if sys.stdin is None else sys.stdin.buffer.read()
        names["__file__"] = "<stdin>"
        exec(_compile(source, "<stdin>", level), names)
    return 0


def _script(flags, names, level):
    path = flags.target
    try:
        if os.path.isdir(path) or not path.endswith(".py") and _is_archive(path):
            import runpy

            sys.path[0] = os.path.abspath(path)
            runpy._run_module_as_main("__main__", alter_argv=False)
            return 0
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        shown = os.path.join(os.getcwd(), path)
        print(f"{sys.orig_argv[0]}: can't open file {shown!r}: [Errno {error.errno}] {error.strerror}", file=sys.stderr)
        return 2
    if flags.skip_first:
        source = b"\n" + source.partition(b"\n")[2]
    from importlib.machinery import SourceFileLoader, SourcelessFileLoader

    loader = SourcelessFileLoader if path.endswith(".pyc") else SourceFileLoader
    path = os.path.join(os.getcwd(), path)
    names.update(__file__=path, __loader__=loader("__main__", path))
    if path.endswith(".pyc"):
        code = loader("__main__", path).get_code("__main__")
    else:
        code = _compile(source, path, level)
    del source
    exec(code, names)
    return 0


def _compile(source, path, level):
    """Compiles a program given as bytes, with the interpreter's messages for invalid files."""
    if b"\0" in source:
        before = source.partition(b"\0")[0].decode(errors="replace")
        lines = before.split("\n")
        where = path, len(lines), None, lines[-1]
        raise SyntaxError("source code cannot contain null bytes", where)
    try:
        return compile(source, path, "exec", dont_inherit=True, optimize=level)
    except SyntaxError as error:
        if error.msg.startswith("Non-UTF-8 code starting with") and " in file " not in error.msg:
            error.msg = error.msg.replace(" on line ", f" in file {path} on line ", 1)
        raise


def _is_archive(path):
    """Returns whether the path is an archive or a directory in one."""
    import zipimport

    try:
        zipimport.zipimporter(path)
    except zipimport.ZipImportError:
        return False
    return True


def _interact(flags, names):
    import code

    def ask(prompt=""):
        sys.stderr.write(prompt)
        sys.stderr.flush()
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        return line.rstrip("\n")

    class Console(code.InteractiveConsole):
        def runsource(self, source, filename="<input>", symbol="single"):
            # Makes tracebacks show the typed lines.
            try:
                compiled = self.compile(source, filename, symbol)
            except Exception:
                compiled = None
            if compiled is not None:
                preloaded.module("linecache")._register_code(compiled, source + "\n", filename)
            return super().runsource(source, filename, symbol)

    console = Console(names, filename="<stdin>")
    console.raw_input = ask
    banner = ""
    if not flags.quiet and flags.mode == "stdin":
        more = "" if flags.no_site else '\nType "help", "copyright", "credits" or "license" for more information.'
        banner = f"Python {sys.version} on {sys.platform}{more}"
    console.interact(banner=banner, exitmsg="")
    return 0


def _exit_code(error):
    code = error.code
    if code is None:
        return 0
    if isinstance(code, int):
        # Values that do not fit a C integer become -1.
        return code & 0xFF if -(1 << 63) <= code < 1 << 63 else 255
    try:
        sys.stdout.flush()
        print(code, file=sys.stderr)
    except (OSError, AttributeError):
        pass
    return 1


def _is_tidebox_frame(trace):
    return trace.tb_frame.f_code.co_filename.startswith(TIDEBOX_FILES)


def _omit_tidebox_frames(error):
    """Removes the frames of this package from the end of tracebacks; in CPython these are C functions without frames."""
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        last, trace = None, error.__traceback__
        while trace is not None:
            if not _is_tidebox_frame(trace):
                last = trace
            trace = trace.tb_next
        if last is not None:
            last.tb_next = None
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _report(error):
    """Prints an uncaught exception like the interpreter."""
    trace = error.__traceback__
    while trace is not None and _is_tidebox_frame(trace):
        trace = trace.tb_next
    error = error.with_traceback(trace)
    _omit_tidebox_frames(error)
    try:
        sys.stdout.flush()
    except (OSError, ValueError, AttributeError):
        pass
    try:
        sys.excepthook(type(error), error, trace)
    except SystemExit as exit:
        return _exit_code(exit)
    except BaseException as failed:
        print("Error in sys.excepthook:", file=sys.stderr)
        sys.__excepthook__(type(failed), failed, failed.__traceback__)
        print("\nOriginal exception was:", file=sys.stderr)
        sys.__excepthook__(type(error), error, trace)
    return "interrupted" if isinstance(error, KeyboardInterrupt) else 1


def _finish(code, flags=None):
    """Ends the program like the interpreter: runs exit functions and releases all objects."""
    if flags is not None and flags.inspect and flags.mode != "stdin":
        try:
            _interact(flags, sys.modules["__main__"].__dict__)
        except SystemExit as error:
            code = _exit_code(error)
    atexit._run_exitfuncs()
    main = sys.modules.get("__main__")
    if main is not None:
        main.__dict__.clear()
    memory.collect()
    failed = False
    for stream in sys.stdout, sys.stderr:
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError) as error:
            if stream is sys.stdout and isinstance(error, OSError):
                failed = True
                try:
                    shown = type(error).__name__
                    sys.stderr.write(f"Exception ignored while flushing sys.stdout:\n{shown}: {error}\n")
                    sys.stderr.flush()
                except OSError:
                    pass
    if failed:
        code = 120
    if code == "interrupted":
        import signal

        host_call.sig_set(signal.SIGINT, 0)
        host_call.kill(system.getpid(), signal.SIGINT)
        code = 130
    # Skips the destruction of the remaining objects, because the whole memory is dropped afterwards.
    os._exit(code)


def install():
    """Replaces the interpreter's entry points."""
    import _reactor

    _reactor.run = main
    # The interpreter has looked up this function already, so its code is replaced.
    _reactor.turn.__code__ = _turn.__code__


def _turn(source, start):
    from _tidebox.command import turn

    return turn(source, start)
