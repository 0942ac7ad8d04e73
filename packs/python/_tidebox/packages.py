"""`pip`, as far as packages can be had: what the pack has is there, and others come through the host when it allows that."""

import os
import sys

from . import system

# What the host answers to, when it lets packages be installed.
FETCH = "/usr/local/bin/tidebox-packages"

REFUSED = """\
ERROR: {name} install: {missing}: not here, and this sandbox may not fetch packages.
Outside the sandbox they are allowed by `tidebox exec --pip ...` (in Rust: PipExt::pip), or are added for all
sandboxes by `tidebox pack add python --with {missing_words}`. numpy, pandas, scipy, matplotlib, pytest and others are there
already; `pip list` shows them.
"""


class Wrong(Exception):
    """What was asked for cannot be understood or had."""


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
            raise Wrong(f'unknown command "{command}"')
    except Wrong as error:
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
        raise Wrong("Please provide a package name or names.")
    for name in names:
        if _normal(name) not in installed:
            print(f"WARNING: Package(s) not found: {name}", file=sys.stderr)
            code = 1
            continue
        about = installed[_normal(name)].metadata
        for field in "Name", "Version", "Summary", "Home-page", "License":
            print(f"{field}: {about.get(field) or ''}")
    return code


class _Wish:
    """What `pip install` was asked for."""

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
                raise Wrong(f"no such option here: {word}; there are -r, -t, -U, -q and --user")
            else:
                self._add(word)
        if not self.requirements:
            raise Wrong('You must give at least one requirement to install (see "pip help install")')

    def _file(self, path):
        try:
            with open(path, encoding="utf-8") as lines:
                text = lines.read()
        except OSError as error:
            raise Wrong(f"Could not open requirements file: {error}") from None
        for line in text.replace("\\\n", " ").splitlines():
            line = line.partition(" #")[0].strip()
            if line.startswith("#") or not line:
                continue
            if line.startswith(("-r ", "--requirement ")):
                self._file(os.path.join(os.path.dirname(path), line.split(None, 1)[1]))
            elif line.startswith("-"):
                raise Wrong(f"{path}: {line}: this cannot be asked for here")
            else:
                self._add(line.partition(" --hash")[0].strip())

    def _add(self, text):
        from packaging.requirements import InvalidRequirement, Requirement

        if "/" in text or text.endswith(".whl") or text == ".":
            raise Wrong(f"{text}: only packages of the index can be installed; set PYTHONPATH to use a folder")
        try:
            wanted = Requirement(text)
        except InvalidRequirement as error:
            raise Wrong(f"Invalid requirement: {text!r}: {error}") from None
        if wanted.url:
            raise Wrong(f"{text}: only packages of the index can be installed")
        if wanted.marker is None or wanted.marker.evaluate():
            self.requirements.append(wanted)


def _install(name, words):
    wish, installed, missing = _Wish(words), _installed(), []
    for wanted in wish.requirements:
        each = installed.get(_normal(wanted.name))
        if each is None or wish.target or not wanted.specifier.contains(each.version, prereleases=True):
            missing.append(wanted)
        elif not wish.quiet:
            place = os.path.dirname(str(each.locate_file("x")))
            print(f"Requirement already satisfied: {wanted} in {place} ({each.version})")
    if not missing:
        return 0
    if not os.access(FETCH, os.X_OK):
        shown = ", ".join(map(str, missing))
        sys.stderr.write(REFUSED.format(name=name, missing=shown, missing_words=",".join(str(each) for each in missing)))
        return 1
    return _fetch(wish, [str(each) for each in missing], installed)


def _fetch(wish, missing, installed):
    """Has the host fetch the wheels into a directory of ours, and unpacks those that are not here."""
    import shutil
    import tempfile

    folder = tempfile.mkdtemp(prefix="pip-")
    try:
        arguments = [os.fsencode(word) for word in ("tidebox-packages", folder, *missing)]
        status = system.waitpid(system.start(arguments, os.fsencode(FETCH)), 0)[1]
        if status:
            return system.WEXITSTATUS(status) or 1
        target, fresh = wish.target or _target(), []
        for file in sorted(os.listdir(folder)):
            name, version = file.split("-")[:2]
            # What the pack has compiled in cannot come anew.
            there = installed.get(_normal(name))
            if there is None or wish.target or there.version != version:
                _unpack(os.path.join(folder, file), target)
                fresh.append(f"{name}-{version}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if not wish.quiet:
        print(f"Successfully installed {' '.join(fresh)}" if fresh else "Everything was there already")
    return 0


def _target():
    """Where a program of this interpreter looks: in its virtual environment, else among the user's own packages."""
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
    """The programs that the package names, as scripts beside the interpreter."""
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
