"""Packs a directory into a .tgz and a wheel. Equal input gives equal bytes.

usage: archive.py TREE TGZ WHEEL NAME VERSION LICENCE
"""

import base64
import gzip
import hashlib
import io
import pathlib
import sys
import tarfile
import zipfile

# The earliest time that a zip archive can have.
ZIP_TIME = (1980, 1, 1, 0, 0, 0)


def files(tree):
    """Returns (path, content, executable) of each file, in the order of their paths."""
    found = (path for path in tree.rglob("*") if path.is_file())
    listed = sorted((path.relative_to(tree).as_posix(), path) for path in found)
    return [(name, path.read_bytes(), bool(path.stat().st_mode & 0o100)) for name, path in listed]


def write_tgz(entries, to):
    """Writes a gzipped tar archive without times, names of users and names of files in the header."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content, executable in entries:
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(content), 0o755 if executable else 0o644
            archive.addfile(info, io.BytesIO(content))
    with open(to, "wb") as file, gzip.GzipFile("", "wb", 9, file, 0) as packed:
        packed.write(plain.getvalue())


def write_wheel(entries, to, name, version, licence):
    """Writes a wheel whose package contains only data."""
    info = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nLicense: {licence}\n"
    wheel = "Wheel-Version: 1.0\nGenerator: xtask\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    members = [(f"{name}/{path}", content) for path, content, _ in entries]
    members += [(f"{info}/METADATA", metadata.encode()), (f"{info}/WHEEL", wheel.encode())]
    record = "".join(
        f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode()},{len(content)}\n"
        for path, content in members
    )
    members.append((f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode()))
    with zipfile.ZipFile(to, "w") as archive:
        for path, content in members:
            entry = zipfile.ZipInfo(path, ZIP_TIME)
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED, 9)


def main():
    tree, tgz, wheel, name, version, licence = sys.argv[1:]
    entries = files(pathlib.Path(tree))
    write_tgz(entries, tgz)
    write_wheel(entries, wheel, name, version, licence)


main()
