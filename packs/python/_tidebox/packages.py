"""A subset of `pip`: lists the packages of the pack, and installs others through the host if it allows that."""

import os
import sys

from . import system

# Host tool that downloads packages, if the host allows it.
FETCH = "/usr/local/bin/tidebox-packages"

NOT_ALLOWED = """\
ERROR: {name} install: {missing}: not installed, and this sandbox may not download packages.
Outside the sandbox they are allowed by `tidebox exec --pip ...` (in Rust: PipExt::pip), or are added for all
sandboxes by `tidebox pack add python --with {missing_words}`. `pip list` shows the preinstalled packages.
"""
ONLY_IN_THE_LARGE_PACK = """\
This sandbox has the pack python-slim. numpy, pandas, scipy, scikit-learn, matplotlib and others are in the pack python:
`tidebox pack add python`.
"""


class PipError(Exception):
    """The arguments are invalid or the packages cannot be installed."""


def pip(name, words):
    command, rest = (words[0], words[1:]) if words else ("help", [])
    try:
        if command in ("-V", "--version"):
            print(f"pip 25.0 from {__file__} (python 3.15)")
        elif command in ("list", "freeze"):
            _list(command)
        elif command == "show":
            return _show([word for word in rest if not word.startswith("-")])
        elif command == "install":
            return _install(name, rest)
        elif command == "check":
            print("No broken requirements found.")
        elif command in ("help", "-h", "--help"):
            print(f"Usage: {name} install NAME... | list | freeze | show NAME... | --version")
        else:
            raise PipError(f'unknown command "{command}"')
    except PipError as error:
        print(f"ERROR: {error}", file=sys.stderr)
        return 1
    return 0


def _installed():
    from importlib.metadata import distributions

    found = {}
    for each in distributions():
        if each.name:
            found.setdefault(_normal(each.name), each)
    return found


def _normal(name):
    import re

    return re.sub(r"[-_.]+", "-", name).lower()


def _list(command):
    found = sorted((name, each.name, each.version) for name, each in _installed().items())
    if command == "freeze":
        for _, shown, version in found:
            print(f"{shown}=={version}")
        return
    width = max(len(shown) for _, shown, _ in found)
    print(f"{'Package':{width}} Version")
    print("-" * width, "-" * max(len(version) for *_, version in found))
    for _, shown, version in found:
        print(f"{shown:{width}} {version}")


def _show(names):
    installed, code = _installed(), 0
    if not names:
        raise PipError("Please provide a package name or names.")
    for name in names:
        if _normal(name) not in installed:
            print(f"WARNING: Package(s) not found: {name}", file=sys.stderr)
            code = 1
            continue
        about = installed[_normal(name)].metadata
        for field in "Name", "Version", "Summary", "Home-page", "License":
            print(f"{field}: {about.get(field) or ''}")
    return code


class _InstallArgs:
    """Parsed arguments of `pip install`."""

    def __init__(self, words):
        self.requirements, self.quiet, self.target, self.upgrade = [], False, None, False
        words = iter(words)
        for word in words:
            if word in ("-q", "-qq", "--quiet"):
                self.quiet = True
            elif word in ("-r", "--requirement"):
                self._file(next(words, ""))
            elif word.startswith("--requirement=") or word.startswith("-r") and word != "-r":
                self._file(word.partition("=")[2] if "=" in word else word[2:])
            elif word in ("-t", "--target"):
                self.target = next(words, None)
            elif word in ("-U", "--upgrade"):
                self.upgrade = True
            elif word in ("--user", "--no-cache-dir", "--disable-pip-version-check", "--break-system-packages", "-v",
                          "--no-input", "--prefer-binary", "--root-user-action=ignore", "--progress-bar=off"):
                pass
            elif word.startswith("-"):
                raise PipError(f"unsupported option: {word}; supported are -r, -t, -U, -q and --user")
            else:
                self._add(word)
        if not self.requirements:
            raise PipError('You must give at least one requirement to install (see "pip help install")')

    def _file(self, path):
        try:
            with open(path, encoding="utf-8") as lines:
                text = lines.read()
        except OSError as error:
            raise PipError(f"Could not open requirements file: {error}") from None
        for line in text.replace("\\\n", " ").splitlines():
            line = line.partition(" #")[0].strip()
            if line.startswith("#") or not line:
                continue
            if line.startswith(("-r ", "--requirement ")):
                self._file(os.path.join(os.path.dirname(path), line.split(None, 1)[1]))
            elif line.startswith("-"):
                raise PipError(f"{path}: {line}: unsupported option in a requirements file")
            else:
                self._add(line.partition(" --hash")[0].strip())

    def _add(self, text):
        from packaging.requirements import InvalidRequirement, Requirement

        if "/" in text or text.endswith(".whl") or text == ".":
            raise PipError(f"{text}: only packages of the index can be installed; set PYTHONPATH to use a directory")
        try:
            wanted = Requirement(text)
        except InvalidRequirement as error:
            raise PipError(f"Invalid requirement: {text!r}: {error}") from None
        if wanted.url:
            raise PipError(f"{text}: only packages of the index can be installed")
        if wanted.marker is None or wanted.marker.evaluate():
            self.requirements.append(wanted)


