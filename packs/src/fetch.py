"""Fetches pinned wheels by the settings and connections of this machine's own pip, and goes on with downloads that broke off.

Standard input is a JSON object: `arguments` of `pip download` that say which index and which wheels, the `folder` to put them
into, and the `wheels`. Ends with 0 when all are there and whole, with 4 when that failed, and with 3 when this pip does not offer
what is needed here, or knows of no such file: it is to be asked the ordinary way then, and says why in its own words.
"""

import sys

# Whatever lies in the folder that this is started from is no part of it.
sys.path[:] = [folder for folder in sys.path if folder]

import fcntl
import hashlib
import json
import os
import time

UNKNOWN, FAILED = 3, 4

BLOCK = 1 << 16

# Attempts in a row that bring nothing, and beginnings with nothing.
ATTEMPTS, BEGINNINGS = 5, 3


class Broken(Exception):
    """The download broke off; another attempt may go on with it."""


class Failed(Exception):
    """Another attempt would end in the same way."""


def main():
    wish = json.load(sys.stdin)
    try:
        from pip._internal.cli.cmdoptions import make_target_python
        from pip._internal.commands import create_command

        command = create_command("download")
        context = command.main_context()
    except (ImportError, AttributeError):
        return UNKNOWN
    with context:
        try:
            options, _ = command.parse_args(wish["arguments"])
            session = command.get_default_session(options)
            python = make_target_python(options)
            finder = command._build_package_finder(options=options, session=session, target_python=python)
            addresses = [address(finder, wheel) for wheel in wish["wheels"]]
        except (Exception, SystemExit):
            return UNKNOWN
        if None in addresses:
            return UNKNOWN
        try:
            for wheel, url in zip(wish["wheels"], addresses):
                fetch(session, url, os.path.join(wish["folder"], wheel["file"]), wheel["sha256"])
        except (Failed, OSError) as error:
            sys.stderr.write("ERROR: {}\n".format(error))
            return FAILED
    return 0


def address(finder, wheel):
    for candidate in finder.find_all_candidates(wheel["project"]):
        if candidate.link.filename == wheel["file"]:
            return candidate.link.url_without_fragment
    return None


def fetch(session, url, path, sha256):
    """Makes the file whole, beginning with what an earlier download left."""
    name, part = os.path.basename(path), path + ".part"
    with open(part, "ab") as file:
        # Two programs that fetch the same file would write into it by turns.
        fcntl.flock(file, fcntl.LOCK_EX)
        if os.path.exists(path) and digest(path) == sha256:
            os.unlink(part)
            return
        attempts, beginnings = 0, 0
        while True:
            have = os.fstat(file.fileno()).st_size
            try:
                load(session, url, file, have, name)
            except Broken as error:
                grown = os.fstat(file.fileno()).st_size
                attempts = 0 if grown > have else attempts + 1
                if attempts == ATTEMPTS:
                    raise Failed("{} cannot be fetched: {}; {} bytes of it are kept".format(name, error, grown))
                time.sleep(attempts / 4)
                continue
            if digest(part) == sha256:
                os.replace(part, path)
                return
            # What was kept may be of another file; what came in one piece is what the index has.
            file.truncate(0)
            beginnings += 1
            if have == 0 or beginnings == BEGINNINGS:
                os.unlink(part)
                raise Failed("{} is not the file that was pinned (SHA-256 {}); what the index delivers cannot be trusted".format(name, sha256))


def load(session, url, file, have, name):
    """Appends what is missing, or all when the server does not deliver parts."""
    headers = {"Accept-Encoding": "identity"}
    if have:
        headers["Range"] = "bytes={}-".format(have)
    try:
        response = session.get(url, headers=headers, stream=True)
    except Exception as error:
        raise Broken(error)
    try:
        status = response.status_code
        if status == 416 and have:
            return  # All of it is there, and only its hash was not looked at.
        if status >= 500:
            raise Broken("the server answers {}".format(status))
        goes_on = status == 206 and response.headers.get("Content-Range", "").startswith("bytes {}-".format(have))
        if not goes_on and status != 200:
            if have and status < 400:
                file.truncate(0)
                raise Broken("the server answers {} to a request for a part".format(status))
            raise Failed("{} cannot be fetched: the server answers {}".format(name, status))
        if not goes_on:
            file.truncate(0)
            have = 0
        length = str(response.headers.get("Content-Length", ""))
        copy(response.raw, file, have, int(length) if length.isdigit() else None, name)
    finally:
        response.close()


def copy(source, file, have, length, name):
    whole = None if length is None else have + length
    announce(name, have, whole)
    got, shown = 0, time.monotonic()
    while True:
        try:
            block = source.read(BLOCK)
        except Exception as error:
            raise Broken(error)
        if not block:
            break
        file.write(block)
        # A kill finds it in the file, not in this program.
        file.flush()
        got += len(block)
        if whole and sys.stderr.isatty() and time.monotonic() - shown > 0.2:
            shown = time.monotonic()
            sys.stderr.write("\r{:3} % of {}".format((have + got) * 100 // whole, name))
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
    if length is not None and got < length:
        raise Broken("the connection ended {} bytes too early".format(length - got))


def announce(name, have, whole):
    size = "" if whole is None else " of {:.1f} MB".format(whole / 1e6)
    if have:
        sys.stderr.write("Going on with {} after {:.1f}{}\n".format(name, have / 1e6, size or " MB"))
    else:
        sys.stderr.write("Downloading {}{}\n".format(name, size))
    sys.stderr.flush()


def digest(path):
    sha256 = hashlib.sha256()
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            sha256.update(block)
    return sha256.hexdigest()


sys.exit(main())
