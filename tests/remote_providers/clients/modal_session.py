"""A session of Modal's official Python client, against an emulator or the service."""

import modal
from modal.exception import (
    AlreadyExistsError,
    NotFoundError,
    SandboxFilesystemDirectoryNotEmptyError,
    SandboxFilesystemIsADirectoryError,
    SandboxFilesystemNotADirectoryError,
    SandboxFilesystemNotFoundError,
)

from session import GROWS, WAITS, nothing_grows, proved, raises, until

app = modal.App.lookup("agents", create_if_missing=True)
raises(NotFoundError, lambda: modal.App.lookup("none"))
image = modal.Image.from_registry("python:3.12-slim")
sandbox = modal.Sandbox.create(
    app=app, image=image, timeout=120, workdir="/workspace", tags={"thread_id": "t 1"}, env={"A": "b"}, name="first"
)
raises(AlreadyExistsError, lambda: modal.Sandbox.create(app=app, image=image, name="first"))

# Commands: output, both streams, variables, directory, exit codes, input, time.
process = sandbox.exec("bash", "-c", "echo out; echo err >&2; echo $A $X; pwd", env={"X": "1"}, workdir="/tmp")
assert (process.wait(), process.stdout.read(), process.stderr.read()) == (0, "out\nb 1\n/tmp\n", "err\n")
proved("make")
proved("streams")
failed = sandbox.exec("bash", "-c", "echo so far; exit 3")
assert (failed.stdout.read(), failed.wait()) == ("so far\n", 3)
proved("run")
assert sandbox.exec("pwd").stdout.read() == "/workspace\n"
reader = sandbox.exec("sort", "-r")
reader.stdin.write("a\nb\n")
reader.stdin.write("c\n")
reader.stdin.write_eof()
reader.stdin.drain()
assert (reader.stdout.read(), reader.wait()) == ("c\nb\na\n", 0)
late = sandbox.exec("bash", "-c", GROWS, timeout=3)
assert late.stdout.read() == "begun\n"
assert late.wait() == -1, "the client's word for a timeout"
proved("limit")
nothing_grows(lambda line: sandbox.exec("bash", "-c", line).stdout.read())
proved("killed")
pieces = []
for piece in sandbox.exec("bash", "-c", WAITS).stdout:
    pieces.append(piece)
    if "first" in piece:
        sandbox.filesystem.write_text("", "/tmp/seen")
assert "".join(pieces) == "first\nsecond\n", pieces
proved("live")
poller = sandbox.exec("sleep", "1")
assert poller.poll() is None
assert poller.wait() == 0 and poller.poll() == 0
nobody_waits = sandbox.exec("touch", "/workspace/touched")
many = sandbox.exec("seq", "200000").stdout.read()
assert many == "".join(f"{n}\n" for n in range(1, 200001))

# Files: text, bytes, lists, what is refused.
files = sandbox.filesystem
files.write_text("héllo\n", "/workspace/a/b.txt")
assert files.read_text("/workspace/a/b.txt") == "héllo\n"
every_byte = bytes(range(256)) * 8192
files.write_bytes(every_byte, "/workspace/bytes")
assert files.read_bytes("/workspace/bytes") == every_byte
proved("upload")
proved("download")
for n in range(5):
    files.write_text(str(n), f"/workspace/many/{n}")
assert sorted(entry.name for entry in files.list_files("/workspace/many")) == ["0", "1", "2", "3", "4"]
assert sandbox.exec("bash", "-c", "cat /workspace/many/*").stdout.read() == "01234"
assert files.stat("/workspace/many/3").size == 1 and files.stat("/workspace/many").is_dir()
files.make_directory("/workspace/new/deep")
raises(SandboxFilesystemDirectoryNotEmptyError, lambda: files.remove("/workspace/many"))
files.remove("/workspace/many", recursive=True)
raises(SandboxFilesystemNotFoundError, lambda: files.list_files("/workspace/many"))
raises(SandboxFilesystemNotFoundError, lambda: files.read_bytes("/workspace/none"))
raises(SandboxFilesystemIsADirectoryError, lambda: files.read_bytes("/workspace/new"))
raises(SandboxFilesystemIsADirectoryError, lambda: files.write_text("x", "/workspace/new"))
raises(SandboxFilesystemNotADirectoryError, lambda: files.write_text("x", "/workspace/bytes/below"))
# It also runs without a waiting client, at an unspecified time.
until(lambda: sandbox.exec("test", "-e", "/workspace/touched").wait() == 0)
assert files.stat("/workspace/touched").is_file()

# Lists, names and lives.
other = modal.Sandbox.create(app=app, image=image, tags={"thread_id": "t 2"}, block_network=True, cpu=1.5, memory=256)
listed = [found.object_id for found in modal.Sandbox.list(app_id=app.app_id)]
assert listed == [other.object_id, sandbox.object_id], listed
proved("list")
assert [found.object_id for found in modal.Sandbox.list(app_id=app.app_id, tags={"thread_id": "t 1"})] == [sandbox.object_id]
assert list(modal.Sandbox.list(app_id=app.app_id, tags={"thread_id": "t 3"})) == []
proved("labels")
other.set_tags({"thread_id": "t 3"})
assert [found.object_id for found in modal.Sandbox.list(app_id=app.app_id, tags={"thread_id": "t 3"})] == [other.object_id]
again = modal.Sandbox.from_id(sandbox.object_id)
assert again.exec("cat", "/workspace/a/b.txt").stdout.read() == "héllo\n"
proved("find")
assert modal.Sandbox.from_name("agents", "first").object_id == sandbox.object_id
raises(NotFoundError, lambda: modal.Sandbox.from_name("agents", "second"))
assert sandbox.poll() is None
sandbox.terminate()
assert sandbox.poll() is not None
raises(Exception, lambda: modal.Sandbox.from_id(sandbox.object_id).exec("true"))
raises(NotFoundError, lambda: modal.Sandbox.from_id("sb-" + "x" * 24 + "V"))
assert [found.object_id for found in modal.Sandbox.list(app_id=app.app_id)] == [other.object_id]
proved("delete")
short = modal.Sandbox.create(app=app, image=image, timeout=3)
until(lambda: short.poll() is not None)
assert [found.object_id for found in modal.Sandbox.list(app_id=app.app_id)] == [other.object_id]
proved("over")
other.terminate()
print("the session is done")
