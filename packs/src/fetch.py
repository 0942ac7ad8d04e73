"""Downloads pinned wheels with the settings and connections of the host's pip, and resumes partial downloads.

Standard input is a JSON object: `arguments` of `pip download` that select the index and the wheels, the destination `dir`,
and the `wheels`. Standard output gets the progress, one JSON object per line. Exits with 0 if all are complete, with 4 if a
download failed, and with 3 if this pip does not support this or does not find a file; the caller then runs `pip download`,
which prints the reason.
"""

import sys

# Modules in the current directory must not be imported.
sys.path[:] = [entry for entry in sys.path if entry]

import fcntl
import hashlib
import json
import os
import time

UNKNOWN, FAILED = 3, 4

BLOCK = 1 << 16

# Maximum number of consecutive attempts without progress, and of downloads from the start.
ATTEMPTS, RESTARTS = 5, 3


class Interrupted(Exception):
    """The download was interrupted; another attempt may resume it."""


class Failed(Exception):
    """Another attempt would fail, too."""


def main():
    request = json.load(sys.stdin)
    try:
        from pip._internal.cli.cmdoptions import make_target_python
        from pip._internal.commands import create_command

        command = create_command("download")
        context = command.main_context()
    except (ImportError, AttributeError):
        return UNKNOWN
    with context:
        try:
            options, _ = command.parse_args(request["arguments"])
            session = command.get_default_session(options)
            python = make_target_python(options)
            finder = command._build_package_finder(options=options, session=session, target_python=python)
            addresses = [address(finder, wheel) for wheel in request["wheels"]]
        except (Exception, SystemExit):
            return UNKNOWN
        if None in addresses:
            return UNKNOWN
        try:
            for wheel, url in zip(request["wheels"], addresses):
                fetch(session, url, os.path.join(request["dir"], wheel["file"]), wheel["sha256"])
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
    """Downloads the file, resuming a partial download."""
    name, part = os.path.basename(path), path + ".part"
    with open(part, "ab") as file:
        # Prevents two processes from writing to the same file.
        fcntl.flock(file, fcntl.LOCK_EX)
        if os.path.exists(path) and digest(path) == sha256:
            os.unlink(part)
            return
        attempts, restarts = 0, 0
        while True:
            have = os.fstat(file.fileno()).st_size
            try:
                load(session, url, file, have, name)
            except Interrupted as error:
                grown = os.fstat(file.fileno()).st_size
                attempts = 0 if grown > have else attempts + 1
                if attempts == ATTEMPTS:
                    raise Failed("cannot download {}: {}; {} bytes are kept".format(name, error, grown))
                time.sleep(attempts / 4)
                continue
            if digest(part) == sha256:
                os.replace(part, path)
                return
            # The partial file may be of another file; a download from the start is the file of the index.
            file.truncate(0)
            restarts += 1
            if have == 0 or restarts == RESTARTS:
                os.unlink(part)
                raise Failed("{} does not have the pinned SHA-256 {}; the file from the index cannot be trusted".format(name, sha256))


def load(session, url, file, have, name):
    """Appends the missing part, or downloads the whole file if the server does not support ranges."""
    headers = {"Accept-Encoding": "identity"}
    if have:
        headers["Range"] = "bytes={}-".format(have)
    try:
        response = session.get(url, headers=headers, stream=True)
    except Exception as error:
        raise Interrupted(error)
    try:
        status = response.status_code
        if status == 416 and have:
            return  # The file is complete, and only its hash is still unchecked.
        if status >= 500:
            raise Interrupted("the server responded with {}".format(status))
        is_partial = status == 206 and response.headers.get("Content-Range", "").startswith("bytes {}-".format(have))
        if not is_partial and status != 200:
            if have and status < 400:
                file.truncate(0)
                raise Interrupted("the server responded with {} to a range request".format(status))
            raise Failed("{} cannot be fetched: the server responded with {}".format(name, status))
        if not is_partial:
            file.truncate(0)
            have = 0
        length = str(response.headers.get("Content-Length", ""))
        copy(response.raw, file, have, int(length) if length.isdigit() else None, name)
    finally:
        response.close()


def copy(source, file, have, length, name):
    total = None if length is None else have + length
    report(name, have, total)
    got, shown = 0, time.monotonic()
    while True:
        try:
            block = source.read(BLOCK)
        except Exception as error:
            raise Interrupted(error)
        if not block:
            break
        file.write(block)
        # A killed process must leave the received bytes in the file.
        file.flush()
        got += len(block)
        if time.monotonic() - shown > 0.2:
            shown = time.monotonic()
            report(name, have + got, total)
    report(name, have + got, total)
    if length is not None and got < length:
        raise Interrupted("the connection closed {} bytes too early".format(length - got))


def report(name, done, total):
    """Writes how much of a file is stored, for the caller."""
    print(json.dumps({"file": name, "done": done, "total": total}), flush=True)


def digest(path):
    sha256 = hashlib.sha256()
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            sha256.update(block)
    return sha256.hexdigest()


sys.exit(main())
