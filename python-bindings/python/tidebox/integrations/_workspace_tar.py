"""Tar archives of one directory, with member names relative to it."""

from __future__ import annotations

import io
import posixpath
import tarfile
from collections.abc import Callable


def relative_tar(archive: bytes, root: str, is_skipped: Callable[[str], bool]) -> bytes:
    """Returns the part of an archive of `/` that is below a directory, with names relative to the directory.

    Readers reject hard links and absolute symbolic links in archives that they do not trust. So a hard link becomes a
    file, and a symbolic link to an absolute path below the directory a relative one. Pipes and devices are left out.

    Args:
        archive: A tar archive whose names are relative to `/`, such as `Snapshot.to_tar()`.
        root: Absolute path of the directory.
        is_skipped: Returns whether to leave out a member, by its relative name.
    """
    prefix = posixpath.normpath(root).strip("/")
    prefix = f"{prefix}/" if prefix else ""
    output = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as source,
        tarfile.open(fileobj=output, mode="w", format=tarfile.PAX_FORMAT) as target,
    ):
        for member in source:
            name = member.name.removeprefix(prefix)
            if not member.name.startswith(prefix) or not name or is_skipped(name):
                continue
            if member.isreg() or member.islnk():
                _add_file(source, target, member, name)
            elif member.isdir() or member.issym():
                link = _relative_link(member.linkname, name, prefix) if member.issym() else ""
                target.addfile(_header(member, name, member.type, 0, link))
    return output.getvalue()


def _add_file(source: tarfile.TarFile, target: tarfile.TarFile, member: tarfile.TarInfo, name: str) -> None:
    content = source.extractfile(member)
    if content is None:
        raise tarfile.ReadError(f"cannot read {member.name}: its content is missing in the archive")
    with content:
        data = content.read()
    target.addfile(_header(member, name, tarfile.REGTYPE, len(data), ""), io.BytesIO(data))


def _header(member: tarfile.TarInfo, name: str, kind: bytes, size: int, link: str) -> tarfile.TarInfo:
    """Returns a new header, because the fields of the old one are repeated in its PAX headers."""
    header = tarfile.TarInfo(name)
    header.type, header.size, header.linkname = kind, size, link
    header.mode, header.mtime = member.mode, member.mtime
    return header


def _relative_link(link: str, name: str, prefix: str) -> str:
    normal = posixpath.normpath(link)
    if not link.startswith("/") or not prefix or not normal.startswith(f"/{prefix}"):
        return link
    return posixpath.relpath(normal.removeprefix(f"/{prefix}"), posixpath.dirname(name) or ".")