def _install(name, words):
    args, installed, missing = _InstallArgs(words), _installed(), []
    for wanted in args.requirements:
        each = installed.get(_normal(wanted.name))
        if each is None or args.target or not wanted.specifier.contains(each.version, prereleases=True):
            missing.append(wanted)
        elif not args.quiet:
            place = os.path.dirname(str(each.locate_file("x")))
            print(f"Requirement already satisfied: {wanted} in {place} ({each.version})")
    if not missing:
        return 0
    if not os.access(FETCH, os.X_OK):
        shown = ", ".join(map(str, missing))
        sys.stderr.write(NOT_ALLOWED.format(name=name, missing=shown, missing_words=",".join(str(each) for each in missing)))
        if "numpy" not in installed:
            sys.stderr.write(ONLY_IN_THE_LARGE_PACK)
        return 1
    return _fetch(args, [str(each) for each in missing], installed)


def _fetch(args, missing, installed):
    """Requests the wheels from the host into a temporary directory, and unpacks those that are not installed."""
    import shutil
    import tempfile

    directory = tempfile.mkdtemp(prefix="pip-")
    try:
        arguments = [os.fsencode(word) for word in ("tidebox-packages", directory, *missing)]
        status = system.waitpid(system.start(arguments, os.fsencode(FETCH)), 0)[1]
        if status:
            return system.WEXITSTATUS(status) or 1
        target, fresh = args.target or _target(), []
        for file in sorted(os.listdir(directory)):
            name, version = file.split("-")[:2]
            # Packages with compiled parts in the pack cannot be replaced.
            existing = installed.get(_normal(name))
            if existing is None or args.target or existing.version != version:
                _unpack(os.path.join(directory, file), target)
                fresh.append(f"{name}-{version}")
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    if not args.quiet:
        print(f"Successfully installed {' '.join(fresh)}" if fresh else "All requirements already satisfied")
    return 0


def _target():
    """Returns the install directory: that of the virtual environment, otherwise the user's site-packages."""
    if sys.prefix != sys.base_prefix:
        return sys.prefix + "/lib/python3.15/site-packages"
    return os.path.expanduser("~/.local/lib/python3.15/site-packages")


def _unpack(wheel, target):
    import zipfile

    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            first, _, rest = entry.filename.partition("/")
            if first.endswith(".data"):
                kind, _, rest = rest.partition("/")
                if kind not in ("purelib", "platlib") or not rest:
                    continue
                entry.filename = rest
            archive.extract(entry, target)
    _make_commands(wheel, target)


def _make_commands(wheel, target):
    """Creates scripts for the package's entry points next to the interpreter."""
    import configparser
    import zipfile

    place = os.path.join(sys.prefix, "bin") if sys.prefix != sys.base_prefix else os.path.expanduser("~/.local/bin")
    with zipfile.ZipFile(wheel) as archive:
        listed = [name for name in archive.namelist() if name.endswith(".dist-info/entry_points.txt")]
        if not listed:
            return
        points = configparser.ConfigParser(delimiters=("=",), interpolation=None)
        points.optionxform = str
        points.read_string(archive.read(listed[0]).decode())
    if not points.has_section("console_scripts"):
        return
    os.makedirs(place, exist_ok=True)
    for name, point in points.items("console_scripts"):
        module, _, function = point.partition("[")[0].strip().partition(":")
        path = os.path.join(place, os.path.basename(name))
        with open(path, "w", encoding="utf-8") as script:
            script.write(f"#!{sys.executable}\nimport sys\nfrom {module} import {function.split('.')[0]}\n\n"
                         f"sys.exit({function}())\n")
        os.chmod(path, 0o755)
